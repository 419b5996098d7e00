"""The self-describing events windrow knows: consent, the consent banner, web vitals."""

from __future__ import annotations

from urllib.parse import urlsplit

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import CMP_VISIBLE, CONSENT_PREFERENCES, WEB_VITALS
from windrow.demo.draws import between, draw, nth, weighted_index

# What visitors answer, out of a hundred, and what they agree to by it.
ANSWERS = {
    "allow_all": (55, ["necessary", "preferences", "statistics", "marketing"]),
    "allow_selected": (18, ["necessary", "statistics"]),
    "deny_all": (20, ["necessary"]),
    "implicit_consent": (3, ["necessary", "preferences"]),
    "pending": (2, []),
    "withdrawn": (1, ["necessary"]),
    "expired": (1, ["necessary"]),
}


def self_describing_columns(site: str) -> dict[str, Column]:
    """Each event's own column, filled where the event's name says so."""
    name = F.col("event_name")
    return {
        CONSENT_PREFERENCES.name: F.when(name == "consent_preferences", _consent(site)),
        CMP_VISIBLE.name: F.when(name == "cmp_visible", _banner()),
        WEB_VITALS.name: F.when(name == "web_vitals", _vitals()),
    }


def _consent(site: str) -> Column:
    weights = [weight for weight, _ in ANSWERS.values()]
    answer = weighted_index(weights, draw("consent", F.col("session_key")))
    day = F.date_from_unix_date(F.col("day").cast("int"))
    return F.struct(
        nth(ANSWERS, answer).alias("event_type"),
        F.lit("consent").alias("basis_for_processing"),
        F.lit(f"{site}/privacy").alias("consent_url"),
        # The shop rewrites its terms every quarter.
        F.concat(F.year(day), F.lit("-q"), F.quarter(day)).alias("consent_version"),
        nth([scopes for _, scopes in ANSWERS.values()], answer, "array<string>").alias(
            "consent_scopes"
        ),
        F.array(F.lit(urlsplit(site).netloc)).alias("domains_applied"),
        F.lit(True).alias("gdpr_applies"),
    )


def _banner() -> Column:
    return F.struct((between(200, 2_500, "banner time", F.col("session_key")) / 1_000).alias("t"))


def _vitals() -> Column:
    page_key = F.col("page_key")

    def measure(low: int, high: int, name: str) -> Column:
        # Squared, so that most pages are quick and some are slow.
        drawn = draw(name, page_key)
        return F.round(drawn * drawn * (high - low) + low, 3).alias(name)

    kinds = ["navigate", "reload", "back-forward"]
    return F.struct(
        measure(700, 6_000, "lcp"),
        measure(300, 3_500, "fcp"),
        measure(2, 350, "fid"),
        F.round(draw("cls", page_key) * 0.3, 4).alias("cls"),
        measure(40, 700, "inp"),
        measure(60, 2_000, "ttfb"),
        nth(kinds, weighted_index((85, 5, 10), draw("navigation", page_key))).alias(
            "navigation_type"
        ),
    )
