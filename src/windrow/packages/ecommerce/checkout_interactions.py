"""checkout_interactions: the steps of checkouts, the purchase among them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from windrow.columns.rules import column
from windrow.packages.ecommerce import passthroughs
from windrow.packages.ecommerce.event_fields import EVENT, EVENT_READS, action_is, fields, is_any
from windrow.packages.ecommerce.interactions import describe_events, interactions
from windrow.packages.ecommerce.settings import EcommerceSettings
from windrow.tables import Columns

COLUMNS: Columns = {
    **EVENT,
    **fields("ecommerce_action_type", "ecommerce_action_name", "ecommerce_page_type"),
    "checkout_step_number": column(
        "int", "Number of the step; of a transaction, `number_checkout_steps`."
    ),
    **fields("checkout_account_type", "checkout_billing_full_address"),
    **fields("checkout_billing_postcode", "checkout_coupon_code"),
    **fields("checkout_delivery_method", "checkout_delivery_provider"),
    **fields("checkout_marketing_opt_in"),
    **fields("checkout_payment_method", "checkout_proof_of_payment"),
    **fields("checkout_shipping_full_address", "checkout_shipping_postcode"),
    "session_entered_at_step": column(
        "boolean", "True if no e-commerce event of the session is earlier."
    ),
    "checkout_succeeded": column("boolean", "True if the event is a transaction."),
    **fields("ecommerce_user_email", "ecommerce_user_is_guest"),
}


def columns(settings: EcommerceSettings) -> Columns:
    """The table's columns under these settings."""
    return passthroughs.with_passthroughs(
        COLUMNS, "checkout_passthroughs", settings.checkout_passthroughs
    )


def _reads(settings: EcommerceSettings) -> tuple[str, ...]:
    return (*EVENT_READS, *passthroughs.reads(settings.checkout_passthroughs))


def is_checkout_event() -> Column:
    """True for events that are steps of a checkout."""
    return is_any(action_is("checkout_step", "transaction"))


def checkout_values(settings: EcommerceSettings) -> dict[str, Column]:
    """The step an event is, and whether it was the session's first event or the last step."""
    is_bought = is_any(action_is("transaction"))
    return {
        "checkout_step_number": F.when(is_bought, settings.number_checkout_steps).otherwise(
            F.col("checkout_step_number")
        ),
        "session_entered_at_step": F.col("event_in_session_index") == 1,
        "checkout_succeeded": is_bought,
    }


@interactions(key="event_id", columns=columns, reads=_reads)
def checkout_interactions(events: DataFrame, settings: EcommerceSettings) -> DataFrame:
    """One row per event that is a step of a checkout, or the purchase that ends it."""
    found = events.where(is_checkout_event())
    own = settings.checkout_passthroughs
    return describe_events(found, columns(settings), checkout_values(settings), own)
