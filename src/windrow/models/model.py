"""What a model is: a named function from frames to a frame, with a key and columns.

    @model(key="page_view_id", date="start_tstamp", columns={"page_view_id": "string", ...})
    def page_views(events: DataFrame, settings: WebSettings) -> DataFrame: ...

The parameters name the inputs: one of ENGINE_INPUTS, or another model, whose rows of this run come
in. `users: DataFrame = stored("users")` reads the whole derived table instead.

A column's type may carry its rule, `column("string", "Id of the page view.")`, and the docstring
begins with what a row is: "One row per page view: what was seen, and for how long."
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pyspark.sql import DataFrame

from windrow.config import ModelSettings
from windrow.errors import ConfigError
from windrow.models.checks import Check, NotNull, Unique
from windrow.models.extras import Extras
from windrow.models.extras import reads as reads_of_extras
from windrow.models.impossible import impossible
from windrow.tables import Columns

StoredRows = Callable[[DataFrame], DataFrame]
"""From a frame to the stored rows that have one of its values in a column: `stored(…, by=…)`."""

Kind = Literal["incremental", "rebuilt", "this_run"]
Keeps = Literal["new", "earliest", "latest"]

ENGINE_INPUTS = (
    "events",
    "sessions_this_run",
    "sessions_of_users",
    "sessions_of",
    "visits",
    "nearby",
    "users_touched",
    "settings",
    "now",
    "until",
    "most_events",
    "hooks",
    "reference",
    "gathered",
)
"""Parameter names that the engine fills itself; every other one names a model.

`sessions_of_users`: all stored sessions of the users this run touches. `sessions_of`: a function
from a frame of users to all their stored sessions. `visits`: how these users' sessions changed, and
what was stored of them (`models.parts.users.Visits`). `nearby`: stored rows of the
model itself that belong to other sessions, on days near this run's. `users_touched`: users of this
run's sessions, and users who had one of these sessions until now. `until`: where the run's window
ends, or what the model has seen already where that is later. `most_events`: how many events the run
has, and so the most that there can be of anything they name. `gathered`: names of the models that
the model gathers rows of and that have not consumed the run's window before.
"""
INPUTS_WITHOUT_ROWS = frozenset(
    {"settings", "now", "until", "most_events", "hooks", "reference", "gathered"}
)
"""Those of them that are no rows."""


@dataclass(frozen=True)
class Stored:
    """Marks a parameter that takes a whole derived table, not only this run's rows."""

    model: str
    before_this_run: bool = False
    near: bool = False
    of_sessions: bool = False
    """Only the rows of this run's sessions, near the run's days."""
    of_users: bool = False
    """Only the rows of users of this run's sessions, read once however many ask for them."""
    in_step_with: str = ""
    """Another model: the rows as this one left them, if they tell of all that the other's table had
    when the run began; else None."""
    or_outside: bool = False
    """Where no model has the name, it means a table that others keep."""
    is_bare: bool = False
    """Such a name without a schema: one that nearly names a model is a misspelt one."""
    touched: bool = False
    """Only the rows of the reader's keys that this run bears on; see `own_models`."""
    by: str = ""
    """A column: in place of rows, a function from a frame to those with one of its values there."""

    @property
    def is_whole(self) -> bool:
        """True: all rows of the table, as they are now."""
        parts = (self.before_this_run, self.near, self.of_sessions, self.of_users, self.touched)
        return not any((*parts, self.in_step_with, self.by))


def stored(
    model: str | Model,
    *,
    before_this_run: bool = False,
    near: bool = False,
    of_sessions: bool = False,
    of_users: bool = False,
    in_step_with: str = "",
    by: str = "",
) -> Any:
    """The whole derived table of a model, as the default value of a parameter.

    `before_this_run` takes it as it was when the run began; `near` takes its rows of whole days,
    those on which rows of this run's sessions lie or lay; `of_sessions` only the rows of this
    run's sessions, for a model whose rows a run replaces by session; `of_users` only the rows of
    their users. `in_step_with` another model gives the rows if they were made from all that the
    other's table had when the run began, and else None. `by` a column gives a function in place of
    rows: from a frame with that column to the stored rows with one of its values, wherever they
    lie; of rows of its own table that it does not ask for so, a model changes no day.
    """
    name = model if isinstance(model, str) else model.name
    return Stored(
        name,
        before_this_run,
        near=near,
        of_sessions=of_sessions,
        of_users=of_users,
        in_step_with=in_step_with,
        by=by,
    )


