"""carts: what became of each cart: bought, emptied, abandoned, or still open."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as W
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.columns.timestamps import literal
from windrow.models.checks import AcceptedValues
from windrow.models.model import Reads, StoredRows, model, stored
from windrow.packages.ecommerce.cart_interactions import is_cart_event
from windrow.packages.ecommerce.event_fields import EVENT_READS, MONEY
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

BOUGHT, EMPTIED, ABANDONED, OPEN = "bought", "emptied", "abandoned", "open"

_OF_FIRST = ("cart_id", "app_id", "domain_userid", "domain_sessionid")

COLUMNS: Columns = {
    "cart_key": column("string", "Id of the cart, or of its session where carts have no ids."),
    "cart_id": column("string", "Id of the cart; null if it has none."),
    "app_id": column("string", "Application of the cart's first event."),
    "domain_userid": column("string", "Id of the user of the cart's first session."),
    "domain_sessionid": column("string", "Id of the cart's first session."),
    "last_domain_sessionid": column("string", "Id of the session that touched the cart last."),
    "created_tstamp": column("timestamp", "When the cart was first touched."),
    "last_touched_tstamp": column("timestamp", "When the cart was last touched."),
    "cart_currency": column("string", "Currency of the cart's value."),
    "cart_value": column(MONEY, "Value of the cart when it was last told."),
    "cart_value_tstamp": column("timestamp", "When the value was last told."),
    "highest_value": column(MONEY, "Highest value that the cart had."),
    "bought_tstamp": column("timestamp", "When the cart was bought, for the last time."),
    "transaction_id": column("string", "Id of the transaction that bought the cart."),
    "status": column(
        "string",
        "`bought` if nothing came after a purchase, `emptied` if its value is 0, `abandoned` if "
        "nobody touched it for `cart_abandoned_after_hours`, else `open`.",
    ),
    "abandoned_tstamp": column("timestamp", "When an abandoned cart became one; null for others."),
    "created_tstamp_date": column("date", "Day of `created_tstamp` in UTC."),
}


@model(
    key="cart_key",
    date="created_tstamp",
    columns=COLUMNS,
    reads=Reads(EVENT_READS),
    checks=[AcceptedValues("status", (BOUGHT, EMPTIED, ABANDONED, OPEN))],
)
def carts(
    events: DataFrame,
    settings: EcommerceSettings,
    until: datetime,
    known: StoredRows = stored("carts", by="cart_key"),
    all_carts: DataFrame = stored("carts"),
) -> DataFrame:
    """One row per cart id, or per session where carts have no ids.

    A stored row stands for the sessions that are not part of this run. It takes part as if it were
    one more session, so that a session which is read again changes nothing.
    """
    this_run = _per_cart(events.where(is_cart_event()), settings)
    merged = _merge_parts(this_run.unionByName(_as_part(known(this_run))))
    # Of all statuses `open` is the greatest: the statistics of files in which every cart has come
    # to its end say that none is open, so that only files of the last days are read.
    is_overdue = (F.col("status") == OPEN) & (_due(settings) <= literal(until))
    overdue = all_carts.where(is_overdue).join(this_run, "cart_key", how="left_anti")
    return (
        merged.unionByName(overdue.select(*merged.columns))
        .withColumns(_fate(settings, until))
        .select(*COLUMNS)
    )


def _per_cart(cart_events: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """What the run's sessions did to each cart."""
    # In the order in which events came in: what a later run brings must not change which cart an
    # earlier one saw bought, as that is stored in the cart's row.
    in_order = W.partitionBy("domain_sessionid").orderBy(
        settings.session_timestamp, "derived_tstamp", "event_id"
    )
    is_bought = F.col("ecommerce_action_type") == "transaction"
    # A purchase rarely names its cart: it is the one that the session touched last before it.
    own = F.when(
        ~is_bought | F.col("cart_id").isNotNull(), F.coalesce("cart_id", "domain_sessionid")
    )
    touched_before = F.last(own, ignorenulls=True).over(in_order)
    keyed = cart_events.withColumn("cart_key", F.coalesce(own, touched_before)).where(
        F.col("cart_key").isNotNull()
    )
    # A purchase that is put down to a cart may be the first to be seen of it; it has its id.
    cart_id = F.when(F.col("cart_key") != F.col("domain_sessionid"), F.col("cart_key"))
    time, value = F.col("derived_tstamp"), F.col("cart_total_value")
    first = F.struct(
        time.alias("at"), F.col("domain_sessionid").alias("session"), F.lit(0).alias("n")
    )
    purchase = F.struct(time.alias("at"), F.col("transaction_id").alias("id"))
    told = F.struct(
        time.alias("at"), value.alias("value"), F.col("cart_currency").alias("currency")
    )
    return (
        keyed.withColumn("cart_id", F.coalesce("cart_id", cart_id))
        .groupBy("cart_key")
        .agg(
            F.min_by(F.struct(*_OF_FIRST), first).alias("of_first"),
            F.min(first).alias("first"),
            F.max(F.struct(time.alias("at"), F.col("domain_sessionid").alias("session"))).alias(
                "last"
            ),
            F.max(F.when(value.isNotNull(), told)).alias("told"),
            F.max(value).alias("highest_value"),
            F.max(F.when(is_bought, purchase)).alias("purchase"),
            F.lit(None).cast("timestamp").alias("abandoned_tstamp"),
        )
    )


