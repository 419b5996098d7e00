"""Chance that repeats: every draw is a hash of what it is about, never of where a row lies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

# The upper 53 bits of a hash are as many as a double holds exactly.
_UNUSED_BITS = 11
_ONE_IN = 2.0**-53


def key(*parts: Column | str | int) -> Column:
    """A 64-bit key made of its parts: columns count by their value, all else as it is.

    An int and a bigint of equal value give different keys, so a part must keep its type.
    """
    return F.xxhash64(*[part if isinstance(part, Column) else F.lit(part) for part in parts])


def draw(about: str, *keys: Column | int) -> Column:
    """A uniform number in [0, 1) for a question `about` whatever the keys identify."""
    bits = F.shiftrightunsigned(key(about, *keys), _UNUSED_BITS)
    return bits * F.lit(_ONE_IN)


def between(low: int, high: int, about: str, *keys: Column) -> Column:
    """A whole number from low to high, both included."""
    return F.floor(draw(about, *keys) * (high - low + 1)).cast("int") + low


def weighted_index(weights: Sequence[float], drawn: Column) -> Column:
    """The 0-based index of an option, each as likely as its weight; `drawn` lies in [0, 1)."""
    limit, total = 0.0, sum(weights)
    index = F.when(F.lit(False), 0)
    for number, weight in enumerate(weights[:-1]):
        limit += weight / total
        index = index.when(drawn < limit, number)
    return index.otherwise(len(weights) - 1)


def one_of(options: Sequence[str], about: str, *keys: Column) -> Column:
    """One of the options, all equally likely."""
    return nth(options, between(0, len(options) - 1, about, *keys))


def nth(options: Iterable[object], index: Column, type: str = "string") -> Column:
    """The option at a 0-based index; all options have the one Spark type, or are None."""
    # One literal that Spark folds: a literal for each option would cost a call to the JVM each.
    return F.get(F.from_json(F.lit(json.dumps(list(options))), f"array<{type}>"), index)


def uuid(*parts: Column | str) -> Column:
    """A string in the form of a random UUID, the same for the same parts."""
    digits = F.concat(*[F.lpad(F.lower(F.hex(key(half, *parts))), 16, "0") for half in (1, 2)])
    return F.concat(
        digits.substr(1, 8),
        F.lit("-"),
        digits.substr(9, 4),
        F.lit("-4"),
        digits.substr(14, 3),
        F.lit("-a"),
        digits.substr(18, 3),
        F.lit("-"),
        digits.substr(21, 12),
    )
