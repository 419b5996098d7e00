"""Plans, runs and states of a project, told to people (text) and to programs (documents)."""
