"""Tables as the SQL packages leave them, taken over and gone on from.

Production is a project of windrow's own. Its tables are copied as any other writer would have made
them, without what windrow notes in tables and beside them; what comes of both must be the same.
"""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from website import Site, at, event
from windrow import Adoption, Project, RefusedError, State, TableError, UsageError
from windrow.cli import main

pytestmark = pytest.mark.ci

PAGE_VIEWS = "derived/snowplow_web_page_views"
MANIFEST = "manifest/snowplow_web_incremental_manifest"
MAPPING = "derived/snowplow_web_user_mapping"
QUARANTINE = "manifest/snowplow_web_base_quarantined_sessions"
LIFECYCLE = "manifest/snowplow_web_base_sessions_lifecycle_manifest"
NOW, LATER = "2024-01-03 00:00", "2024-01-05 00:00"


@dataclass(frozen=True)
class Taken:
    """A project with production and, in the target `dbt`, tables that someone else made."""

    site: Site

    @property
    def spark(self) -> SparkSession:
        return self.site.spark

    def project(self, target: str = "dbt", vars: dict | None = None) -> Project:
        return Project.load(self.site.folder, target=target, spark=self.spark, vars=vars)

    def place(self, table: str, schemas: str = "dbt_") -> str:
        return str(self.site.folder / "warehouse" / f"{schemas}{table}")

    def read(self, table: str) -> DataFrame:
        return self.spark.read.format("delta").load(self.place(table))

    def write(self, table: str, rows: DataFrame) -> None:
        """As another writer does it, laid out by day if the table has one."""
        days = [name for name in rows.columns if name == "start_tstamp_date"]
        writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        writer.partitionBy(*days).save(self.place(table))

    def windrow(self, *arguments: str) -> tuple[int, str]:
        out, err = StringIO(), StringIO()
        where = ("--project-dir", str(self.site.folder), "--target", "dbt", "-q")
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*arguments, *where], spark=self.spark)
        return code, " ".join((out.getvalue() + err.getvalue()).split())


def copied(taken: Taken) -> None:
    """Production's tables as the SQL package would have left them."""
    for schema, theirs in (("derived", "derived"), ("snowplow_manifest", "manifest")):
        for folder in (taken.site.folder / "warehouse" / schema).glob("snowplow_*"):
            if not folder.name.endswith("key_days"):
                rows = taken.spark.read.format("delta").load(str(folder))
                taken.write(f"{theirs}/{folder.name}", rows)
    users = taken.read("derived/snowplow_web_users")
    narrow = users.withColumns({"sessions": F.col("sessions").cast("int"), "note": F.lit("mine")})
    taken.write("derived/snowplow_web_users", narrow.drop("model_tstamp"))


