"""Column expressions that several models share. Each takes columns and returns a column."""
