"""Apps: the shop's application on phones, made of the same visitors, pages and times as the site.

Until the hard cases have been applied an event carries its ids where a website's does, so that
whatever goes wrong goes wrong in the same way; then they move to the client-session entity.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.atomic.columns import STANDARD_COLUMNS
from windrow.atomic.entity_columns import (
    APPLICATION,
    APPLICATION_ERROR,
    CLIENT_SESSION,
    ENTITY_COLUMNS,
    GEOLOCATION,
    MOBILE_CONTEXT,
    SCREEN,
    SCREEN_VIEW,
    WEB_PAGE,
)
from windrow.demo.draws import between, draw, key, nth, one_of, uuid, weighted_index

ANONYMOUS_DEVICE = "00000000-0000-0000-0000-000000000000"

SCREENS = ("home", "products", "product", "checkout", "my_account")
"""By the kind of page."""

_VERSIONS = (("412", "4.1.2"), ("420", "4.2.0"), ("421", "4.2.1"))
_ERRORS = ("NullPointerException", "IndexOutOfBoundsException", "TimeoutException")

_APP_ENTITIES = {
    entity.name
    for entity in (
        *(CLIENT_SESSION, SCREEN_VIEW, SCREEN),
        *(MOBILE_CONTEXT, GEOLOCATION, APPLICATION, APPLICATION_ERROR),
    )
}
_OF_WEBSITES = (
    *("domain_", "page_", "refr_", "mkt_", "br_", "pp_", "doc_", "se_", "tr_", "ti_"),
    *("base_currency", "dvce_type"),
)


class Phone(NamedTuple):
    """One kind of phone, and how many of a hundred visitors have it."""

    weight: int
    manufacturer: str
    model: str
    os: str
    os_version: str
    width: int
    height: int
    tracker: str


PHONES = (
    Phone(34, "Apple Inc.", "iPhone15,2", "ios", "17.4", 390, 844, "ios-6.0.5"),
    Phone(12, "Apple Inc.", "iPhone12,1", "ios", "16.6", 414, 896, "ios-6.0.5"),
    Phone(26, "samsung", "SM-S911B", "android", "14", 360, 780, "andr-6.0.4"),
    Phone(16, "Google", "Pixel 7", "android", "14", 412, 915, "andr-6.0.4"),
    Phone(12, "Xiaomi", "2201117TY", "android", "13", 393, 873, "andr-6.0.4"),
)


def app_events_of(site_events: DataFrame) -> DataFrame:
    """The events of sessions as an app would name them, with the entities that phones send."""
    phone = weighted_index([p.weight for p in PHONES], draw("phone", F.col("visitor_key")))
    named = site_events.withColumn("phone", phone).withColumn("event_name", _event_name())
    return named.withColumns(_entities())


def as_app_rows(rows: DataFrame) -> DataFrame:
    """Event rows as a phone's tracker sends them: nothing of a website, the ids in their entity."""
    session = F.get(F.col(CLIENT_SESSION.name), F.lit(0))
    identified = F.array(
        session.withField("session_id", F.col("domain_sessionid"))
        .withField("session_index", F.col("domain_sessionidx"))
        .withField("user_id", F.coalesce("domain_userid", F.lit(ANONYMOUS_DEVICE)))
    )
    screen_view_id = F.get(F.col(WEB_PAGE.name), F.lit(0)).getField("id")
    model = F.get(F.col(MOBILE_CONTEXT.name), F.lit(0)).getField("device_model")
    phone = F.array_position(F.array(*(F.lit(p.model) for p in PHONES)), model).cast("int") - 1
    values = {
        CLIENT_SESSION.name: F.when(F.col("domain_sessionid").isNotNull(), identified),
        SCREEN_VIEW.name: F.when(
            F.col(SCREEN_VIEW.name).isNotNull(),
            F.col(SCREEN_VIEW.name).withField("id", screen_view_id),
        ),
        "app_id": F.lit("shop-app"),
        "platform": F.lit("mob"),
        "event": F.lit("unstruct"),
        "event_vendor": F.lit("com.snowplowanalytics.mobile"),
        "name_tracker": F.lit("app"),
        "v_tracker": nth([p.tracker for p in PHONES], phone),
        "useragent": F.concat_ws(" ", F.lit("Shop/4"), model),
        "dvce_ismobile": F.lit(True),
        "dvce_screenwidth": nth([p.width for p in PHONES], phone, "int"),
        "dvce_screenheight": nth([p.height for p in PHONES], phone, "int"),
    }
    others = {e.name for e in ENTITY_COLUMNS if e.name not in _APP_ENTITIES}
    others |= {name for name in STANDARD_COLUMNS if name.startswith(_OF_WEBSITES)}
    types = dict(rows.dtypes)
    return rows.select(
        *(
            (F.lit(None) if name in others else values.get(name, F.col(name)))
            .cast(types[name])
            .alias(name)
            for name in rows.columns
        )
    )


def _event_name() -> Column:
    """An app is installed once, opens screens, goes into the background and back, and fails."""
    slot = F.col("slot")
    is_first_visit = (F.col("visit_number") == 1) & (F.col("page_number") == 0)
    ordinary = weighted_index((60, 18, 18, 4), F.col("drawn"))
    names = ("button_click", "application_background", "application_foreground")
    return (
        F.when(is_first_visit & (slot == 0), "application_install")
        .when((slot == 0) | (is_first_visit & (slot == 1)), "screen_view")
        .otherwise(nth((*names, "application_error"), ordinary))
    )


