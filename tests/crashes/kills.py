"""Stop whoever works on tables at the n-th change: pull the plug, kill the process, or pause it.

In this process, for tests that want many stops quickly:

    with plug_pulled(Moment(7)) as watch:
        site.run("2024-01-02 00:00")

A process of its own, which really ends:

    python tests/crashes/kills.py --number 7 --log log.txt kill -- run --project-dir shop

A change is a writing operation of `Tables` or, inside of one, a further SQL statement that changes
something: Iceberg gives a column another type in three.
"""

from __future__ import annotations

import argparse
import inspect
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pyspark import SparkContext
from pyspark.sql import SparkSession

from windrow.cli import main as windrow
from windrow.tables import DeltaTables, IcebergTables, TableName

READS = {
    *("identifier", "folder", "exists", "columns", "read", "frame", "note", "properties"),
    *("version", "history", "layout", "commits_of", "setting", "writing", "fit_rows"),
    *("statements_to_create", "create_schema", "versions", "written", "committed"),
    *("last_commit", "forget_last_commit"),
    *("partitions", "forget_partitions", "options_to_rewrite", "refuse_if_changed_since"),
}
"""Methods of tables that change none. Any other is taken for a change, also one made later."""

CHANGING = {
    *("alter", "call", "create", "delete", "drop", "insert", "merge", "optimize", "replace"),
    *("restore", "truncate", "update", "vacuum"),
}
"""How statements begin that change something."""


class PulledPlug(BaseException):
    """The process is dead: whatever it asks of a table fails. No `except Exception` catches it."""


@dataclass(frozen=True)
class Change:
    """One change of a table, as it began."""

    operation: str
    table: str

    def __str__(self) -> str:
        return f"{self.operation} {self.table}"


@dataclass(frozen=True)
class Moment:
    """Before or after the n-th change, counting from 1; of one table's changes if one is named."""

    number: int
    is_after: bool = False
    table: str = ""
    """How the table's name ends: `page_views`."""

    def __str__(self) -> str:
        where = f"{'after' if self.is_after else 'before'} change {self.number}"
        return f"{where} of {self.table}" if self.table else where


class _Place(threading.local):
    """Where a thread is: how deep in writing operations, and whether a counted one is still due."""

    depth = 0
    table = ""
    is_due = False
    is_the_one = False


class Watch:
    """Counts the changes that all threads make, and stops the world at one of them."""

    def __init__(
        self,
        moment: Moment | None,
        stop: Callable[[], None],
        *,
        on_change: Callable[[str], None] = lambda table: None,
    ) -> None:
        self.moment, self.on_change = moment, on_change
        self.is_dead = False
        """True: from now on nothing reaches a table."""
        self.changes: list[Change] = []
        self._matching = 0
        self._stop = stop
        self._lock = threading.Lock()
        self._place = _Place()

    def stay_alive(self) -> None:
        """Stop a thread of a process that is dead."""
        if self.is_dead:
            raise PulledPlug

    @contextmanager
    def operation(self, name: str, table: str) -> Iterator[None]:
        """A writing operation of tables."""
        place = self._place
        outer, place.table = place.table, table
        place.depth += 1
        try:
            with self._change(name):
                yield
        finally:
            place.depth -= 1
            place.table = outer

    @contextmanager
    def statement(self, text: str) -> Iterator[None]:
        """A SQL statement, which counts when it is part of a writing operation."""
        verb = text.split(maxsplit=1)[0].lower()
        if self._place.depth and verb in CHANGING:
            with self._change(" ".join(text.split()[:1] + text.split()[3:5])):
                yield
        else:
            yield

    @contextmanager
    def _change(self, name: str) -> Iterator[None]:
        """One change; the first one inside of another is the same change."""
        self.stay_alive()
        place = self._place
        if not place.is_due:
            self.on_change(place.table)
            place.is_the_one = self._count(Change(name, place.table))
            place.is_due = True
            if place.is_the_one and self.moment and not self.moment.is_after:
                place.is_due = False
                self._stop()
        try:
            yield
        except BaseException:
            place.is_due = False
            raise
        if place.is_due:
            place.is_due = False
            if place.is_the_one and self.moment and self.moment.is_after:
                self._stop()

    def _count(self, change: Change) -> bool:
        """True when this is the change to stop at."""
        with self._lock:
            self.changes.append(change)
            if self.moment is None or not change.table.endswith(self.moment.table):
                return False
            self._matching += 1
            return self._matching == self.moment.number


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """All tables of this process report to the watch for as long as the block runs."""
    with ExitStack() as patches:
        for kind in (DeltaTables, IcebergTables):
            for name in dir(kind):
                method = inspect.getattr_static(kind, name)
                if not name.startswith("_") and inspect.isfunction(method):
                    reporting = _reading if name in READS else _writing
                    patches.enter_context(patch.object(kind, name, reporting(watch, method)))
        patches.enter_context(patch.object(SparkSession, "sql", _stating(watch, SparkSession.sql)))
        yield


