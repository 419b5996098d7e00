"""The events table: its columns, and reading it in any shape."""
