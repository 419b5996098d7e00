"""What is said where a neighbour's library is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from windrow.errors import UsageError


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Inside, a library that is not there is an error that names the extra which brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"This needs {error.name}, which is not installed: pip install 'windrow[{extra}]'."
        ) from error
