"""How the rows of a project's own incremental models are kept right, whatever a run brings.

A run brings whole sessions, and nothing else is whole in it. So a model that says nothing itself
(`replaces`, `keeps`) is one of these:

  of sessions   its key belongs to a session: what a session's rows were goes when it is run again
  an aggregate  of one stored model: made anew, from the stored table, for the keys a run touches
  of tables     it reads whole stored tables only: its function sees everything
  refused       anything else would be wrong after the next late event, and nobody would notice
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from windrow.models.foundation import Foundation
from windrow.models.model import INPUTS_WITHOUT_ROWS, Model, Stored

EVENT_ID = "event_id"
_OF_SESSIONS = ("events", "sessions_this_run")
"""The engine's inputs that have all rows of the run's sessions."""


def with_kept_rows(models: Sequence[Model], foundation: Foundation) -> list[Model]:
    """The models, which stand in order, with how the rows of the project's own are kept right."""
    settled: dict[str, Model] = {}
    for member in models:
        settled[member.name] = _settled(member, settled, foundation)
    return list(settled.values())


def _settled(member: Model, known: Mapping[str, Model], foundation: Foundation) -> Model:
    if member.path and member.replaces is not None:
        return _replacing(member, foundation)
    if not _says_nothing(member):
        return member
    parts = _partial_inputs(member, known)
    if not parts:
        return member
    if all(_is_of_sessions(it, known, foundation) for it in parts.values()):
        if not foundation.has_sessions and EVENT_ID in member.key:
            return member
        if foundation.has_sessions and _has_key_of_sessions(member, known, foundation):
            return _following_sessions(member, foundation)
    return _recomputed(member, parts, known, foundation)


def _replacing(member: Model, foundation: Foundation) -> Model:
    """The model, if a run can bring all rows of what it says that it replaces."""
    known = [foundation.session, foundation.user] if foundation.has_sessions else []
    if member.replaces in (*known, *day_columns(member)):
        return member
    days = " or ".join(day_columns(member)) or "a date column that date= names"
    return replace(
        member,
        refusal=f"Model '{member.name}' replaces rows by '{member.replaces}', of which no run "
        f"brings every row. It can be {', '.join(known) or 'nothing but its day'}, or {days}.",
    )


def day_columns(member: Model) -> tuple[str, ...]:
    """The columns that can be the day by which a model's rows lie."""
    return () if member.date is None else (member.date, f"{member.date}_date")


def _says_nothing(member: Model) -> bool:
    """True for an own model that leaves to us which stored rows its rows replace."""
    return (
        bool(member.path)
        and member.kind == "incremental"
        and member.replaces is None
        and member.keeps == "new"
        and member.amend is None
    )


def _partial_inputs(member: Model, known: Mapping[str, Model]) -> dict[str, Stored | str]:
    """The inputs of which a run shows only a part; tables that are rebuilt come whole."""

    def is_partial(source: Stored | str) -> bool:
        if isinstance(source, Stored):
            return not source.is_whole
        is_rebuilt = source in known and known[source].kind == "rebuilt"
        return source not in INPUTS_WITHOUT_ROWS and not is_rebuilt

    return {name: source for name, source in member.inputs.items() if is_partial(source)}


# --- of sessions ----------------------------------------------------------------------------------


def _is_of_sessions(
    source: Stored | str, known: Mapping[str, Model], foundation: Foundation
) -> bool:
    """True when a run brings all rows of its sessions here, and no others."""
    if isinstance(source, Stored):
        return source.of_sessions
    if source in _OF_SESSIONS:
        return True
    if source not in known:
        return False
    member = known[source]
    if member.replaces == foundation.session or member.follows_sessions:
        return True
    if member.kind != "this_run":
        return False
    inputs = _partial_inputs(member, known).values()
    return all(_is_of_sessions(it, known, foundation) for it in inputs) and _has_key_of_sessions(
        member, known, foundation
    )


def _has_key_of_sessions(member: Model, known: Mapping[str, Model], foundation: Foundation) -> bool:
    keys = [(foundation.session,), *_keys_of_inputs(member, known, foundation)]
    return any(key and set(key) <= set(member.key) for key in keys)


def _keys_of_inputs(
    member: Model, known: Mapping[str, Model], foundation: Foundation
) -> Iterator[tuple[str, ...]]:
    for source in _partial_inputs(member, known).values():
        name = source.model if isinstance(source, Stored) else source
        if name == "events":
            yield (EVENT_ID,)
        elif name == "sessions_this_run":
            yield (foundation.recorded_session,)
        elif name in known:
            yield known[name].key


def _following_sessions(member: Model, foundation: Foundation) -> Model:
    columns = member.columns
    if isinstance(columns, Mapping) and foundation.session not in columns:
        return replace(member, refusal=why_without_session(member, foundation.session))
    return replace(member, replaces=foundation.session, follows_sessions=True)


def why_without_session(member: Model, session: str) -> str:
    """Why a model of sessions needs to say which, and what else would do."""
    return (
        f"Model '{member.name}' has rows of sessions, but not the column {session} by which they "
        f"are found when a session is run again; rows that it makes no more would stay. Add "
        f"{session} to its rows, or say which stored rows a run replaces (replaces), or make it "
        "kind 'rebuilt' from stored tables."
    )


# --- aggregates -----------------------------------------------------------------------------------


def _recomputed(
    member: Model,
    parts: Mapping[str, Stored | str],
    known: Mapping[str, Model],
    foundation: Foundation,
) -> Model:
    """The model reading stored rows in place of this run's, or why that cannot be."""
    if len(parts) > 1:
        return _refused(member, f"the run's rows of {_named(parts)} together", foundation)
    (parameter, source), *_ = parts.items()
    if not isinstance(source, str) or source not in known:
        return _refused(member, f"the run's {_named(parts)}", foundation)
    if known[source].kind != "incremental":
        return _refused(member, f"the run's rows of {source}, which is not stored", foundation)
    looks = {it.model for it in member.inputs.values() if isinstance(it, Stored)}
    if member.name in looks:
        return _refused(member, f"the run's rows of {source} and its own former rows", foundation)
    if member.per.unclear and source not in looks:
        return replace(
            member,
            refusal=f"Model '{member.name}' is made anew from the stored {source} for the keys "
            f"that a run touches, but its query does not tell what its key is made of: "
            f"{member.per.unclear}. Write it as one SELECT from {parameter} with the key's columns "
            "in it, write it in Python with per=…, or make it kind 'rebuilt' from stored tables.",
        )
    return replace(member, inputs={**member.inputs, parameter: Stored(source, touched=True)})


def _named(parts: Mapping[str, Stored | str]) -> str:
    names = (it.model if isinstance(it, Stored) else it for it in parts.values())
    return " and ".join(dict.fromkeys(names))


def _refused(member: Model, what: str, foundation: Foundation) -> Model:
    by_session = f"key it by session ({foundation.session}); " if foundation.has_sessions else ""
    return replace(
        member,
        refusal=f"Model '{member.name}' has a row per {', '.join(member.key)}, made from {what}. "
        "A run has only a part of what such a row stands for, so it would be wrong after the next "
        f"run. Do one of these: {by_session}make it from one stored model, like page_views; say "
        "replaces, if a run brings every row of what it touches; or make it kind 'rebuilt' from "
        "stored tables.",
    )
