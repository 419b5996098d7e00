"""The columns of the atomic events table: the 129 standard ones, and the entities windrow knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STANDARD_COLUMNS: dict[str, str] = {
    "app_id": "string",
    "platform": "string",
    "etl_tstamp": "timestamp",
    "collector_tstamp": "timestamp",
    "dvce_created_tstamp": "timestamp",
    "event": "string",
    "event_id": "string",
    "txn_id": "int",
    "name_tracker": "string",
    "v_tracker": "string",
    "v_collector": "string",
    "v_etl": "string",
    "user_id": "string",
    "user_ipaddress": "string",
    "user_fingerprint": "string",
    "domain_userid": "string",
    "domain_sessionidx": "int",
    "network_userid": "string",
    "geo_country": "string",
    "geo_region": "string",
    "geo_city": "string",
    "geo_zipcode": "string",
    "geo_latitude": "double",
    "geo_longitude": "double",
    "geo_region_name": "string",
    "ip_isp": "string",
    "ip_organization": "string",
    "ip_domain": "string",
    "ip_netspeed": "string",
    "page_url": "string",
    "page_title": "string",
    "page_referrer": "string",
    "page_urlscheme": "string",
    "page_urlhost": "string",
    "page_urlport": "int",
    "page_urlpath": "string",
    "page_urlquery": "string",
    "page_urlfragment": "string",
    "refr_urlscheme": "string",
    "refr_urlhost": "string",
    "refr_urlport": "int",
    "refr_urlpath": "string",
    "refr_urlquery": "string",
    "refr_urlfragment": "string",
    "refr_medium": "string",
    "refr_source": "string",
    "refr_term": "string",
    "mkt_medium": "string",
    "mkt_source": "string",
    "mkt_term": "string",
    "mkt_content": "string",
    "mkt_campaign": "string",
    "se_category": "string",
    "se_action": "string",
    "se_label": "string",
    "se_property": "string",
    "se_value": "double",
    "tr_orderid": "string",
    "tr_affiliation": "string",
    "tr_total": "decimal(18,2)",
    "tr_tax": "decimal(18,2)",
    "tr_shipping": "decimal(18,2)",
    "tr_city": "string",
    "tr_state": "string",
    "tr_country": "string",
    "ti_orderid": "string",
    "ti_sku": "string",
    "ti_name": "string",
    "ti_category": "string",
    "ti_price": "decimal(18,2)",
    "ti_quantity": "int",
    "pp_xoffset_min": "int",
    "pp_xoffset_max": "int",
    "pp_yoffset_min": "int",
    "pp_yoffset_max": "int",
    "useragent": "string",
    "br_name": "string",
    "br_family": "string",
    "br_version": "string",
    "br_type": "string",
    "br_renderengine": "string",
    "br_lang": "string",
    "br_features_pdf": "boolean",
    "br_features_flash": "boolean",
    "br_features_java": "boolean",
    "br_features_director": "boolean",
    "br_features_quicktime": "boolean",
    "br_features_realplayer": "boolean",
    "br_features_windowsmedia": "boolean",
    "br_features_gears": "boolean",
    "br_features_silverlight": "boolean",
    "br_cookies": "boolean",
    "br_colordepth": "string",
    "br_viewwidth": "int",
    "br_viewheight": "int",
    "os_name": "string",
    "os_family": "string",
    "os_manufacturer": "string",
    "os_timezone": "string",
    "dvce_type": "string",
    "dvce_ismobile": "boolean",
    "dvce_screenwidth": "int",
    "dvce_screenheight": "int",
    "doc_charset": "string",
    "doc_width": "int",
    "doc_height": "int",
    "tr_currency": "string",
    "tr_total_base": "decimal(18,2)",
    "tr_tax_base": "decimal(18,2)",
    "tr_shipping_base": "decimal(18,2)",
    "ti_currency": "string",
    "ti_price_base": "decimal(18,2)",
    "base_currency": "string",
    "geo_timezone": "string",
    "mkt_clickid": "string",
    "mkt_network": "string",
    "etl_tags": "string",
    "dvce_sent_tstamp": "timestamp",
    "refr_domain_userid": "string",
    "refr_dvce_tstamp": "timestamp",
    "domain_sessionid": "string",
    "derived_tstamp": "timestamp",
    "event_vendor": "string",
    "event_name": "string",
    "event_format": "string",
    "event_version": "string",
    "event_fingerprint": "string",
    "true_tstamp": "timestamp",
    "load_tstamp": "timestamp",
}


@dataclass(frozen=True)
class EntityColumn:
    """An entity or self-describing event as a column: its name and the fields of its struct.

    An entity comes as an array of structs, a self-describing event as one struct.
    """

    name: str
    fields: Mapping[str, str]
    is_array: bool

    @property
    def type(self) -> str:
        """The column's Spark type."""
        members = ",".join(f"{name}:{type_}" for name, type_ in self.fields.items())
        return f"array<struct<{members}>>" if self.is_array else f"struct<{members}>"


