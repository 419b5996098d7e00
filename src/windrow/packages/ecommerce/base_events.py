"""What the package stands on: e-commerce events, with the fields of their entities beside them."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import (
    CLIENT_SESSION,
    ECOMMERCE_ACTION,
    ECOMMERCE_CART,
    ECOMMERCE_CHECKOUT_STEP,
    ECOMMERCE_PAGE,
    ECOMMERCE_TRANSACTION,
    ECOMMERCE_USER,
    SCREEN,
    WEB_PAGE,
    EntityColumn,
)
from windrow.atomic.fields import first_of, page_view_id, unknown
from windrow.columns.rules import column
from windrow.config import flat, of_entity
from windrow.models.foundation import Foundation, Identifier
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

_USER = {f"ecommerce_user_{field}": field for field in ECOMMERCE_USER.fields}
_CHECKOUT = {
    "checkout_step_number": "step",
    **{f"checkout_{field}": field for field in ECOMMERCE_CHECKOUT_STEP.fields if field != "step"},
}
_PAGE = {f"ecommerce_page_{field}": field for field in ECOMMERCE_PAGE.fields}
_TRANSACTION = {
    "transaction_id": "transaction_id",
    **{
        f"transaction_{field}": field
        for field in ECOMMERCE_TRANSACTION.fields
        if field != "transaction_id"
    },
}
_CART = {
    "cart_id": "cart_id",
    "cart_currency": "currency",
    "cart_total_value": "total_value",
}
_CLIENT_SESSION = {
    **{
        field: field
        for field in (
            *("event_index", "first_event_id", "first_event_timestamp", "previous_session_id"),
            *("session_id", "session_index", "storage_mechanism"),
        )
    },
    "mobile_user_id": "user_id",
}
_SCREEN = {"screen_view_id": "id", "screen_view_name": "name"}

SWITCHES: dict[str, EntityColumn] = {
    "disable_ecommerce_user_context": ECOMMERCE_USER,
    "disable_ecommerce_checkouts": ECOMMERCE_CHECKOUT_STEP,
    "disable_ecommerce_page_context": ECOMMERCE_PAGE,
    "disable_ecommerce_transactions": ECOMMERCE_TRANSACTION,
    "disable_ecommerce_carts": ECOMMERCE_CART,
}
"""Option -> the entity that it leaves unread."""

_COLUMNS: tuple[tuple[EntityColumn, dict[str, str]], ...] = (
    (ECOMMERCE_USER, _USER),
    (ECOMMERCE_CHECKOUT_STEP, _CHECKOUT),
    (ECOMMERCE_PAGE, _PAGE),
    (ECOMMERCE_TRANSACTION, _TRANSACTION),
    (ECOMMERCE_CART, _CART),
    (CLIENT_SESSION, _CLIENT_SESSION),
    (SCREEN, _SCREEN),
)
"""Entities, each with the columns that events get from it, and the field that each holds."""

ADDED: Columns = {
    "domain_sessionid": column("string", "Id of the session, by the package's identifiers."),
    "domain_userid": column("string", "Id of the session's user, the same for all its events."),
    **{
        name: entity.fields[field]
        for entity, columns in _COLUMNS
        for name, field in columns.items()
    },
    "page_view_id": column(
        "string", "Id of the page view or, with `enable_mobile_events`, of the screen view."
    ),
    "ecommerce_action_type": ECOMMERCE_ACTION.fields["type"],
    "ecommerce_action_name": ECOMMERCE_ACTION.fields["name"],
    "event_in_session_index": column(
        "int",
        "Number of the event among its session's e-commerce events, in the order of their times; "
        "events of the same time share one.",
    ),
}
"""The columns that an event has beside, or in place of, those of the events table."""


def foundation(settings: EcommerceSettings) -> Foundation:
    """Sessions of all events of the wanted apps; of their events, those of e-commerce."""
    entities = read_entities(settings)
    session, user = [flat("domain_sessionid")], [flat("domain_userid")]
    if settings.enable_mobile_events:
        session.insert(0, of_entity(CLIENT_SESSION.name, "session_id"))
        user.insert(0, of_entity(CLIENT_SESSION.name, "user_id"))
    return Foundation(
        session_from=Identifier(tuple(session)),
        user_from=Identifier(tuple(user)),
        recorded_session="session_identifier",
        recorded_user="user_identifier",
        view="page_view_id",
        begins_at_recorded_start=True,
        keeps_originals=True,
        quarantine_table=settings.quarantined_sessions,
        reads=(
            *("domain_sessionid", "domain_userid", "event_name", "dvce_created_tstamp"),
            *(ECOMMERCE_ACTION.name, WEB_PAGE.name),
            *(entity.name for entity in entities),
        ),
        adds=lambda: _added(settings),
        keeps=_keeps(settings),
        adds_in_session=_in_session,
        counts=_counts,
    )


def read_entities(settings: EcommerceSettings) -> list[EntityColumn]:
    """The entities that events get columns from, under these settings."""
    wanted = [entity for switch, entity in SWITCHES.items() if not getattr(settings, switch)]
    return [*wanted, *((CLIENT_SESSION, SCREEN) if settings.enable_mobile_events else ())]


def _added(settings: EcommerceSettings) -> dict[str, Column]:
    known = read_entities(settings)
    found = {
        name: (first_of if entity in known else unknown)(entity, field)
        for entity, columns in _COLUMNS
        for name, field in columns.items()
    }
    web_page = page_view_id()
    is_mobile = settings.enable_mobile_events
    action = F.col(ECOMMERCE_ACTION.name)
    return {
        **found,
        "page_view_id": F.coalesce(found["screen_view_id"], web_page) if is_mobile else web_page,
        "ecommerce_action_type": action.getField("type"),
        "ecommerce_action_name": action.getField("name"),
    }


def _keeps(settings: EcommerceSettings) -> Callable[[], Column] | None:
    """True for events with one of the names: literals, which the source can look for itself.

    The reference compares without regard to case, which no source can.
    """
    names = settings.ecommerce_event_names
    if not names:
        return None
    lower = sorted({name.lower() for name in names})
    if settings.compat:
        return lambda: F.lower("event_name").isin(*lower)
    return lambda: F.col("event_name").isin(*sorted({*names, *lower}))


def _in_session() -> dict[str, Column]:
    in_order = W.partitionBy("domain_sessionid").orderBy("derived_tstamp")
    return {"event_in_session_index": F.dense_rank().over(in_order)}


def _counts() -> dict[str, Column]:
    is_transaction = F.col("ecommerce_action_type") == "transaction"
    return {"transactions_without_id": is_transaction & F.col("transaction_id").isNull()}
