"""A page for each package: every table that it can make, from the models that make them."""

from __future__ import annotations

from table_sections import Table, page

from windrow.columns.rules import column
from windrow.config import ModelSettings
from windrow.engine.destination import Destination
from windrow.models.model import Model
from windrow.models.package import Package
from windrow.packages import SETTINGS
from windrow.packages.normalize.event_table import event_table
from windrow.packages.normalize.filtered_events import COLUMNS as FILTERED_COLUMNS
from windrow.packages.normalize.filtered_events import filtered_events
from windrow.packages.normalize.settings import NormalizeSettings
from windrow.packages.normalize.tables import (
    EVENT_COLUMNS,
    LATEST_COLUMNS,
    event_tables,
    users_table,
)
from windrow.packages.normalize.users import users
from windrow.packages.web.settings import ConversionEvent
from windrow.tables import TableName

INTRO = """# The {name} package

The package's tables: what a row is, key, layout, and every column with its type and its rule. The
rules are also the columns' comments in the tables. Names are those of the SQL package, so existing
queries keep working. Where windrow's values differ from it by default:
[what `compat: true` changes](compat.md).
What windrow remembers between runs: [state.md](state.md). What a run costs:
[how a run works](how-a-run-works.md).

"""

INTROS = {
    "normalize": """# The normalize package

A table per event type, with the fields of its payload as columns; a table that says which events
went where; a table of users. Which there are, and which columns they have, your configuration says:
[how to write it](normalizing.md). Below are the kinds of tables there are.

"""
}
"""Package -> what its page begins with, where it is not INTRO."""

OPTIONAL_COLUMNS: dict[str, dict[str, object]] = {
    "web": {
        "list_event_counts": True,
        "total_all_conversions": True,
        "conversion_events": (
            # The name stands for any: it is no valid one.
            ConversionEvent.model_construct(
                name="<name>", condition="true", value="1", default_value=0, list_events=True
            ),
        ),
    },
    "ecommerce": {"count_distinct_products_viewed": True},
    # The package does not run without a player; two of them make no other tables than one.
    "media_player": {"enable_youtube": True, "enable_whatwg_media": True},
}
"""Package -> options that add columns to its tables, beside the `enable_…` ones."""


def package_page(package: Package) -> str:
    """The page of a package."""
    intro = INTROS.get(package.name, INTRO.format(name=package.name))
    return page(intro, tables_of(package))


def tables_of(package: Package) -> list[Table]:
    """Every table that the package can make, with every column that an option can add."""
    if package.name == "normalize":
        return _normalize_tables()
    everything = everything_on(package)
    return [
        _described(package, member, everything)
        for member in package.enabled_models(everything)
        if member.kind != "this_run"
    ]


def everything_on(package: Package) -> ModelSettings:
    """The package's settings with every option on that adds tables or columns."""
    if package.name == "normalize":
        return _some_normalized()
    return _settings(package, *_enabling(package))


def _some_normalized() -> NormalizeSettings:
    entry = {"event_names": ["<event_name>"], "event_columns": []}
    return NormalizeSettings.model_validate({"events": [entry], "users": {"user_columns": []}})


def _normalize_tables() -> list[Table]:
    """The kinds of tables that normalize makes: which there are, a project's configuration says."""
    settings = _some_normalized()
    (of_events,) = event_tables(settings)
    of_users = users_table(settings)
    assert of_users is not None
    own = {"<event column>": column("as stored", "Column of the event, as `event_columns` lists.")}
    fields = {
        "<alias>_<field>": column(
            "as stored", "Field of a self-describing event, or of the first context of a kind."
        )
    }
    user_id = {of_users.key: column("as stored", "Id of the user, under the alias given.")}
    of_user = {
        "<user column>": column("as stored", "Column of the latest event, as `user_columns` lists.")
    }
    kinds = {
        "<prefix>_<event name>_<version>": (
            event_table(of_events),
            {**EVENT_COLUMNS, **own, **fields},
        ),
        "<filtered_events_table_name>": (
            filtered_events("filtered", [of_events]),
            FILTERED_COLUMNS,
        ),
        "<users_table_name>": (
            users(of_users),
            {
                **user_id,
                **LATEST_COLUMNS,
                **of_user,
                "<field>": fields["<alias>_<field>"],
            },
        ),
    }
    return [
        Table(
            name,
            member.description,
            member.grain,
            member.key,
            columns,
            date=member.date,
            partition=(f"{member.date}_date",),
        )
        for name, (member, columns) in kinds.items()
    ]


def _enabling(package: Package) -> list[str]:
    fields = SETTINGS[package.name].model_fields
    return [name for name in fields if name.startswith("enable_")]


def _settings(package: Package, *options: str) -> ModelSettings:
    """The package's settings with the named options on, and all that adds columns."""
    extra = OPTIONAL_COLUMNS.get(package.name, {})
    return SETTINGS[package.name].model_validate({**dict.fromkeys(options, True), **extra})


def _described(package: Package, member: Model, settings: ModelSettings) -> Table:
    columns = member.columns_for(settings) or {}
    # The schema does not matter for the layout.
    destination = Destination(TableName("", member.full_name), member.key, member.date)
    return Table(
        member.full_name,
        member.description,
        member.grain,
        member.key,
        columns,
        date=member.date,
        partition=destination.partition(columns),
        is_rebuilt=member.kind == "rebuilt",
        is_state=member.is_state,
        options=_options_of(package, member),
    )


def _options_of(package: Package, member: Model) -> list[str]:
    """The options that, each by itself, make the model one of the package's."""

    def has_it(*options: str) -> bool:
        models = package.enabled_models(_settings(package, *options))
        return any(other.name == member.name for other in models)

    return [] if has_it() else [option for option in _enabling(package) if has_it(option)]
