"""Tests of settings write a windrow.yml."""

from project_files import loaded, problems, web

__all__ = ["loaded", "problems", "web"]
