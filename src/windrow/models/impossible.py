"""What cannot work in a model's declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from windrow.errors import did_you_mean
from windrow.models.checks import Check


class Declaration(Protocol):
    """What a model says of itself."""

    @property
    def kind(self) -> str: ...
    @property
    def key(self) -> tuple[str, ...]: ...
    @property
    def date(self) -> str | None: ...
    @property
    def columns(self) -> Any: ...
    @property
    def replaces(self) -> str | None: ...
    @property
    def storage(self) -> Any: ...
    @property
    def checks(self) -> Sequence[object]: ...
    @property
    def per(self) -> Any: ...


def impossible(member: Declaration, kinds: Sequence[str]) -> str | None:
    """Why the model cannot work as it is declared, and what to write instead; None: it can."""
    if member.kind not in kinds:
        expected = f"is of kind '{member.kind}', expected one of {', '.join(kinds)}."
        return expected + did_you_mean(str(member.kind), kinds)
    if member.kind == "incremental" and not member.key:
        return (
            "is incremental and needs a key: @model(key=...). "
            "A table that is made anew each run is @model(kind='rebuilt')."
        )
    return _impossible_upsert(member) or _impossible_columns(member) or _impossible_parts(member)


def _impossible_upsert(member: Declaration) -> str | None:
    storage = member.storage
    asked = {
        "replaces": member.replaces is not None,
        "keeps": storage.keeps != "new",
        "amend": storage.amend is not None,
    }
    given = [name for name, is_given in asked.items() if is_given]
    if member.kind != "incremental" and given:
        return (
            f"is of kind '{member.kind}', so no stored row of it outlives a run. Leave out "
            f"{' and '.join(given)}, or make it incremental with a key."
        )
    if member.kind == "this_run" and storage.is_state:
        return "is of kind 'this_run' and has no table. Leave out is_state."
    if asked["replaces"] and asked["keeps"]:
        return (
            f"replaces all rows of a {member.replaces}, so that no stored row is left to be the "
            f"{storage.keeps}. Leave out replaces or keeps."
        )
    if given and member.date is None and given != ["replaces"]:
        return f"needs a date column for {given[-1]}: @model(date=...)."
    return None


def _impossible_columns(member: Declaration) -> str | None:
    """Key, date or its day, and replaced column must be among columns that are known already."""
    if member.columns is None or callable(member.columns):
        return None
    known = {name.lower() for name in member.columns}
    has_day = f"{member.date}_date".lower() in known
    wanted = {
        "key": member.key,
        "date": () if has_day else (member.date,),
        "replaces": (member.replaces,),
    }
    for parameter, names in wanted.items():
        for name in names:
            if name is not None and name.lower() not in known:
                return (
                    f"has no column '{name}', which is its {parameter}. Add it to columns."
                    + did_you_mean(name, member.columns)
                )
    return None


def _impossible_parts(member: Declaration) -> str | None:
    for name in member.per.sql:
        if name not in member.key:
            return (
                f"says what '{name}' is made of in per, but its key is "
                f"({', '.join(member.key)}).{did_you_mean(name, member.key)}"
            )
    for check in member.checks:
        if not isinstance(check, Check):
            return (
                f"cannot be checked: {check!r} is not a check. Write one like "
                "windrow.NotNull('page_url')."
            )
    amend = member.storage.amend
    if amend is not None and amend.kind != "this_run":
        return f"is amended by '{amend.name}', which must be @model(kind='this_run')."
    return None
