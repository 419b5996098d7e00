"""The source: the atomic events table, read as it is and adapted to one shape.

Standard columns get their types (`misfits.py`: where text has none), entities their one shape
(`entities.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, StringType, StructType

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.enriched import events_of, refuse_other_files
from windrow.atomic.entities import known_entity
from windrow.atomic.entity_columns import ENTITY_COLUMNS
from windrow.atomic.misfits import misfit_measures, text_columns
from windrow.columns.timestamps import literal
from windrow.config import EventsSource
from windrow.errors import SourceError, did_you_mean
from windrow.tables.days import DayRange
from windrow.tables.observed import Observed
from windrow.tables.refusals import REFUSALS, reason_of, unreadable_files
from windrow.tables.sql import quoted, quoted_parts

_KNOWN_ENTITIES = {entity.name: entity for entity in ENTITY_COLUMNS}
_MICROSECOND = timedelta(microseconds=1)
_FAR_OFF = datetime(9999, 1, 1, tzinfo=UTC)

_LOAD_DAY = "load_tstamp_date"
"""What loaders partition events by: the day on which an event came into the table."""
_LONG_AGO = datetime(1970, 1, 3, tzinfo=UTC)
"""From so far back on means from the beginning: there is no day to begin at."""
_CLOCKS_DIFFER = timedelta(days=1)
"""An event is loaded after it was collected, by another machine's clock."""
_BEFORE_LOADING = ("collector_tstamp", "etl_tstamp", "load_tstamp")
"""Times of an event that its load day cannot be before, clocks apart."""


@dataclass(frozen=True)
class KeptRows:
    """Stored rows of a closed stretch of collector time, kept because several packages need them.

    They have only the columns that those need.
    """

    first: datetime
    last: datetime
    rows: DataFrame


@dataclass(frozen=True)
class Reshaped:
    """Columns that a package makes of the stored ones, beside or in place of them."""

    columns: Mapping[str, Column]
    malformed: Mapping[str, Column] = field(default_factory=dict)
    """Column -> true where the JSON text that it is made of cannot be read."""
    notes: tuple[str, ...] = ()
    """What whoever runs the package should know."""