@pytest.fixture(scope="module")
def taken(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    """Production ran once; its copy is as the SQL package would have left it."""
    site = Site(spark, tmp_path_factory.mktemp("taken"), format="delta")
    file = site.folder / "windrow.yml"
    tree = yaml.safe_load(file.read_text())
    own = {"derived": "dbt_derived", "scratch": "dbt_scratch", "manifest": "dbt_manifest"}
    tree["targets"]["dbt"] = {"warehouse": "./warehouse", "format": "delta", "schemas": own}
    tree["targets"]["lake"] = {"warehouse": "./lake", "format": "iceberg"}
    file.write_text(yaml.safe_dump(tree))
    taken = Taken(site)
    site.arrive(
        event("e1", "s1", "2024-01-01 10:00", page="p1", user_id="anna"),
        event("e2", "s1", "2024-01-01 10:30", page="p2"),
        event("e3", "s2", "2024-01-02 22:00", page="p3", cookie="other"),
    )
    taken.project("prod").run("web", now=at(NOW))
    copied(taken)
    return taken


@pytest.fixture(scope="module")
def planned(taken: Taken) -> Adoption:
    return taken.project().plan_adoption("web", now=at(NOW))


def test_a_dry_run_tells_tables_columns_types_and_positions(planned: Adoption):
    found = {it.table.name.removeprefix("snowplow_web_"): it for it in planned.tables}
    assert {name: it.rows for name, it in found.items()} == {
        **{"page_views": 3, "sessions": 2, "users": 2, "user_mapping": 1},
        "incremental_manifest": 12,
        "base_sessions_lifecycle_manifest": 2,
        "base_quarantined_sessions": 0,
    }
    users = found["users"]
    assert (list(users.adds), users.unknown) == (["model_tstamp"], ("note",))
    assert [(it.column, it.stored, it.wanted, it.misfits) for it in users.changes] == [
        ("sessions", "int", "bigint", 0)
    ]
    assert found["page_views"].layout.partition_by == ("start_tstamp_date",)
    assert {f"{it:%Y-%m-%d %H:%M}" for it in planned.positions.values()} == {"2024-01-02 22:00"}


def test_a_dry_run_tells_the_next_window_and_writes_nothing(taken: Taken, planned: Adoption):
    assert planned.plan is not None
    assert planned.plan.limits.state is State.STANDARD
    assert f"{planned.plan.limits.lower:%Y-%m-%d %H:%M}" == "2024-01-02 16:00"
    assert not (taken.site.folder / "warehouse/dbt_manifest/windrow_runs").exists()


SPOILT = {
    MANIFEST: (
        lambda rows: rows.union(rows.limit(1).withColumn("model", F.lit("my_dbt_model"))),
        "has models that windrow does not know: my_dbt_model. Bring them along",
    ),
    LIFECYCLE: (lambda rows: rows.union(rows), "has 2 keys (session_id) more than once"),
    QUARANTINE: (lambda rows: rows.drop("session_id").withColumn("id", F.lit(1)), "has no column"),
    PAGE_VIEWS: (
        lambda rows: rows.withColumn("engaged_time_in_s", F.lit("a while")),
        "'engaged_time_in_s' is string, expected bigint, and 3 of its values would not stay",
    ),
    MAPPING: (
        lambda rows: rows.withColumn("user_id", F.array(F.lit(1)).cast("array<int>")),
        "'user_id' is array<int>, expected string, which cannot be converted",
    ),
}
"""Table -> what someone made of it, and what is said of that."""


def test_all_that_is_in_the_way_is_said_before_anything_is_written(taken: Taken):
    before = {table: taken.read(table).localCheckpoint() for table in SPOILT}
    for table, (spoilt, _) in SPOILT.items():
        taken.write(table, spoilt(before[table]))
    try:
        with pytest.raises(RefusedError) as error:
            taken.project().adopt("web", now=at(NOW))
    finally:
        for table, rows in before.items():
            taken.write(table, rows)
    assert [it for _, it in SPOILT.values() if it not in str(error.value)] == []
    assert not (taken.site.folder / "warehouse/dbt_manifest/windrow_runs").exists()


def test_where_there_is_nothing_to_adopt_it_says_so(taken: Taken, spark: SparkSession):
    with pytest.raises(RefusedError, match="windrow has run here"):
        taken.project("prod").plan_adoption("web", now=at(NOW))
    with pytest.raises(UsageError, match="are Delta tables: adopt them in a target with"):
        taken.project("lake").plan_adoption("web", now=at(NOW))
    elsewhere = Site(spark, taken.site.folder / "elsewhere", format="delta").project()
    with pytest.raises(UsageError, match=r"set schemas\.manifest"):
        elsewhere.plan_adoption("web", now=at(NOW))


def test_what_fails_half_way_is_taken_back(taken: Taken):
    users = f"delta.`{taken.place('derived/snowplow_web_users')}`"
    taken.spark.sql(f"alter table {users} set tblproperties ('delta.appendOnly' = 'true')")
    ws = taken.project().workspace("web")
    before = ws.versions_of([ws.manifest])
    try:
        with pytest.raises(TableError, match="Could not change the types of"):
            taken.project().adopt("web", now=at(NOW))
    finally:
        taken.spark.sql(f"alter table {users} unset tblproperties ('delta.appendOnly')")
    assert ws.tables.note(ws.table(ws.model("page_views"))).key == ()
    assert ws.versions_of([ws.manifest]) == before
    assert [it.outcome for it in taken.project().status("web", now=at(NOW)).last_runs] == ["undone"]


def test_taken_over_tables_go_on_as_if_they_had_always_been_ours(taken: Taken):
    code, said = taken.windrow("adopt", "--now", NOW)
    assert code == 0
    assert "Would add the column model_tstamp. Would change sessions from int to bigint." in said
    assert "Keeps the column note, null in new rows" in said
    assert "Standard incremental run" in said
    assert "then add --apply" in said

    code, said = taken.windrow("adopt", "--apply", "--now", NOW, "--json")
    (adopted,) = json.loads(said)["packages"]
    assert (code, adopted["problems"], adopted["run_id"][:6]) == (0, [], "adopt-")
    ws = taken.project().workspace("web")
    assert ws.tables.note(ws.table(ws.model("users"))).key == ("domain_userid",)
    assert ws.tables.columns(ws.table(ws.model("users")))["sessions"] == "bigint"

    # A second time it finds its own work, and does nothing.
    code, said = taken.windrow("adopt", "--apply", "--now", NOW)
    assert (code, "This was taken over before" in said) == (0, True)

    taken.site.arrive(
        event("e4", "s2", "2024-01-02 22:30", page="p4", cookie="other"),
        event("e5", "s3", "2024-01-04 09:00", page="p5"),
        event("e1", "s1", "2024-01-01 10:00", page="p1", user_id="anna"),
    )
    assert taken.project().run("web", now=at(LATER)).plan.limits.state is State.STANDARD
    taken.project("prod").run("web", now=at(LATER))
    found = taken.project().diff("derived", "dbt_derived", ignore=["note"])
    assert found.is_equal, found
    states = taken.project().diff("snowplow_manifest", "dbt_manifest")
    assert states.is_equal, states
    with pytest.raises(RefusedError, match="there is nothing to adopt"):
        taken.project().adopt("web", now=at(LATER))