def _strings(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "string")


def _entity(name: str, /, **fields: str) -> EntityColumn:
    return EntityColumn(f"contexts_{name}", fields, is_array=True)


def _event(name: str, /, **fields: str) -> EntityColumn:
    column = f"unstruct_event_com_snowplowanalytics_snowplow_{name}"
    return EntityColumn(column, fields, is_array=False)


WEB_PAGE = _entity("com_snowplowanalytics_snowplow_web_page_1", id="string")

IAB = _entity(
    "com_iab_snowplow_spiders_and_robots_1",
    category="string",
    primary_impact="string",
    reason="string",
    spider_or_robot="boolean",
)

UA_PARSER = _entity(
    "com_snowplowanalytics_snowplow_ua_parser_context_1",
    **_strings(
        "useragent_family",
        "useragent_major",
        "useragent_minor",
        "useragent_patch",
        "useragent_version",
        "os_family",
        "os_major",
        "os_minor",
        "os_patch",
        "os_patch_minor",
        "os_version",
        "device_family",
    ),
)

YAUAA = _entity(
    "nl_basjes_yauaa_context_1",
    **_strings(
        "device_class",
        "agent_class",
        "agent_name",
        "agent_name_version",
        "agent_name_version_major",
        "agent_version",
        "agent_version_major",
        "device_brand",
        "device_name",
        "device_version",
        "layout_engine_class",
        "layout_engine_name",
        "layout_engine_name_version",
        "layout_engine_name_version_major",
        "layout_engine_version",
        "layout_engine_version_major",
        "operating_system_class",
        "operating_system_name",
        "operating_system_name_version",
        "operating_system_version",
    ),
)

CONSENT_PREFERENCES = _event(
    "consent_preferences_1",
    event_type="string",
    basis_for_processing="string",
    consent_url="string",
    consent_version="string",
    consent_scopes="array<string>",
    domains_applied="array<string>",
    gdpr_applies="boolean",
)

CMP_VISIBLE = _event("cmp_visible_1", elapsed_time="double")

WEB_VITALS = _event(
    "web_vitals_1",
    lcp="double",
    fcp="double",
    fid="double",
    cls="double",
    inp="double",
    ttfb="double",
    navigation_type="string",
)

CLIENT_SESSION = _entity(
    "com_snowplowanalytics_snowplow_client_session_1",
    session_id="string",
    user_id="string",
    session_index="int",
    event_index="int",
    previous_session_id="string",
    first_event_id="string",
    first_event_timestamp="timestamp",
    storage_mechanism="string",
)

MOBILE_SCREEN = _entity(
    "com_snowplowanalytics_mobile_screen_1",
    **_strings(
        "id", "name", "activity", "fragment", "top_view_controller", "type", "view_controller"
    ),
)

_MONEY = "decimal(9,2)"

ECOMMERCE_ACTION = _event("ecommerce_snowplow_ecommerce_action_1", type="string", name="string")

ECOMMERCE_USER = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_user_1",
    id="string",
    email="string",
    is_guest="boolean",
)

ECOMMERCE_PAGE = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_page_1", **_strings("type", "language", "locale")
)

ECOMMERCE_PRODUCT = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_product_1",
    **_strings("id", "category", "currency"),
    price=_MONEY,
    **_strings("brand", "creative_id", "inventory_status"),
    list_price=_MONEY,
    name="string",
    position="int",
    quantity="int",
    **_strings("size", "variant"),
)

ECOMMERCE_CART = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_cart_1",
    cart_id="string",
    currency="string",
    total_value=_MONEY,
)

ECOMMERCE_CHECKOUT_STEP = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_checkout_step_1",
    step="int",
    **_strings("account_type", "billing_full_address", "billing_postcode", "coupon_code"),
    **_strings("delivery_method", "delivery_provider"),
    marketing_opt_in="boolean",
    **_strings("payment_method", "proof_of_payment", "shipping_full_address", "shipping_postcode"),
)

ECOMMERCE_TRANSACTION = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_transaction_1",
    **_strings("transaction_id", "currency", "payment_method"),
    revenue=_MONEY,
    total_quantity="int",
    credit_order="boolean",
    discount_amount=_MONEY,
    discount_code="string",
    shipping=_MONEY,
    tax=_MONEY,
)

ENTITY_COLUMNS: tuple[EntityColumn, ...] = (
    WEB_PAGE,
    IAB,
    UA_PARSER,
    YAUAA,
    CONSENT_PREFERENCES,
    CMP_VISIBLE,
    WEB_VITALS,
    CLIENT_SESSION,
    MOBILE_SCREEN,
    ECOMMERCE_ACTION,
    ECOMMERCE_USER,
    ECOMMERCE_PAGE,
    ECOMMERCE_PRODUCT,
    ECOMMERCE_CART,
    ECOMMERCE_CHECKOUT_STEP,
    ECOMMERCE_TRANSACTION,
)