def _reading(watch: Watch, method: Callable[..., Any]) -> Callable[..., Any]:
    def read(*arguments: Any, **options: Any) -> Any:
        watch.stay_alive()
        return method(*arguments, **options)

    return read


def _writing(watch: Watch, method: Callable[..., Any]) -> Callable[..., Any]:
    def write(tables: Any, *arguments: Any, **options: Any) -> Any:
        table = str(next(iter((*arguments, *options.values())), ""))
        watch.stay_alive()
        if method.__name__ == "create" and tables.exists(_name(table)):
            return None
        with watch.operation(method.__name__, table):
            return method(tables, *arguments, **options)

    return write


def _name(table: str) -> TableName:
    schema, _, name = table.partition(".")
    return TableName(schema, name)


def _stating(watch: Watch, method: Callable[..., Any]) -> Callable[..., Any]:
    def sql(session: SparkSession, text: str, *arguments: Any, **options: Any) -> Any:
        with watch.statement(text):
            return method(session, text, *arguments, **options)

    return sql


def changes_of(work: Callable[[], Any]) -> list[Change]:
    """The changes that some work makes, in their order: what there is to stop at."""
    watch = Watch(None, lambda: None)
    with watched(watch):
        work()
    return watch.changes


@contextmanager
def plug_pulled(moment: Moment) -> Iterator[Watch]:
    """Die at a moment of the block: from then on no table can be read or written, nor undone.

    The block believes to run in another process, a stand-in that is really killed at the moment,
    so that whoever looks for the holder of its lease finds it gone, as after a kill. What a kill
    does beyond that, stopping Spark in the middle of a commit, is for processes of their own.
    """
    with subprocess.Popen(["sleep", "3600"]) as stand_in:

        def die() -> None:
            watch.is_dead = True
            stand_in.kill()
            stand_in.wait()
            raise PulledPlug

        watch = Watch(moment, die)
        pretence = patch.object(os, "getpid", lambda: stand_in.pid)
        try:
            with watched(watch), pretence, _threads_may_die(), suppress(PulledPlug):
                yield watch
        finally:
            stand_in.kill()


@contextmanager
def _threads_may_die() -> Iterator[None]:
    """A thread that finds the plug pulled ends without a word."""
    report = threading.excepthook

    def hook(ended: threading.ExceptHookArgs) -> None:
        if not issubclass(ended.exc_type, PulledPlug):
            report(ended)

    with patch.object(threading, "excepthook", hook):
        yield


# --- a process of its own ----------------------------------------------------------------------

SIGNALS = {"kill": signal.SIGKILL, "pause": signal.SIGSTOP}


def main(arguments: Sequence[str]) -> int:
    """Run a command of windrow and send this process a signal at a moment of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--after", action="store_true")
    parser.add_argument("--table", default="")
    parser.add_argument("--log", type=Path, required=True, help="gets the JVM's number, and more")
    parser.add_argument("signal", choices=SIGNALS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)

    def stop() -> None:
        jvm = SparkContext._gateway.proc.pid
        given.log.write_text("\n".join([str(jvm), *map(str, watch.changes)]))
        os.kill(os.getpid(), SIGNALS[given.signal])

    watch = Watch(Moment(given.number, given.after, given.table), stop)
    with watched(watch):
        return windrow([word for word in given.command if word != "--"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