@dataclass(frozen=True)
class KeySource:
    """What a model's key is made of, where a key column is not simply a column of its input."""

    sql: Mapping[str, str] = field(default_factory=dict)
    """Key column -> SQL over the input's columns."""
    unclear: str = ""
    """Why it cannot be told from a query; empty: it can."""


UNDECLARED = "void"
"""Stands for the type of a column that gets whatever type its expression has."""


@dataclass(frozen=True)
class Reads:
    """What a model reads, beside the frames that its parameters name."""

    columns: tuple[str, ...] | Callable[[Any], tuple[str, ...]] | None = None
    """The event columns that the function needs; None means all of them."""
    extras: Extras | None = None
    """Where columns come from that a project adds by configuration; None: it takes none."""
    event_names: tuple[str, ...] = ()
    """Values of `event_name` without which the model makes no row; empty: it looks at all."""
    gathers: tuple[str, ...] = ()
    """Models whose events lead to rows here too: when one of them is new, and catches up, this one
    takes part for its rows."""
    after: tuple[str, ...] = ()
    """Models whose stored tables come in through `sessions_of_users`, which names none of them.

    The other inputs tell the order themselves.
    """


@dataclass(frozen=True)
class Storage:
    """How a model's rows are stored, beside its key, its date and what it `replaces`."""

    keeps: Keeps = "new"
    """Of a stored row and a new one with the same key: the new one, or the one whose date column is
    earlier or later; the new one if they are equal. `compat` always takes the new one."""
    amend: Model | None = None
    """A model of kind `this_run`: its rows update, by key, some columns of stored rows that are not
    of this run's sessions."""
    steps: tuple[str, ...] = ()
    """Helper tables of the SQL packages that are part of this model; the manifest has them too."""
    is_state: bool = False
    """True: its table is a memory of the package's, which lies with the manifests."""


STATE = Storage(is_state=True)
"""For a table that helps to make others, and that nobody asks for itself."""