def _as_part(stored_carts: DataFrame) -> DataFrame:
    """Stored carts in the shape that `_per_cart` gives to this run's."""

    def when_known(test: str, **fields: str) -> Column:
        struct = F.struct(*(F.col(name).alias(field) for field, name in fields.items()))
        return F.when(F.col(test).isNotNull(), struct)

    return stored_carts.select(
        "cart_key",
        F.struct(*_OF_FIRST).alias("of_first"),
        F.struct(
            F.col("created_tstamp").alias("at"),
            F.col("domain_sessionid").alias("session"),
            F.lit(1).alias("n"),
        ).alias("first"),
        when_known(
            "last_touched_tstamp", at="last_touched_tstamp", session="last_domain_sessionid"
        ).alias("last"),
        when_known(
            "cart_value", at="cart_value_tstamp", value="cart_value", currency="cart_currency"
        ).alias("told"),
        "highest_value",
        when_known("bought_tstamp", at="bought_tstamp", id="transaction_id").alias("purchase"),
        "abandoned_tstamp",
    )


def _merge_parts(parts: DataFrame) -> DataFrame:
    whole = parts.groupBy("cart_key").agg(
        F.min_by("of_first", "first").alias("of_first"),
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        F.max("told").alias("told"),
        F.max("highest_value").alias("highest_value"),
        F.max("purchase").alias("purchase"),
        F.max("abandoned_tstamp").alias("abandoned_tstamp"),
    )
    return whole.select(
        "cart_key",
        "of_first.*",
        F.col("last.session").alias("last_domain_sessionid"),
        F.col("first.at").alias("created_tstamp"),
        F.col("last.at").alias("last_touched_tstamp"),
        F.col("told.currency").alias("cart_currency"),
        F.col("told.value").alias("cart_value"),
        F.col("told.at").alias("cart_value_tstamp"),
        "highest_value",
        F.col("purchase.at").alias("bought_tstamp"),
        F.col("purchase.id").alias("transaction_id"),
        "abandoned_tstamp",
    )


def _due(settings: EcommerceSettings) -> Column:
    """When a cart that nobody touches any more counts as abandoned."""
    hours = F.make_dt_interval(hours=F.lit(settings.cart_abandoned_after_hours))
    return F.col("last_touched_tstamp") + hours


def _fate(settings: EcommerceSettings, until: datetime) -> dict[str, Column]:
    # A past window that is processed again ends before the moment at which a run judged the cart.
    judged_at = F.greatest(literal(until), F.col("abandoned_tstamp"))
    is_abandoned = _due(settings) <= judged_at
    status = (
        F.when(F.col("bought_tstamp") >= F.col("last_touched_tstamp"), BOUGHT)
        .when(F.col("cart_value") == 0, EMPTIED)
        .when(is_abandoned, ABANDONED)
        .otherwise(OPEN)
    )
    return {
        "status": status,
        "abandoned_tstamp": F.when(status == ABANDONED, _due(settings)),
        "created_tstamp_date": F.to_date("created_tstamp"),
    }
