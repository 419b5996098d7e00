"""Loading windrow.yml: finding it, reading it, choosing a target, laying --vars over it."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from project_files import MINIMAL, Loaded, Problems, Web, with_web
from windrow.config import (
    EventsSource,
    InvalidConfigError,
    Schemas,
    SparkSettings,
    find_project,
    load,
)
from windrow.errors import ConfigError
from windrow.packages import SETTINGS
from windrow.packages.web.settings import WebSettings

TWO_TARGETS = """
name: shop
target: dev
targets:
  dev: {warehouse: ./warehouse}
  prod: {catalog: lake, format: iceberg}
"""

SAMPLE = """
name: shop
target: dev                      # default target; --target overrides
targets:
  dev:
    warehouse: ./warehouse       # folder or object-store prefix …
    # catalog: lake              # … or the name of a configured Spark catalog
    format: delta                # delta | iceberg
    spark:
      master: local[*]           # local[*] | spark://… | yarn | k8s://…
      # remote: sc://host:15002  # Spark Connect instead of master
      conf: {}
schemas: {derived: derived, scratch: scratch, manifest: snowplow_manifest}
events:
  path: ./events                 # or  table: atomic.events
  format: parquet                # parquet | delta | iceberg | json | csv
  options: {}
packages:
  web:
    start_date: 2024-01-01
    backfill_limit_days: 30
    lookback_window_hours: 6