@dataclass(frozen=True)
class Model:
    """A named function from frames to a frame, with a key and columns. It can be called.

    What cannot work is refused when the model is declared.
    """

    name: str
    function: Callable[..., DataFrame]
    kind: Kind = "incremental"
    key: tuple[str, ...] = ()
    date: str | None = None
    columns: Columns | Callable[[Any], Columns] | None = None
    replaces: str | None = None
    """A column: the run brings every row of the values it touches; stored rows beyond those go.

    The session's, the user's, or the model's day, whose values are the days near this run's.
    """
    per: KeySource = field(default_factory=KeySource)
    """What its key is made of."""
    reads: Reads = field(default_factory=Reads)
    storage: Storage = field(default_factory=Storage)
    checks: tuple[Check, ...] = ()
    """What must be true of the rows, beside what `all_checks` adds for the key."""
    tags: tuple[str, ...] = ()
    package: str = ""
    prefix: str = ""
    path: str = ""
    """The file of a project's own model."""
    follows_sessions: bool = False
    """True when its rows are those of the run's sessions although it does not declare so: they may
    lie on any day, while a model that declares it has them near the days of its sessions."""
    refusal: str = ""
    """Why a project's own model cannot be kept right, and what to do; empty: it can."""
    description: str = ""
    inputs: Mapping[str, Stored | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        reason = impossible(self, get_args(Kind))
        if reason:
            raise ConfigError(f"Model '{self.name}' {reason}")

    def __call__(self, *args: Any, **kwargs: Any) -> DataFrame:
        return self.function(*args, **kwargs)

    @property
    def extras(self) -> Extras | None:
        """Where columns come from that a project adds by configuration."""
        return self.reads.extras

    @property
    def event_names(self) -> tuple[str, ...]:
        """The only events that the model looks at; empty: all."""
        return self.reads.event_names

    @property
    def gathers(self) -> tuple[str, ...]:
        """Models whose events lead to rows here too."""
        return self.reads.gathers

    @property
    def keeps(self) -> Keeps:
        """Which of a stored row and a new one with the same key stays."""
        return self.storage.keeps

    @property
    def amend(self) -> Model | None:
        """The model whose rows update columns of stored rows of other sessions."""
        return self.storage.amend

    @property
    def steps(self) -> tuple[str, ...]:
        """Helper tables of the SQL packages that are part of this model."""
        return self.storage.steps

    @property
    def is_state(self) -> bool:
        """True: its table lies with the manifests."""
        return self.storage.is_state

    @property
    def full_name(self) -> str:
        """The name of the model's table and of its manifest row."""
        return self.prefix + self.name

    @property
    def file(self) -> str:
        """Where the model is declared: in the project, or else in windrow."""
        return self.path or self.function.__module__.replace(".", "/") + ".py"

    @property
    def grain(self) -> str:
        """What a row stands for: the "One row per …" with which the description begins."""
        found = re.match(r"One row per ([^:;.]+)", self.description)
        return f"one row per {' '.join(found[1].split())}" if found else ""

    @property
    def tracked_names(self) -> tuple[str, ...]:
        """The manifest rows that tell how far this model has come."""
        if self.kind == "rebuilt" and not self.prefix:
            return ()
        return (self.full_name, *(self.prefix + step for step in self.steps))

    @property
    def parents(self) -> frozenset[str]:
        """The models whose rows this one reads, of this run or stored: it comes after them."""
        of_run = {
            source
            for source in self.inputs.values()
            if isinstance(source, str) and source not in ENGINE_INPUTS
        }
        return self.stored_parents | of_run - {self.name}

    @property
    def stored_parents(self) -> frozenset[str]:
        """The models whose stored tables this one is made from."""
        named = {source.model for source in self.inputs.values() if isinstance(source, Stored)}
        return frozenset(named | set(self.reads.after)) - {self.name}

    @property
    def recomputed_from(self) -> str | None:
        """The model whose stored rows of the touched keys this one is made from; None: none."""
        sources = (it for it in self.inputs.values() if isinstance(it, Stored) and it.touched)
        return next((source.model for source in sources), None)

    @property
    def has_ids_of_several(self) -> bool:
        """True: the id of a row may occur in several sessions, and one of them has the row."""
        return "nearby" in self.inputs.values() and len(self.key) == 1

    @property
    def carries_users_on(self) -> bool:
        """True: a user's stored row stays where the run's events say nothing newer."""
        sources = (it for it in self.inputs.values() if isinstance(it, Stored))
        return any(it.of_users and it.model == self.name for it in sources)

    @property
    def all_checks(self) -> tuple[Check, ...]:
        """The key's checks and the declared ones, which may soften one of the key's."""
        of_key = (Unique(self.key), NotNull(self.key)) if self.key else ()
        checks = (part for check in (*of_key, *self.checks) for part in check.apart())
        return tuple({check.name: check for check in checks}.values())

    def columns_for(self, settings: ModelSettings) -> Columns | None:
        """The table's columns under these settings; None when the model does not declare them."""
        return self.columns(settings) if callable(self.columns) else self.columns

    def event_columns_for(self, settings: ModelSettings) -> tuple[str, ...] | None:
        """The event columns needed under these settings; None means all of them."""
        added: tuple[str, ...] = ()
        if self.extras is not None and self.extras.source == "events":
            added = reads_of_extras(settings, self.name)
        if "events" not in self.inputs.values():
            return added
        columns = self.reads.columns
        own = columns(settings) if callable(columns) else columns
        return None if own is None else (*own, *added)


def model(
    *,
    key: str | Sequence[str] = (),
    date: str | None = None,
    columns: Columns | Callable[[Any], Columns] | None = None,
    kind: Kind = "incremental",
    name: str | None = None,
    package: str = "",
    replaces: str | None = None,
    per: Mapping[str, str] | None = None,
    checks: Sequence[Check] = (),
    tags: str | Sequence[str] = (),
    reads: Reads | None = None,
    storage: Storage | None = None,
) -> Callable[[Callable[..., DataFrame]], Model]:
    """Declare the decorated function a model; its name then means the `Model`, still callable.

    `per` is for aggregates whose key is not made of same-named columns of what they read:
    `per={"page_date": "start_tstamp_date"}`.
    """

    def declare(function: Callable[..., DataFrame]) -> Model:
        inputs = _inputs(function)
        taken = [it for it in ("sessions_of_users", "visits") if it in inputs.values()]
        if taken and (reads is None or not reads.after):
            raise ConfigError(
                f"Model '{name or function.__name__}' takes {taken[0]}, the stored rows of "
                "another model. Say of which: @model(reads=Reads(after=('sessions',)))."
            )
        return Model(
            name=name or function.__name__,
            function=function,
            kind=kind,
            key=_names(key),
            date=date,
            columns=columns,
            replaces=replaces,
            per=KeySource(per or {}),
            reads=reads or Reads(),
            storage=storage or Storage(),
            checks=tuple(checks),
            tags=_names(tags),
            package=package,
            description=inspect.getdoc(function) or "",
            inputs=inputs,
        )

    return declare


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _inputs(function: Callable[..., DataFrame]) -> dict[str, Stored | str]:
    return {
        parameter.name: parameter.default
        if isinstance(parameter.default, Stored)
        else parameter.name
        for parameter in inspect.signature(function).parameters.values()
    }
