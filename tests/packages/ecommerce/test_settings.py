"""The options of the e-commerce package."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from project_files import MINIMAL, Problems
from windrow.config import PackageSettings, Passthrough
from windrow.packages.ecommerce.settings import EcommerceSettings

DEFAULTS = {
    "ecommerce_event_names": ("snowplow_ecommerce_action",),
    "enable_mobile_events": False,
    "categories_separator": "/",
    "number_category_levels": 4,
    "number_checkout_steps": 4,
    "use_product_quantity": False,
    "quarantined_sessions": None,
    **{
        f"disable_ecommerce_{name}": False
        for name in (
            *("carts", "checkouts", "products", "transactions", "user_context", "page_context"),
        )
    },
    **{
        f"{name}_passthroughs": ()
        for name in ("cart", "checkout", "product", "session", "transaction")
    },
    "keep_sessions_without_actions": True,
    "count_distinct_products_viewed": False,
    "enable_funnel": None,
    "enable_carts": None,
    "cart_abandoned_after_hours": 24,
}


def test_defaults_are_those_of_the_spec() -> None:
    assert EcommerceSettings().model_dump() == PackageSettings().model_dump() | DEFAULTS


def test_a_passthrough_is_a_column_or_an_expression() -> None:
    pair = {"sql": "upper(e.app_id)", "alias": "app"}
    settings = EcommerceSettings.model_validate({"cart_passthroughs": ["user_id", pair]})
    assert settings.cart_passthroughs == (
        Passthrough(sql="user_id", alias="user_id"),
        Passthrough(sql="upper(e.app_id)", alias="app"),
    )


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("name", ["cart", "checkout", "product"])
def test_passthroughs_that_the_sql_package_declares_otherwise_have_two_spellings(
    name: str, compat: bool
) -> None:
    def given(**options: list[str]) -> EcommerceSettings:
        return EcommerceSettings.model_validate({"compat": compat, **options})

    usual, other = f"{name}_passthroughs", f"{name}s_passthroughs"
    plural = given(**{other: ["user_id"]})
    assert plural == given(**{usual: ["user_id"]})
    assert plural == given(**{usual: ["user_id"], other: ["user_id"]})
    with pytest.raises(ValidationError, match="are the same option"):
        given(**{usual: ["user_id"], other: ["app_id"]})


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (["a b"], "a name of letters, digits and underscores"),
        ([{"sql": "x"}], r"cart_passthroughs\.0\.alias\n  Field required"),
        (["x", "X"], "columns with different names; repeated: x"),
    ],
)
def test_passthroughs_need_names_that_differ(entries: list[object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        EcommerceSettings.model_validate({"cart_passthroughs": entries})


def test_a_mistake_is_told_where_it_was_written(problems: Problems) -> None:
    (problem,) = problems(MINIMAL + "packages: {ecommerce: {carts_passthroughs: [a b]}}")
    assert problem.path == "packages.ecommerce.carts_passthroughs.0.alias"
