"""The command line: parse, call, print."""

from windrow.cli.app import main

__all__ = ["main"]
