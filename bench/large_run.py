"""One run over millions of events in little memory, with two who are far out of the ordinary.

    python -m bench.large_run [--events 5000000] [--memory 4g] [--format delta]

A fifth of the events is one session, as a bot makes them, and a good part of the others is of one
user. `windrow run` takes it all in at once, as a process of its own; then its tables are counted.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.command import measure_command
from bench.options import FORMATS
from bench.project import write_config
from bench.steps import START
from windrow import Project
from windrow.demo.draws import draw, uuid
from windrow.demo.events import GenerateOptions, generate, write

DAYS = 4
BOT_SHARE = 0.2
BOT, REGULAR = "a-session-without-end", "a-user-who-never-rests"
REGULAR_SESSIONS = 100_000
_HALF_A_DAY_US = 12 * 3600 * 1_000_000


def main() -> None:
    """Make the events, run, and tell what it took and what came of it."""
    asked = _parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="windrow-large-") as name:
        folder = Path(name)
        conf = {"spark.driver.memory": asked.memory}
        settings = {"web": {"start_date": START.isoformat(), "backfill_limit_days": DAYS + 1}}
        project = write_config(folder, asked.format, folder / "events", settings, conf)
        spark = Project.load(project).spark
        write(_events(spark, asked.events), str(folder / "events"))
        _say("events", _numbers(spark.read.parquet(str(folder / "events"))))
        spark.stop()

        end = START + timedelta(days=DAYS)
        command = [sys.executable, "-m", "windrow", "run", "--now", f"{end}T00:00:00"]
        used = measure_command(
            shlex.join([*command, "--project-dir", str(project)]), folder / "windrow.log"
        )
        sys.stdout.write(
            f"run: {used['seconds']:.0f} s, {used['cpu_seconds']:.0f} CPU s, "
            f"peak {used['peak_bytes'] / 2**20:.0f} MB\n"
        )
        sys.stdout.write((folder / "windrow.log").read_text())
        workspace = Project.load(project).workspace("web")
        for model in ("sessions", "users"):
            _say(model, _numbers(workspace.tables.read(workspace.table(workspace.model(model)))))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.large_run", description=__doc__)
    parser.add_argument("--events", type=int, default=5_000_000, metavar="N")
    parser.add_argument("--memory", default="4g", help="of the driver, as Spark takes it")
    parser.add_argument("--format", choices=FORMATS, default="delta")
    return parser.parse_args(arguments)


def _events(spark: SparkSession, number: int) -> DataFrame:
    bot = int(number * BOT_SHARE)
    asked = GenerateOptions(start=START, days=DAYS, events_per_day=(number - bot) // DAYS)
    events = generate(spark, asked)
    sessions = events.select("domain_sessionid").distinct().count()
    is_regular = draw("regular", F.col("domain_sessionid")) < REGULAR_SESSIONS / sessions
    user = F.when(is_regular, F.lit(REGULAR)).otherwise(F.col("domain_userid"))
    return events.withColumn("domain_userid", user).unionByName(_bot(spark, events, bot))


def _bot(spark: SparkSession, events: DataFrame, number: int) -> DataFrame:
    """One page ping, so many times within half a day, in one session."""
    ping = events.where(F.col("event_name") == "page_ping").limit(1).localCheckpoint()
    nth = F.col("windrow_nth")
    later = F.make_dt_interval(secs=nth * F.lit(_HALF_A_DAY_US / number / 1_000_000))
    times = {name: F.col(name) + later for name, kind in ping.dtypes if kind == "timestamp"}
    again = spark.range(number).withColumnRenamed("id", "windrow_nth").crossJoin(F.broadcast(ping))
    return again.withColumns(
        {"event_id": uuid("bot", nth), "domain_sessionid": F.lit(BOT), **times}
    ).drop("windrow_nth")


def _numbers(rows: DataFrame) -> dict[str, int]:
    """What rows of events, sessions or users tell that must be the same in all three."""
    is_regular = F.col("domain_userid") == REGULAR
    measures = {"rows": F.count(F.lit(1)), "users": F.count_distinct("domain_userid")}
    if "domain_sessionid" in rows.columns:
        session = F.col("domain_sessionid")
        measures["sessions"] = F.count_distinct(session)
        measures["sessions of one user"] = F.count_distinct(F.when(is_regular, session))
    else:
        measures["sessions"] = F.sum("sessions")
        measures["sessions of one user"] = F.sum(F.when(is_regular, F.col("sessions")))
    return rows.agg(*(it.alias(name) for name, it in measures.items())).collect()[0].asDict()


def _say(what: str, numbers: dict[str, int]) -> None:
    told = ", ".join(f"{number:,} {name}" for name, number in numbers.items())
    sys.stdout.write(f"{what}: {told}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