"""


def test_project_is_found_from_a_folder_inside_it(tmp_path: Path) -> None:
    (tmp_path / "windrow.yml").touch()
    inside = tmp_path / "models" / "deep"
    inside.mkdir(parents=True)
    assert find_project(inside) == tmp_path


def test_missing_project_says_where_it_looked_and_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="windrow init") as error:
        find_project(tmp_path)
    assert str(tmp_path) in str(error.value)


def test_sample_of_the_design_loads(loaded: Loaded, tmp_path: Path) -> None:
    config = loaded(SAMPLE)
    assert (config.name, config.target, config.project_dir) == ("shop", "dev", tmp_path)
    assert config.chosen_target.warehouse == str(tmp_path / "warehouse")
    assert config.chosen_target.spark.master == "local[*]"
    assert config.schemas == Schemas()
    assert config.events == EventsSource(path=str(tmp_path / "events"))
    assert config.packages["web"].start_date == date(2024, 1, 1)


@pytest.mark.parametrize(
    ("text", "packages"),
    [
        ("", {}),
        ("packages:\n", {}),
        ("packages:\n  web:\n", {"web": WebSettings()}),
        ("schemas:\n", {}),
    ],
)
def test_an_empty_part_is_the_default(
    loaded: Loaded, text: str, packages: dict[str, WebSettings]
) -> None:
    config = loaded(MINIMAL + text)
    assert config.schemas == Schemas()
    assert config.packages == packages


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("- a\n", "is a list, expected keys"),
        ("name: [shop\n", r"windrow.yml, line 2, column 1: not valid YAML"),
        ("name: [x-${A}]\n", "put quotes around"),
        ("name: a\nname: b\n", "line 2: the key 'name' stands here for the second time"),
        ("a: {b: 1, b: 2}\n", "the key 'b' stands here for the second time"),
        ("a: 1\n---\nb: 2\n", "line 2"),
        ("a: \x00\n", "not valid YAML"),
        ("a: !!python/name:os.system\n", "not valid YAML"),
        ("a: &a {b: *a}\n", "contains itself"),
        (f"a: {'9' * 5000}\n", "a number that cannot be read"),
        (f"a: {'[' * 2000}", "nests too deeply"),
    ],
)
def test_file_that_is_no_plain_yaml_is_refused(loaded: Loaded, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        loaded(text)


def test_merge_keys_are_not_repeated_keys(loaded: Loaded) -> None:
    config = loaded(
        "name: shop\ntarget: c\ntargets:\n"
        "  a: &a {warehouse: ./w}\n"
        "  b: &b {<<: *a, format: delta}\n"
        "  c: {<<: *b, format: iceberg}\n"
    )
    assert config.chosen_target.format == "iceberg"


def test_missing_or_unreadable_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path, SETTINGS)
    (tmp_path / "windrow.yml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(tmp_path, SETTINGS)


@pytest.mark.parametrize(
    ("text", "path", "found", "expected"),
    [
        ("targets: {dev: {warehouse: w}}", "name", "missing", "a value"),
        ("name: shop", "targets", "missing", "a value"),
        ("name: 7\ntargets: {dev: {warehouse: w}}", "name", "7", "text (put quotes"),
        ("name: shop\ntargets: {}", "targets", "{}", "at least one entry"),
        ("name: shop\ntargets: {dev: w}", "targets.dev", '"w"', "a mapping"),
        ("name: shop\ntargets: {dev: {}}", "targets.dev", "{}", "exactly one of `warehouse`"),
        (
            "name: shop\ntargets: {dev: {warehouse: w, catalog: c}}",
            "targets.dev",
            '{"warehouse": "w", "catalog": "c"}',
            "exactly one of `warehouse` and `catalog`",
        ),
        (
            "name: shop\ntargets: {dev: {warehouse: w, format: dleta}}",
            "targets.dev.format",
            '"dleta"',
            "'delta' or 'iceberg'",
        ),
        (MINIMAL + "schemas: {derived: a-b}", "schemas.derived", '"a-b"', "a name of letters"),
        (MINIMAL + "events: {path: x, format: xml}", "events.format", '"xml"', "'parquet'"),
        (MINIMAL + "packages: [web]", "packages", '["web"]', "a mapping"),
        (MINIMAL + "packages: {web: [a]}", "packages.web", '["a"]', "a mapping"),
    ],
)
def test_wrong_value_in_the_file_is_named(
    problems: Problems, text: str, path: str, found: str, expected: str
) -> None:
    (problem,) = problems(text)
    assert (problem.file, problem.path, problem.found) == ("windrow.yml", path, found)
    assert problem.expected.startswith(expected)


@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        (with_web("heartbeet: 3"), "packages.web.heartbeet", " Did you mean 'heartbeat'?"),
        (
            with_web("snowplow__start_dat: 3"),
            "packages.web.snowplow__start_dat",
            " Did you mean 'start_date'?",
        ),
        (MINIMAL + "event: x", "event", " Did you mean 'events'?"),
        (MINIMAL + "schemas: {derivd: x}", "schemas.derivd", " Did you mean 'derived'?"),
        (
            MINIMAL + "events: {path: x, qq: 1}",
            "events.qq",
            " Known here: format, new_by, options, path, read_once, table.",
        ),
        (MINIMAL + "packages: {wbe: {}}", "packages.wbe", " Did you mean 'web'?"),
        (
            MINIMAL + "packages: {snowplow_web: {}}",
            "packages.snowplow_web",
            " Did you mean 'web'?",
        ),
        (
            with_web("conversion_events: [{name: a, condition: x, valu: y}]"),
            "packages.web.conversion_events.0.valu",
            " Did you mean 'value'?",
        ),
        (
            "name: x\ntargets: {dev: {warehouse: w, spark: {mastr: y}}}",
            "targets.dev.spark.mastr",
            " Did you mean 'master'?",
        ),
        (
            "name: x\ntargets: {dev: {warehouse: w, name: y}}",
            "targets.dev.name",
            " Known here: catalog, format, schemas, spark, warehouse.",
        ),
    ],
)
def test_unknown_key_is_an_error_with_the_nearest_known_one(
    problems: Problems, text: str, path: str, hint: str
) -> None:
    (problem,) = problems(text)
    assert (problem.path, problem.expected, problem.hint) == (path, "", hint)
    assert "there is no such key." in str(problem)


def test_all_problems_come_in_one_error(loaded: Loaded) -> None:
    with pytest.raises(InvalidConfigError) as error:
        loaded(with_web("heartbeet: 3\ncompat: 7") + "schemas: {derived: 1}")
    assert str(error.value) == (
        "The configuration has 3 problems:\n"
        "  windrow.yml: schemas.derived is 1, expected text (put quotes around it).\n"
        "  windrow.yml: packages.web.compat is 7, expected true or false.\n"
        "  windrow.yml: packages.web.heartbeet is 3; there is no such key."
        " Did you mean 'heartbeat'?"
    )
    assert error.value.exit_code == 2


# --- targets


@pytest.mark.parametrize(("asked", "chosen"), [(None, "dev"), ("prod", "prod")])
def test_target_is_the_asked_one_or_the_default(
    loaded: Loaded, asked: str | None, chosen: str
) -> None:
    config = loaded(TWO_TARGETS, target=asked)
    assert config.target == config.chosen_target.name == chosen
    assert set(config.targets) == {"dev", "prod"}


def test_the_only_target_needs_no_naming(loaded: Loaded) -> None:
    assert loaded(MINIMAL).target == "dev"


def test_several_targets_need_a_default(loaded: Loaded) -> None:
    with pytest.raises(ConfigError, match=r"several targets \(dev, prod\)"):
        loaded(TWO_TARGETS.replace("target: dev\n", ""))


def test_unknown_target_lists_the_known_ones(loaded: Loaded) -> None:
    with pytest.raises(ConfigError, match=r"no target 'prd'; it has: dev, prod. Did you mean 'pr"):
        loaded(TWO_TARGETS, target="prd")


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("./lake", "{project}/lake"),
        ("lake", "{project}/lake"),
        ("../lake", "{parent}/lake"),
        ("/lake", "/lake"),
        ("s3://bucket/lake", "s3://bucket/lake"),
        ("dbfs:/lake", "dbfs:/lake"),
        ("~/lake", "{home}/lake"),
    ],
)
def test_relative_paths_are_seen_from_the_project(
    loaded: Loaded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, seen: str
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    config = loaded(
        f"name: x\ntargets: {{dev: {{warehouse: {written}, spark: {{jars: [{written}]}}}}}}\n"
        f"events: {{path: {written}}}\n"
        f"packages: {{web: {{events: {{path: {written}}}, reference: {{sources: {written}}}}}}}\n"
    )
    expected = seen.format(project=tmp_path, parent=tmp_path.parent, home="/home/me")
    web = config.packages["web"]
    assert isinstance(web, WebSettings)
    assert config.chosen_target.warehouse == expected
    assert config.chosen_target.spark.jars == (expected,)
    assert config.events_of("web") == web.events == config.events == EventsSource(path=expected)
    assert web.reference.sources == expected


# --- spark


def spark_of(loaded: Loaded, lines: str) -> SparkSettings:
    return loaded(
        f"name: x\ntargets: {{dev: {{warehouse: w, spark: {lines}}}}}"
    ).chosen_target.spark


def test_master_is_local_unless_remote_is_given(loaded: Loaded) -> None:
    assert spark_of(loaded, "{}").master == "local[*]"
    remote = spark_of(loaded, "{remote: 'sc://host:15002'}")
    assert (remote.master, remote.remote) == (None, "sc://host:15002")


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        ("{master: yarn, remote: 'sc://h'}", "", "only one of `master` and `remote`"),
        ("{remote: host}", ".remote", "a Spark Connect address"),
        ("{conf: {a: {b: c}}}", ".conf.a", "text"),
    ],
)
def test_spark_refuses(problems: Problems, lines: str, path: str, expected: str) -> None:
    (problem,) = problems(f"name: x\ntargets: {{dev: {{warehouse: w, spark: {lines}}}}}")
    assert problem.path == f"targets.dev.spark{path}"
    assert problem.expected.startswith(expected)


def test_scalars_in_conf_become_text(loaded: Loaded) -> None:
    conf = spark_of(loaded, "{conf: {a: 1, b: true, c: 0.5, d: x}}").conf
    assert conf == {"a": "1", "b": "true", "c": "0.5", "d": "x"}


# --- events


def test_package_without_any_events_says_so(loaded: Loaded) -> None:
    config = loaded(with_web(""))
    with pytest.raises(ConfigError, match="does not say where the events of 'web' are"):
        config.events_of("web")
    with pytest.raises(ConfigError, match=r"no package 'wep'. Did you mean 'web'"):
        config.events_of("wep")


def test_events_of_a_package_win_over_the_project_ones(loaded: Loaded) -> None:
    config = loaded(with_web("events: a.b") + "events: {table: c.d}")
    assert config.events_of("web") == EventsSource(table="a.b")


# --- spellings


def test_prefixed_spelling_is_the_same_option(web: Web) -> None:
    settings = web(
        "snowplow__start_date: '2022-08-19'\nsnowplow__app_id: []\nsnowplow__heartbeat: 7"
    )
    assert (settings.start_date, settings.app_id, settings.heartbeat) == (date(2022, 8, 19), (), 7)


def test_problem_with_a_prefixed_option_names_it_as_written(problems: Problems) -> None:
    (problem,) = problems(with_web("snowplow__heartbeat: x"))
    assert problem.path == "packages.web.snowplow__heartbeat"


def test_both_spellings_at_once_are_refused(problems: Problems) -> None:
    (problem,) = problems(with_web("heartbeat: 1\nsnowplow__heartbeat: 2"))
    assert problem.path == "packages.web.snowplow__heartbeat"
    assert problem.expected.startswith("one spelling only")


def test_options_without_meaning_on_spark_are_accepted_and_listed(loaded: Loaded) -> None:
    config = loaded(
        with_web("snowplow__query_tag: x\nhas_log_enabled: false\niab_context: '{{ source() }}'"),
        vars={"snowplow__disable_errors": True},
    )
    assert config.ignored_options == (
        "packages.web.snowplow__query_tag",
        "packages.web.has_log_enabled",
        "packages.web.iab_context",
        "snowplow__disable_errors",
    )


@pytest.mark.parametrize(
    ("line", "path", "hint"),
    [
        ("vars: {snowplow_web: {snowplow__heartbeat: 7}}", "vars", "e.g. packages.web; snowplow__"),
        ("snowplow__heartbeat: 7", "snowplow__heartbeat", "packages.web.snowplow__heartbeat."),
        ("query_tag: x", "query_tag", "It is an option of a package: packages.web.query_tag."),
    ],
)
def test_options_pasted_at_the_top_are_told_where_to_stand(
    problems: Problems, line: str, path: str, hint: str
) -> None:
    (problem,) = problems(f"{MINIMAL}\n{line}\n")
    assert problem.path == path
    assert "there is no such key" in str(problem)
    assert hint in problem.hint


# --- vars


@pytest.mark.parametrize(
    "values",
    [
        {"web": {"heartbeat": 7}},
        {"web": {"snowplow__heartbeat": 7}},
        {"heartbeat": 7},
        {"snowplow__heartbeat": 7},
        {"heartbeat": 5, "web": {"heartbeat": 7}},
    ],
)
def test_vars_win_over_the_file(web: Web, values: Any) -> None:
    settings = web("snowplow__heartbeat: 3\nmin_visit_length: 4", vars=values)
    assert (settings.heartbeat, settings.min_visit_length) == (7, 4)


def test_vars_replace_an_option_whole(web: Web) -> None:
    settings = web("events: {path: /a}", vars={"web": {"events": {"table": "b.c"}}})
    assert settings.events == EventsSource(table="b.c")


@pytest.mark.parametrize(
    ("values", "path", "message"),
    [
        ({"heartbeet": 7}, "heartbeet", "Did you mean 'heartbeat'?"),
        ({"snowplow__heartbeet": 7}, "snowplow__heartbeet", "Did you mean 'heartbeat'?"),
        ({"web": {"heartbeet": 7}}, "web.heartbeet", "Did you mean 'heartbeat'?"),
        ({"wev": {}}, "wev", "Did you mean 'web'?"),
        ({"web": {"heartbeat": "7"}}, "web.heartbeat", "a whole number"),
        ({"heartbeat": "7"}, "heartbeat", "a whole number"),
        ({"web": 7}, "web", "a mapping of options to values"),
        ({"heartbeat": 1, "snowplow__heartbeat": 1}, "snowplow__heartbeat", "one spelling only"),
    ],
)
def test_wrong_vars_are_named_as_written(
    problems: Problems, values: Any, path: str, message: str
) -> None:
    (problem,) = problems(with_web(""), vars=values)
    assert (problem.file, problem.path) == ("--vars", path)
    assert message in str(problem)


def test_vars_for_a_package_the_file_lacks_are_refused(problems: Problems) -> None:
    (problem,) = problems(MINIMAL, vars={"web": {"heartbeat": 7}})
    assert (problem.path, problem.expected) == ("web", "a package that windrow.yml has")


def test_project_dir_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "windrow.yml").write_text(MINIMAL)
    monkeypatch.chdir(tmp_path)
    assert load(Path(), SETTINGS, environ={}).project_dir == tmp_path
