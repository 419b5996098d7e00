"""The packages: one folder each, one module per table, one explicit list of models per package."""