def _entities() -> dict[str, Column]:
    visitor_key, session_key, page_key = (
        F.col(f"{name}_key") for name in ("visitor", "session", "page")
    )
    phone, name = F.col("phone"), F.col("event_name")
    screen = nth(SCREENS, F.col("page_kind"))
    is_ios = nth([p.os == "ios" for p in PHONES], phone, "boolean")
    version = between(0, len(_VERSIONS) - 1, "app version", session_key)
    return {
        CLIENT_SESSION.name: F.array(_client_session(visitor_key, session_key)),
        SCREEN_VIEW.name: F.when(name == "screen_view", _screen_view(screen)),
        SCREEN.name: F.array(_screen(page_key, screen, is_ios)),
        MOBILE_CONTEXT.name: F.array(_mobile_context(visitor_key, session_key, phone, is_ios)),
        GEOLOCATION.name: F.when(
            draw("location", visitor_key) < 0.5, F.array(_geolocation(session_key))
        ),
        APPLICATION.name: F.array(
            F.struct(
                nth([build for build, _ in _VERSIONS], version).alias("build"),
                nth([number for _, number in _VERSIONS], version).alias("version"),
            )
        ),
        APPLICATION_ERROR.name: F.when(
            name == "application_error", _application_error(page_key, screen, is_ios)
        ),
    }


def _client_session(visitor_key: Column, session_key: Column) -> Column:
    """The session; its ids come with `as_app_rows`."""
    has_predecessor = F.col("visit_number") > 1
    previous = uuid("session", key(visitor_key, F.col("visit_number") - 1))
    return F.struct(
        F.lit(None).cast("string").alias("session_id"),
        F.lit(None).cast("int").alias("session_index"),
        F.when(has_predecessor, previous).alias("previous_session_id"),
        F.lit(None).cast("string").alias("user_id"),
        uuid("event", key(session_key, F.lit(0))).alias("first_event_id"),
        F.lit(None).cast("timestamp").alias("first_event_timestamp"),
        F.lit(None).cast("int").alias("event_index"),
        F.lit("SQLITE").alias("storage_mechanism"),
    )


def _screen_view(screen: Column) -> Column:
    before = F.when(F.col("page_number") > 0, nth(SCREENS, F.col("page_before_kind")))
    has_before = before.isNotNull()
    return F.struct(
        F.lit(None).cast("string").alias("id"),
        screen.alias("name"),
        F.when(has_before, uuid("page view", F.col("page_before_key"))).alias("previous_id"),
        before.alias("previous_name"),
        F.when(has_before, F.lit("Activity")).alias("previous_type"),
        F.when(has_before, F.lit("push")).alias("transition_type"),
        F.lit("Activity").alias("type"),
    )


def _screen(page_key: Column, screen: Column, is_ios: Column) -> Column:
    def with_ending(what: str) -> Column:
        return F.concat(F.initcap(screen), F.lit(what))

    return F.struct(
        uuid("page view", page_key).alias("id"),
        screen.alias("name"),
        F.when(~is_ios, with_ending("Activity")).alias("activity"),
        F.lit(None).cast("string").alias("fragment"),
        F.when(is_ios, F.lit("TabBarController")).alias("top_view_controller"),
        F.lit("Activity").alias("type"),
        F.when(is_ios, with_ending("Controller")).alias("view_controller"),
    )


def _application_error(page_key: Column, screen: Column, is_ios: Column) -> Column:
    error = one_of(_ERRORS, "error", page_key)
    return F.struct(
        F.concat(error, F.lit(" on "), screen).alias("message"),
        F.when(is_ios, "SWIFT").otherwise("JAVA").alias("programming_language"),
        F.concat(F.initcap(screen), F.lit("Presenter")).alias("class_name"),
        error.alias("exception_name"),
        (draw("fatal", page_key) < 0.3).alias("is_fatal"),
        between(10, 400, "line", page_key).alias("line_number"),
        F.concat(F.lit("at shop.app."), screen).alias("stack_trace"),
        F.lit(1).cast("bigint").alias("thread_id"),
        F.lit("main").alias("thread_name"),
        F.lit(None).cast("string").alias("cause_stack_trace"),
        F.concat(F.initcap(screen), F.lit(".kt")).alias("file_name"),
        F.lit(None).cast("int").alias("line_column"),
    )


def _mobile_context(
    visitor_key: Column, session_key: Column, phone: Column, is_ios: Column
) -> Column:
    advertising_id = uuid("idfa", visitor_key)
    wifi = draw("wifi", session_key) < 0.6
    return F.struct(
        nth([p.manufacturer for p in PHONES], phone).alias("device_manufacturer"),
        nth([p.model for p in PHONES], phone).alias("device_model"),
        nth([p.os for p in PHONES], phone).alias("os_type"),
        nth([p.os_version for p in PHONES], phone).alias("os_version"),
        F.when(~is_ios, advertising_id).alias("android_idfa"),
        F.when(is_ios, advertising_id).alias("apple_idfa"),
        F.when(is_ios, uuid("idfv", visitor_key)).alias("apple_idfv"),
        one_of(("Vodafone", "Orange", "T-Mobile"), "carrier", visitor_key).alias("carrier"),
        F.lit(None).cast("string").alias("open_idfa"),
        F.when(~wifi, F.lit("LTE")).alias("network_technology"),
        F.when(wifi, "wifi").otherwise("mobile").alias("network_type"),
    )


def _geolocation(session_key: Column) -> Column:
    return F.struct(
        (draw("latitude", session_key) * 20 + 40).alias("latitude"),
        (draw("longitude", session_key) * 20 - 5).alias("longitude"),
        F.lit(12.5).alias("latitude_longitude_accuracy"),
        (draw("altitude", session_key) * 200).alias("altitude"),
        F.lit(3.0).alias("altitude_accuracy"),
        (draw("bearing", session_key) * 360).alias("bearing"),
        (draw("speed", session_key) * 3).alias("speed"),
    )