class MadeOnDemand(Mapping[str, Column]):
    """Name -> column, made when it is first asked for: a run needs few of all there could be."""

    def __init__(self, makers: Mapping[str, Callable[[], Column]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __or__(self, makers: Mapping[str, Callable[[], Column]]) -> MadeOnDemand:
        return MadeOnDemand(self._makers | dict(makers))


@dataclass(frozen=True)
class Source:
    """The events as stored, and how each adapted column comes from them."""

    raw: DataFrame
    adapted: MadeOnDemand
    stored: Mapping[str, tuple[str, ...]] | None
    """Adapted column -> the stored ones it is made of; None when that cannot be told."""
    malformed: MadeOnDemand
    """Entity -> true where its JSON text cannot be read; only for entities that come as text."""
    misfits: MadeOnDemand
    """Column -> true where its text cannot be of its type; only for columns that are text."""
    time_column: str
    notes: tuple[str, ...] = ()
    """What whoever runs the package should know of the columns."""
    kept: KeptRows | None = None
    """Rows that need not be read again."""
    lines: DataFrame | None = None
    """The lines that the events are read from; None where they are stored as rows."""
    version: str | None = None
    """What a table of events was at before it was opened; None where nobody asked."""

    def between(
        self,
        lower: datetime,
        upper: datetime,
        columns: Sequence[str],
        *,
        keeps: Column | None = None,
        unreadable: Observed | None = None,
    ) -> DataFrame:
        """The events of a closed window of collector time, with the adapted columns asked for.

        `keeps` is over stored columns and leaves out events before anything is made of them.
        What cannot be read is null; `unreadable` counts it, of entities and of other columns.
        """
        rows = self._rows_with(columns, lower, upper)
        if keeps is not None:
            rows = rows.where(keeps)
        if unreadable is not None:
            rows = unreadable.over(rows, self._measures(columns))
        rows = rows.where(~self._has_misfit_time())
        return rows.select(*(self.adapted[name].alias(name) for name in columns))

    def holding(self, rows: DataFrame) -> Source:
        """The source as if it had these stored rows alone."""
        return replace(self, raw=rows, kept=None)

    def on_days(self, ranges: Iterable[DayRange]) -> Source:
        """The source without the events of other days; the bounds are literals, as of a window."""
        first, last = time(), time.max
        is_meant = reduce(
            Column.__or__,
            (
                self._is_between(
                    datetime.combine(days.first, first, UTC), datetime.combine(days.last, last, UTC)
                )
                for days in ranges
            ),
        )
        return self.holding(self.raw.where(is_meant | self._has_misfit_time()))

    def malformed_entities(self, figures: Mapping[str, int]) -> dict[str, int]:
        """Entity -> how many could not be read, of those that `unreadable` had to do with."""
        return {name: number for name, number in figures.items() if name in self.malformed}

    def _measures(self, columns: Sequence[str]) -> dict[str, Column]:
        measures = {
            name: F.count_if(self.malformed[name]) for name in columns if name in self.malformed
        }
        for name in dict.fromkeys((self.time_column, *columns)):
            if name in self.misfits:
                measures |= misfit_measures(name, self.misfits[name])
        return measures

    def with_nulls(self, names: Sequence[str]) -> Source:
        """The source with columns of nothing where it lacks these entities or events."""
        missing = {name: partial(_null, name) for name in names if name not in self.adapted}
        stored = None if self.stored is None else {**dict.fromkeys(missing, ()), **self.stored}
        return replace(self, adapted=self.adapted | missing, stored=stored)

    def with_entities(self, names: Iterable[str]) -> Source:
        """The source with stored columns of these entities, where events are lines."""
        return self if self.lines is None else replace(self, raw=events_of(self.lines, names))

    def stored_for(self, columns: Iterable[str]) -> list[str] | None:
        """The stored columns that reading these takes; None when that cannot be told."""
        if self.stored is None:
            return None
        found = (name for column in columns for name in self.stored[column])
        return list(dict.fromkeys((self.time_column, *found)))

    def rows_between(self, lower: datetime, upper: datetime) -> DataFrame:
        """The stored rows of a closed window of collector time.

        The bounds are literals of the stored column's own type, so that files are pruned. Where
        times are text, rows whose time cannot be read come along, for someone to notice them.
        """
        rows = self._loaded_since(lower)
        return rows.where(self._is_between(lower, upper) | self._has_misfit_time())

    def _loaded_since(self, collected: datetime) -> DataFrame:
        """The stored rows that can hold events collected since a moment.

        Files without statistics of their times, as Spark writes them, are told apart by nothing but
        the folder that they lie in: without this bound a run opens every file there is.
        """
        has_day = isinstance(_type_of(self.raw, _LOAD_DAY), DateType)
        if not has_day or self.time_column not in _BEFORE_LOADING or collected < _LONG_AGO:
            return self.raw
        day = F.lit((collected - _CLOCKS_DIFFER).date())
        return self.raw.where((F.col(_LOAD_DAY) >= day) | F.col(_LOAD_DAY).isNull())

    def loaded_since(self, moment: datetime) -> DataFrame:
        """The stored rows that were loaded since a moment, by `load_tstamp`.

        Where events lie in folders by the day on which they were, others are not opened.
        """
        rows = self.raw
        if isinstance(_type_of(rows, _LOAD_DAY), DateType):
            rows = rows.where(F.col(_LOAD_DAY) >= F.lit((moment - _CLOCKS_DIFFER).date()))
        return rows.where(self._is_between(moment, _FAR_OFF, column="load_tstamp"))

    def rows_since(self, lower: datetime) -> DataFrame:
        """The stored rows from a collector time on."""
        return self.rows_between(lower, _FAR_OFF)

    def _rows_with(self, columns: Sequence[str], lower: datetime, upper: datetime) -> DataFrame:
        """The stored rows of a window; those that are kept anyway are not read again."""
        kept, wanted = self.kept, self.stored_for(columns)
        if kept is None or wanted is None or not {*wanted} <= {*kept.rows.columns}:
            return self.rows_between(lower, upper)
        if upper < kept.first or kept.last < lower:
            return self.rows_between(lower, upper)
        in_both = self._is_between(max(lower, kept.first), min(upper, kept.last))
        rows = kept.rows.where(in_both | self._has_misfit_time())
        missing = [(lower, kept.first - _MICROSECOND), (kept.last + _MICROSECOND, upper)]
        for first, last in missing:
            if first <= last:
                others = self._loaded_since(first).where(self._is_between(first, last))
                rows = rows.union(only(others, kept.rows.columns))
        return rows

    def _has_misfit_time(self) -> Column:
        return self.misfits.get(self.time_column, F.lit(False))

    def _is_between(self, lower: datetime, upper: datetime, *, column: str = "") -> Column:
        name = column or self.time_column
        stored_type = self.raw.schema[name].dataType
        time = F.col(name)
        if isinstance(stored_type, StringType):
            time = self.adapted[name]
            first, last = literal(lower), literal(upper)
        else:
            first, last = literal(lower).cast(stored_type), literal(upper).cast(stored_type)
        return (time >= first) & (time <= last)


def _type_of(rows: DataFrame, column: str) -> DataType | None:
    return rows.schema[column].dataType if column in rows.columns else None


def open_source(
    spark: SparkSession,
    source: EventsSource | None,
    *,
    time_column: str,
    reshape: Callable[[DataFrame], Reshaped] | None = None,
    asked: Iterable[str] = tuple(_KNOWN_ENTITIES),
) -> Source:
    """Find the events table and work out how to adapt its columns; reads no event.

    With `reshape`, entity columns are what it makes of them, and else stay as they are stored.
    Where events are lines, they have the entity columns that are `asked` for.
    """
    if source is None:
        raise SourceError("windrow.yml names no events. Set events.path or events.table.")
    raw, lines = stored_rows(spark, source), None
    if source.format == "enriched":
        raw, lines = events_of(raw, asked), raw
    if reshape is None:
        return replace(_adapted(raw, time_column), lines=lines)
    own = reshape(raw)
    as_stored = {f.name: partial(_standard, f.name, f.dataType) for f in raw.schema.fields}
    adapted = MadeOnDemand({**as_stored, **_known(own.columns)})
    malformed = MadeOnDemand(_known(own.malformed))
    misfits = MadeOnDemand(text_columns({f.name: f.dataType for f in raw.schema.fields}))
    return Source(raw, adapted, None, malformed, misfits, time_column, own.notes, lines=lines)


def _known(columns: Mapping[str, Column]) -> dict[str, Callable[[], Column]]:
    return {name: partial(columns.__getitem__, name) for name in columns}


def _null(entity: str) -> Column:
    return F.lit(None).cast(_KNOWN_ENTITIES[entity].type)


def stored_rows(
    spark: SparkSession, source: EventsSource, *, schema: StructType | None = None
) -> DataFrame:
    """The events as they are stored; with a `schema`, that of the files is not looked for."""
    place = source.table or source.path
    options = dict(source.options)
    if source.format == "csv":
        options = {"header": "true", "escape": '"', **options}
    reader = spark.read.options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    try:
        with unreadable_files():
            if source.table:
                frame = reader.table(quoted_parts(source.table))
            else:
                format = "text" if source.format == "enriched" else source.format
                frame = reader.format(format).load(source.path)
        if not frame.columns:
            raise SourceError(f"The events at {place} have no columns: is the folder empty?")
        return frame
    except REFUSALS as error:
        reason = reason_of(error)
        raise SourceError(
            f"Cannot read the events at {place} as {source.format}: {reason} "
            "Check events.path, events.table and events.format in windrow.yml."
        ) from error


def check_lines(source: Source, place: str) -> None:
    """Stop where events are to be lines of enriched events, and no line can be one."""
    if source.lines is not None:
        with reading_events():
            refuse_other_files(source.lines, place)


def check_readable(source: Source) -> None:
    """Stop unless an event can really be read: listing files and reading them may be two rights."""
    with reading_events():
        source.raw.select(source.time_column).limit(1).collect()


@contextmanager
def reading_events() -> Iterator[None]:
    """Events are read inside, for the first time: a refusal says what that takes."""
    try:
        with unreadable_files():
            yield
    except REFUSALS as error:
        raise SourceError(
            f"The events are there, but reading one fails: {reason_of(error)} A run needs to read "
            "the events; docs/privileges.md says what that takes. Nothing was written."
        ) from error


def only(rows: DataFrame, columns: Iterable[str]) -> DataFrame:
    """The stored columns of these names, whatever characters they have."""
    return rows.select(*(F.col(quoted(name)) for name in columns))


def check_columns(source: Source, needed: Mapping[str, str]) -> None:
    """Stop unless every needed column is there with a usable type. `needed`: column -> reason."""
    problems = [
        f"column '{name}' is missing ({reason}).{did_you_mean(name, source.raw.columns)}"
        for name, reason in needed.items()
        if name not in source.adapted
    ]
    problems += [
        f"column '{name}' has type {found}, expected {wanted}."
        for name, found, wanted in _wrong_types(source.raw)
        if name in needed
    ]
    if problems:
        raise SourceError("The events cannot be used:\n" + "\n".join(f"  - {p}" for p in problems))


def _wrong_types(raw: DataFrame) -> list[tuple[str, str, str]]:
    def fits(found: str, wanted: str) -> bool:
        if found == wanted or found == "string" or wanted == "string":
            return not found.startswith(("array", "struct", "map"))
        return _family(found) == _family(wanted)

    return [
        (name, found, STANDARD_COLUMNS[name])
        for name, found in raw.dtypes
        if name in STANDARD_COLUMNS and not fits(found, STANDARD_COLUMNS[name])
    ]


def _family(type_name: str) -> str:
    if type_name.startswith(("timestamp", "date")):
        return "time"
    if type_name.startswith(("decimal", "double", "float", "int", "bigint", "smallint", "tinyint")):
        return "number"
    return type_name


def _adapted(raw: DataFrame, time_column: str) -> Source:
    types = {field.name: field.dataType for field in raw.schema.fields}
    found = {entity.name: known_entity(entity, types) for entity in ENTITY_COLUMNS}
    standard: dict[str, Callable[[], Column]] = {
        name: partial(_standard, name, kind) for name, kind in types.items() if name not in found
    }
    entities = {name: entity.column for name, entity in found.items() if entity.columns}
    malformed = {name: entity.is_malformed for name, entity in found.items() if entity.texts}
    stored: dict[str, tuple[str, ...]] = {name: (name,) for name in types}
    stored |= {name: tuple(entity.columns) for name, entity in found.items()}
    return Source(
        raw,
        MadeOnDemand(standard | entities),
        stored,
        MadeOnDemand(malformed),
        MadeOnDemand(text_columns(types)),
        time_column,
    )


def _standard(name: str, found: DataType) -> Column:
    wanted = STANDARD_COLUMNS.get(name)
    column = F.col(quoted(name))
    if wanted is None or found.simpleString() == wanted:
        return column
    # Text that does not parse is found by `misfits`, which can say where and what it is.
    return column.try_cast(wanted) if isinstance(found, StringType) else column.cast(wanted)
