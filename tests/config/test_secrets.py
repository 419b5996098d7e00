"""Secrets never reach an error, a repr or a description."""

import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project_files import Loaded, with_web
from windrow.config import InvalidConfigError, load
from windrow.config.secrets import looks_secret, redacted, without_secrets
from windrow.errors import ConfigError
from windrow.packages import SETTINGS

SECRET = "hunter2"


def target(lines: str) -> str:
    return f"name: x\ntargets: {{dev: {{warehouse: w, spark: {lines}}}}}\n"


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "spark.hadoop.fs.s3a.secret.key",
        "API_TOKEN",
        "awsCredentials",
        "account-key",
        "db_pwd",
        "spark.sql.catalog.lake.credential",
        "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net",
        "spark.hadoop.fs.azure.sas.events.shop.blob.core.windows.net",
        "spark.sql.catalog.lake.header.Authorization",
        "ssl.passphrase",
    ],
)
def test_names_that_look_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["warehouse", "spark.sql.ansi.enabled", "assassin", "signal"])
def test_names_that_do_not(name: str) -> None:
    assert not looks_secret(name)


def test_what_a_program_says_is_shown_without_the_secrets_it_was_given() -> None:
    settings = {"acme.credential": SECRET, "acme.user": "somebody"}
    said = f"Cannot log somebody in with {SECRET}"
    assert without_secrets(said, settings) == "Cannot log somebody in with ***"


@pytest.mark.parametrize(
    "text",
    [
        target("{conf: {spark.my.password: [hunter2]}}"),
        target("{conf: {a: {my_token: hunter2}}}"),
        target("{conf: ['password=hunter2']}"),
        target("{conf: 'sc://me:hunter2@host'}"),
        target("{remote: 'sc://h/;token=hunter2', master: yarn}"),
        target("{access_key: hunter2}"),
        target("{conf: ['${DB_PASSWORD}']}"),
        with_web("api_key: hunter2"),
        with_web("heartbeat: ${DB_PASSWORD}"),
        with_web("heartbeat: x-${DB_PASSWORD}"),
        with_web("reference: {secret: hunter2}"),
        "name: ${PASSWORD:hunter2}\n",
        "name: x\npassword: hunter2: 2\n",
        "password: hunter2\npassword: hunter2\n",
    ],
)
def test_errors_never_show_secrets(loaded: Loaded, text: str) -> None:
    with pytest.raises(ConfigError) as error:
        loaded(text, environ={"DB_PASSWORD": SECRET})
    assert SECRET not in "".join(traceback.format_exception(error.value))
    assert SECRET not in repr(getattr(error.value, "problems", ""))


def test_secret_number_from_a_variable_is_not_shown(loaded: Loaded) -> None:
    with pytest.raises(InvalidConfigError) as error:
        loaded(with_web("heartbeat: ${MY_TOKEN}"), environ={"MY_TOKEN": "-4711"})
    assert "4711" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        target("{conf: {spark.my.password: hunter2}}"),
        target("{conf: {spark.harmless: '${DB_PASSWORD}'}}"),
        target("{conf: {spark.harmless: 'x-${DB_PASSWORD}'}}"),
        target("{remote: 'sc://host/;token=hunter2'}"),
        target("{}") + "events: {path: x, options: {credentials: hunter2}}\n",
        target("{}") + "events: {path: 'https://me:hunter2@host/x'}\n",
        target("{}") + "events: {path: 'https://host/x?sv=1&sig=hunter2'}\n",
    ],
)
def test_config_never_shows_secrets(loaded: Loaded, text: str) -> None:
    config = loaded(text, environ={"DB_PASSWORD": SECRET})
    shown = [repr(config), str(config), str(config.chosen_target)]
    assert not any(SECRET in text for text in shown)
    assert any("***" in text for text in shown)


def test_the_secret_itself_is_kept_for_spark(loaded: Loaded) -> None:
    config = loaded(target("{conf: {a.key: '${DB_PASSWORD}'}}"), environ={"DB_PASSWORD": SECRET})
    assert config.chosen_target.spark.conf == {"a.key": SECRET}


@given(
    key=st.sampled_from(["password", "Secret", "x.token", "key", "credential"]),
    around=st.lists(st.text(max_size=3), max_size=3),
    secret=st.text("0123456789abcdef", min_size=12),
)
def test_secret_is_starred_however_deep_it_lies(key: str, around: Any, secret: str) -> None:
    tree: object = {key: secret}
    for name in around:
        tree = {name: [tree]}
    assert secret not in str(redacted(tree))


def test_environment_is_read_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_TEST_NAME", "shop")
    file = tmp_path / "windrow.yml"
    file.write_text("name: ${WINDROW_TEST_NAME}\ntargets: {dev: {warehouse: w}}\n")
    assert load(tmp_path, SETTINGS).name == "shop"
