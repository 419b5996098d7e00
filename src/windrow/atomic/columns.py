"""The columns of the atomic events table: the 129 standard ones, and the entities windrow knows.

A table that has a column of an event as it is has its rule from here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.columns.rules import column

STANDARD_COLUMNS: dict[str, str] = {
    "app_id": column("string", "Id of the application that sent the event."),
    "platform": column("string", "Platform of the tracker, such as `web` or `mob`."),
    "etl_tstamp": column("timestamp", "When the event was enriched."),
    "collector_tstamp": column("timestamp", "When the collector received the event."),
    "dvce_created_tstamp": column("timestamp", "When the event was made, by the device's clock."),
    "event": column(
        "string", "Kind of event, such as `page_view`, `page_ping`, `struct` or `unstruct`."
    ),
    "event_id": column("string", "Id of the event, a UUID."),
    "txn_id": column("int", "Id of the transaction (deprecated)."),
    "name_tracker": column("string", "Namespace of the tracker."),
    "v_tracker": column("string", "Version of the tracker."),
    "v_collector": column("string", "Version of the collector."),
    "v_etl": column("string", "Version of the enrichment."),
    "user_id": column("string", "Id under which the business knows the user, once logged in."),
    "user_ipaddress": column("string", "IP address of the user."),
    "user_fingerprint": column("string", "Fingerprint of the browser (deprecated)."),
    "domain_userid": column("string", "Id of the user in the site's own cookie."),
    "domain_sessionidx": column("int", "Number of the visit, counted by the site's own cookie."),
    "network_userid": column("string", "Id of the user in the collector's cookie."),
    "geo_country": column(
        "string", "Country of the IP address, as a code of two letters (ISO 3166-1)."
    ),
    "geo_region": column("string", "Code of the region of the IP address."),
    "geo_city": column("string", "City of the IP address."),
    "geo_zipcode": column("string", "Postal code of the IP address."),
    "geo_latitude": column("double", "Latitude of the IP address."),
    "geo_longitude": column("double", "Longitude of the IP address."),
    "geo_region_name": column("string", "Name of the region of the IP address."),
    "ip_isp": column("string", "Internet service provider of the IP address."),
    "ip_organization": column("string", "Organization that the IP address belongs to."),
    "ip_domain": column("string", "Domain of the IP address."),
    "ip_netspeed": column("string", "Kind of connection of the IP address."),
    "page_url": column("string", "URL of the page."),
    "page_title": column("string", "Title of the page."),
    "page_referrer": column("string", "URL of the page that led to this one."),
    "page_urlscheme": column("string", "Scheme of the page's URL."),
    "page_urlhost": column("string", "Host of the page's URL."),
    "page_urlport": column("int", "Port of the page's URL."),
    "page_urlpath": column("string", "Path of the page's URL."),
    "page_urlquery": column("string", "Query of the page's URL."),
    "page_urlfragment": column("string", "Fragment of the page's URL."),
    "refr_urlscheme": column("string", "Scheme of the referrer's URL."),
    "refr_urlhost": column("string", "Host of the referrer's URL."),
    "refr_urlport": column("int", "Port of the referrer's URL."),
    "refr_urlpath": column("string", "Path of the referrer's URL."),
    "refr_urlquery": column("string", "Query of the referrer's URL."),
    "refr_urlfragment": column("string", "Fragment of the referrer's URL."),
    "refr_medium": column("string", "Kind of referrer, such as `search`, `social` or `internal`."),
    "refr_source": column("string", "Name of the referrer where it is a known one."),
    "refr_term": column("string", "Search term that the referrer gave."),
    "mkt_medium": column("string", "Marketing medium in the page's URL."),
    "mkt_source": column("string", "Marketing source in the page's URL."),
    "mkt_term": column("string", "Marketing term in the page's URL."),
    "mkt_content": column("string", "Marketing content in the page's URL."),
    "mkt_campaign": column("string", "Marketing campaign in the page's URL."),
    "se_category": column("string", "Category of a structured event."),
    "se_action": column("string", "Action of a structured event."),
    "se_label": column("string", "Label of a structured event."),
    "se_property": column("string", "Property of a structured event."),
    "se_value": column("double", "Value of a structured event."),
    "tr_orderid": column("string", "Order id of a transaction."),
    "tr_affiliation": column("string", "Affiliation of a transaction."),
    "tr_total": column("decimal(18,2)", "Total of a transaction."),
    "tr_tax": column("decimal(18,2)", "Tax of a transaction."),
    "tr_shipping": column("decimal(18,2)", "Shipping cost of a transaction."),
    "tr_city": column("string", "City of a transaction."),
    "tr_state": column("string", "State of a transaction."),
    "tr_country": column("string", "Country of a transaction."),
    "ti_orderid": column("string", "Order id of a transaction's item."),
    "ti_sku": column("string", "Product code of a transaction's item."),
    "ti_name": column("string", "Name of a transaction's item."),
    "ti_category": column("string", "Category of a transaction's item."),
    "ti_price": column("decimal(18,2)", "Price of a transaction's item."),
    "ti_quantity": column("int", "Quantity of a transaction's item."),
    "pp_xoffset_min": column(
        "int", "Least horizontal scroll offset that a page ping reports, in pixels."
    ),
    "pp_xoffset_max": column(
        "int", "Greatest horizontal scroll offset that a page ping reports, in pixels."
    ),
    "pp_yoffset_min": column(
        "int", "Least vertical scroll offset that a page ping reports, in pixels."
    ),
    "pp_yoffset_max": column(
        "int", "Greatest vertical scroll offset that a page ping reports, in pixels."
    ),
    "useragent": column("string", "User agent of the browser."),
    "br_name": column("string", "Name of the browser."),
    "br_family": column("string", "Family of the browser."),
    "br_version": column("string", "Version of the browser."),
    "br_type": column("string", "Type of the browser."),
    "br_renderengine": column("string", "Rendering engine of the browser (deprecated)."),
    "br_lang": column("string", "Language of the browser, as a language tag."),
    "br_features_pdf": column("boolean", "Whether the browser knows PDF."),
    "br_features_flash": column("boolean", "Whether the browser knows Flash."),
    "br_features_java": column("boolean", "Whether the browser knows Java."),
    "br_features_director": column("boolean", "Whether the browser knows Director."),
    "br_features_quicktime": column("boolean", "Whether the browser knows QuickTime."),
    "br_features_realplayer": column("boolean", "Whether the browser knows RealPlayer."),
    "br_features_windowsmedia": column("boolean", "Whether the browser knows Windows Media."),
    "br_features_gears": column("boolean", "Whether the browser knows Gears."),
    "br_features_silverlight": column("boolean", "Whether the browser knows Silverlight."),
    "br_cookies": column("boolean", "Whether the browser takes cookies."),
    "br_colordepth": column("string", "Color depth of the screen in bits."),
    "br_viewwidth": column("int", "Width of the browser's viewport in pixels."),
    "br_viewheight": column("int", "Height of the browser's viewport in pixels."),
    "os_name": column("string", "Name of the operating system."),
    "os_family": column("string", "Family of the operating system."),
    "os_manufacturer": column("string", "Maker of the operating system."),
    "os_timezone": column("string", "Time zone of the operating system."),
    "dvce_type": column("string", "Type of the device (deprecated)."),
    "dvce_ismobile": column("boolean", "Whether the device is a mobile one (deprecated)."),
    "dvce_screenwidth": column("int", "Width of the screen in pixels."),
    "dvce_screenheight": column("int", "Height of the screen in pixels."),
    "doc_charset": column("string", "Character set of the page."),
    "doc_width": column("int", "Width of the page's document in pixels."),
    "doc_height": column("int", "Height of the page's document in pixels."),
    "tr_currency": column("string", "Currency of a transaction."),
    "tr_total_base": column("decimal(18,2)", "Total of a transaction, in the base currency."),
    "tr_tax_base": column("decimal(18,2)", "Tax of a transaction, in the base currency."),
    "tr_shipping_base": column(
        "decimal(18,2)", "Shipping cost of a transaction, in the base currency."
    ),
    "ti_currency": column("string", "Currency of a transaction's item."),
    "ti_price_base": column(
        "decimal(18,2)", "Price of a transaction's item, in the base currency."
    ),
    "base_currency": column("string", "Currency that amounts are converted to."),
    "geo_timezone": column("string", "Time zone of the IP address."),
    "mkt_clickid": column("string", "Id of the click on an advertisement in the page's URL."),
    "mkt_network": column("string", "Advertising network of the click id."),
    "etl_tags": column("string", "Tags that the enrichment gave the event."),
    "dvce_sent_tstamp": column("timestamp", "When the event was sent, by the device's clock."),
    "refr_domain_userid": column("string", "Cookie id of the user on the site that linked here."),
    "refr_dvce_tstamp": column(
        "timestamp", "When the link from the other site was made, by the device's clock."
    ),
    "domain_sessionid": column("string", "Id of the session, a UUID."),
    "derived_tstamp": column(
        "timestamp", "When the event happened, with errors of the device's clock taken out."
    ),
    "event_vendor": column("string", "Who defined the event's type."),
    "event_name": column(
        "string", "Name of the event's type, such as `page_view`, `page_ping` or `link_click`."
    ),
    "event_format": column("string", "Format of the event's definition, such as `jsonschema`."),
    "event_version": column("string", "Version of the event's definition."),
    "event_fingerprint": column("string", "Hash of the fields that the client set."),
    "true_tstamp": column("timestamp", "When the event happened, as the application itself says."),
    "load_tstamp": column("timestamp", "When the event was loaded into the events table."),
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


def _entity(name: str, /, **fields: str) -> EntityColumn:
    return EntityColumn(f"contexts_{name}", fields, is_array=True)


def _event(name: str, /, **fields: str) -> EntityColumn:
    full_name = f"unstruct_event_com_snowplowanalytics_snowplow_{name}"
    return EntityColumn(full_name, fields, is_array=False)


WEB_PAGE = _entity(
    "com_snowplowanalytics_snowplow_web_page_1", id=column("string", "Id of the page view.")
)

IAB = _entity(
    "com_iab_snowplow_spiders_and_robots_1",
    category=column("string", "Category of the visitor, by the IAB list of spiders and robots."),
    primary_impact=column("string", "What the visitor's traffic mainly bears on, by the IAB list."),
    reason=column("string", "Why the IAB list judges the visitor so."),
    spider_or_robot=column("boolean", "Whether the visitor is a spider or robot, by the IAB list."),
)

UA_PARSER = _entity(
    "com_snowplowanalytics_snowplow_ua_parser_context_1",
    useragent_family=column("string", "Family of the browser, by the UA parser."),
    useragent_major=column("string", "Major version of the browser, by the UA parser."),
    useragent_minor=column("string", "Minor version of the browser, by the UA parser."),
    useragent_patch=column("string", "Patch version of the browser, by the UA parser."),
    useragent_version=column("string", "Full version of the browser, by the UA parser."),
    os_family=column("string", "Family of the operating system, by the UA parser."),
    os_major=column("string", "Major version of the operating system, by the UA parser."),
    os_minor=column("string", "Minor version of the operating system, by the UA parser."),
    os_patch=column("string", "Patch version of the operating system, by the UA parser."),
    os_patch_minor=column(
        "string", "Minor patch version of the operating system, by the UA parser."
    ),
    os_version=column("string", "Full version of the operating system, by the UA parser."),
    device_family=column("string", "Family of the device, by the UA parser."),
)

YAUAA = _entity(
    "nl_basjes_yauaa_context_1",
    device_class=column(
        "string", "Class of the device, such as `Desktop`, `Phone` or `Tablet`, by YAUAA."
    ),
    agent_class=column(
        "string", "Class of the user agent, such as `Browser` or `Robot`, by YAUAA."
    ),
    agent_name=column("string", "Name of the user agent, by YAUAA."),
    agent_name_version=column("string", "Name and version of the user agent, by YAUAA."),
    agent_name_version_major=column(
        "string", "Name and major version of the user agent, by YAUAA."
    ),
    agent_version=column("string", "Version of the user agent, by YAUAA."),
    agent_version_major=column("string", "Major version of the user agent, by YAUAA."),
    device_brand=column("string", "Brand of the device, by YAUAA."),
    device_name=column("string", "Name of the device, by YAUAA."),
    device_version=column("string", "Version of the device, by YAUAA."),
    layout_engine_class=column("string", "Class of the layout engine, by YAUAA."),
    layout_engine_name=column("string", "Name of the layout engine, by YAUAA."),
    layout_engine_name_version=column("string", "Name and version of the layout engine, by YAUAA."),
    layout_engine_name_version_major=column(
        "string", "Name and major version of the layout engine, by YAUAA."
    ),
    layout_engine_version=column("string", "Version of the layout engine, by YAUAA."),
    layout_engine_version_major=column("string", "Major version of the layout engine, by YAUAA."),
    operating_system_class=column("string", "Class of the operating system, by YAUAA."),
    operating_system_name=column("string", "Name of the operating system, by YAUAA."),
    operating_system_name_version=column(
        "string", "Name and version of the operating system, by YAUAA."
    ),
    operating_system_version=column("string", "Version of the operating system, by YAUAA."),
)

CONSENT_PREFERENCES = _event(
    "consent_preferences_1",
    event_type=column("string", "What was answered, such as `allow_all` or `deny_all`."),
    basis_for_processing=column("string", "Legal basis for processing the user's data."),
    consent_url=column("string", "URL of the consent text."),
    consent_version=column("string", "Version of the consent text."),
    consent_scopes=column("array<string>", "Scopes that the answer is about."),
    domains_applied=column("array<string>", "Domains that the answer holds for."),
    gdpr_applies=column("boolean", "Whether the GDPR applies."),
)

CMP_VISIBLE = _event(
    "cmp_visible_1",
    elapsed_time=column("double", "Time until the consent banner showed."),
)

WEB_VITALS = _event(
    "web_vitals_1",
    lcp=column("double", "Largest contentful paint in milliseconds."),
    fcp=column("double", "First contentful paint in milliseconds."),
    fid=column("double", "First input delay in milliseconds."),
    cls=column("double", "Cumulative layout shift, which has no unit."),
    inp=column("double", "Interaction to next paint in milliseconds."),
    ttfb=column("double", "Time to first byte in milliseconds."),
    navigation_type=column("string", "How the page was navigated to."),
)

CLIENT_SESSION = _entity(
    "com_snowplowanalytics_snowplow_client_session_1",
    session_id=column("string", "Id of the session."),
    session_index=column("int", "Number of the session among the device's sessions."),
    previous_session_id=column("string", "Id of the device's session before this one."),
    user_id=column("string", "Id of the device, made by the tracker when the app was installed."),
    first_event_id=column(
        "string", "Id of the session's first event as the tracker knows it; letter case may differ."
    ),
    first_event_timestamp=column(
        "timestamp", "When the session's first event was made, by the device's clock."
    ),
    event_index=column("int", "Number of the event among its session's events, by the tracker."),
    storage_mechanism=column("string", "Where the tracker keeps the session on the device."),
)

SCREEN_VIEW = EntityColumn(
    "unstruct_event_com_snowplowanalytics_mobile_screen_view_1",
    {
        "id": column("string", "Id of the screen view."),
        "name": column("string", "Name of the screen that was opened."),
        "previous_id": column("string", "Id of the screen view before it."),
        "previous_name": column("string", "Name of the screen before it."),
        "previous_type": column("string", "Type of the screen before it."),
        "transition_type": column("string", "How the screen was opened, such as `push`."),
        "type": column("string", "Type of the screen that was opened."),
    },
    is_array=False,
)

SCREEN = _entity(
    "com_snowplowanalytics_mobile_screen_1",
    id=column("string", "Id of the screen view during which the event happened."),
    name=column("string", "Name of the screen on which the event happened."),
    activity=column("string", "Activity of the screen, on Android."),
    fragment=column("string", "Fragment of the screen, on Android."),
    top_view_controller=column("string", "Topmost view controller, on iOS."),
    type=column("string", "Type of the screen on which the event happened."),
    view_controller=column("string", "View controller of the screen, on iOS."),
)

MOBILE_CONTEXT = _entity(
    "com_snowplowanalytics_snowplow_mobile_context_1",
    device_manufacturer=column("string", "Maker of the device."),
    device_model=column("string", "Model of the device."),
    os_type=column("string", "Operating system of the device, such as `ios`."),
    os_version=column("string", "Version of the operating system."),
    android_idfa=column("string", "Advertising id of an Android device."),
    apple_idfa=column("string", "Advertising id of an Apple device."),
    apple_idfv=column("string", "Id of an Apple device for the app's vendor."),
    carrier=column("string", "Mobile carrier of the device."),
    open_idfa=column("string", "Id of the device by the OpenIDFA rule."),
    network_technology=column("string", "Technology of the mobile network, such as `LTE`."),
    network_type=column("string", "Kind of connection, such as `wifi` or `mobile`."),
)

GEOLOCATION = _entity(
    "com_snowplowanalytics_snowplow_geolocation_context_1",
    latitude=column("double", "Latitude that the device reports."),
    longitude=column("double", "Longitude that the device reports."),
    latitude_longitude_accuracy=column("double", "Accuracy of the two, in metres."),
    altitude=column("double", "Altitude that the device reports, in metres."),
    altitude_accuracy=column("double", "Accuracy of the altitude, in metres."),
    bearing=column("double", "Direction of travel that the device reports, in degrees."),
    speed=column("double", "Speed that the device reports, in metres a second."),
)

APPLICATION = _entity(
    "com_snowplowanalytics_mobile_application_1",
    build=column("string", "Build of the app."),
    version=column("string", "Version of the app."),
)

APPLICATION_ERROR = _event(
    "application_error_1",
    message=column("string", "What the error says."),
    programming_language=column("string", "Programming language of the code that failed."),
    class_name=column("string", "Class in which the error was."),
    exception_name=column("string", "Name of the exception."),
    is_fatal=column("boolean", "True if the error ended the app."),
    line_number=column("int", "Line of the code at which the error was."),
    stack_trace=column("string", "Stack trace of the error."),
    thread_id=column("bigint", "Id of the thread in which the error was."),
    thread_name=column("string", "Name of that thread."),
    cause_stack_trace=column("string", "Stack trace of what caused the error."),
    file_name=column("string", "File of the code in which the error was."),
    line_column=column("int", "Column of the line at which the error was."),
)

_MONEY = "decimal(9,2)"

ECOMMERCE_ACTION = _event(
    "ecommerce_snowplow_ecommerce_action_1",
    type=column("string", "What was done, such as `product_view`, `add_to_cart` or `transaction`."),
    name=column("string", "Name that goes with the action: of list actions, that of the list."),
)

ECOMMERCE_USER = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_user_1",
    id=column("string", "Id under which the shop knows the user."),
    email=column("string", "E-mail address of the user."),
    is_guest=column("boolean", "True if the user buys without an account."),
)

ECOMMERCE_PAGE = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_page_1",
    type=column("string", "Kind of page, such as a product or a checkout page."),
    language=column("string", "Language of the page."),
    locale=column("string", "Locale of the page."),
)

ECOMMERCE_PRODUCT = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_product_1",
    id=column("string", "Id of the product, such as its stock-keeping unit."),
    category=column("string", "Category of the product, all levels in one text."),
    currency=column("string", "Currency of the product's prices."),
    price=column(_MONEY, "Price of one piece of the product."),
    brand=column("string", "Brand of the product."),
    creative_id=column("string", "Id of the picture or text that showed the product."),
    inventory_status=column("string", "Whether the product is in stock, in the shop's words."),
    list_price=column(_MONEY, "Price of one piece before any discount."),
    name=column("string", "Name of the product."),
    position=column("int", "Place of the product in the list that showed it."),
    quantity=column("int", "How many pieces of the product the event is about."),
    size=column("string", "Size of the product."),
    variant=column("string", "Variant of the product."),
)

ECOMMERCE_CART = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_cart_1",
    cart_id=column("string", "Id of the cart."),
    currency=column("string", "Currency of the cart's value."),
    total_value=column(_MONEY, "Value of all that is in the cart after the event."),
)

ECOMMERCE_CHECKOUT_STEP = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_checkout_step_1",
    step=column("int", "Number of the checkout's step."),
    account_type=column("string", "Kind of account with which the user checks out."),
    billing_full_address=column("string", "Address that the bill goes to."),
    billing_postcode=column("string", "Postcode that the bill goes to."),
    coupon_code=column("string", "Code of a coupon that is used in the checkout."),
    delivery_method=column("string", "Way of delivery that was chosen."),
    delivery_provider=column("string", "Who is to deliver."),
    marketing_opt_in=column("boolean", "True if the user agrees to marketing."),
    payment_method=column("string", "Way of paying that was chosen in the checkout."),
    proof_of_payment=column("string", "What proves the payment, such as an invoice."),
    shipping_full_address=column("string", "Address that the goods go to."),
    shipping_postcode=column("string", "Postcode that the goods go to."),
)

ECOMMERCE_TRANSACTION = _entity(
    "com_snowplowanalytics_snowplow_ecommerce_transaction_1",
    transaction_id=column("string", "Id of the transaction."),
    currency=column("string", "Currency of the transaction's amounts."),
    payment_method=column("string", "Way in which the transaction was paid."),
    revenue=column(_MONEY, "Revenue of the transaction."),
    total_quantity=column("int", "Number of pieces in the transaction, as the shop counts them."),
    credit_order=column("boolean", "True if the transaction was bought on credit."),
    discount_amount=column(_MONEY, "Discount on the transaction."),
    discount_code=column("string", "Code that gave the discount."),
    shipping=column(_MONEY, "Cost of shipping."),
    tax=column(_MONEY, "Tax on the transaction."),
)

MEDIA_PLAYER_EVENT = _event(
    "media_player_event_1",
    type=column("string", "What happened, such as `play`, `pause`, `seek` or `ended`."),
    label=column("string", "Label of the media, as the tracker was told it."),
)

MEDIA_PLAYER = _entity(
    "com_snowplowanalytics_snowplow_media_player_1",
    current_time=column("double", "Position of the playback in seconds."),
    duration=column("double", "Duration of the media in seconds; null until it is known."),
    ended=column("boolean", "Whether playback has come to the end."),
    is_live=column("boolean", "Whether the media are live."),
    loop=column("boolean", "Whether playback begins anew at the end."),
    muted=column("boolean", "Whether the player is muted."),
    paused=column("boolean", "Whether the player is paused."),
    percent_progress=column("int", "Percent of the media that playback has come to."),
    playback_rate=column("double", "Speed of the playback; 1 is normal."),
    volume=column("int", "Volume of the player, from 0 to 100."),
)

YOUTUBE = _entity(
    "com_youtube_youtube_1",
    player_id=column("string", "Id of the page's element that holds the YouTube player."),
    url=column("string", "URL of the YouTube video."),
    playback_quality=column("string", "Quality of the playback, such as `hd1080`."),
)

MEDIA_ELEMENT = _entity(
    "org_whatwg_media_element_1",
    html_id=column("string", "Id of the page's audio or video element."),
    current_src=column("string", "URL of the file that the element plays."),
    media_type=column("string", "`AUDIO` or `VIDEO`."),
)

VIDEO_ELEMENT = _entity(
    "org_whatwg_video_element_1",
    video_width=column("int", "Width of the video in pixels."),
    video_height=column("int", "Height of the video in pixels."),
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
    SCREEN_VIEW,
    SCREEN,
    MOBILE_CONTEXT,
    GEOLOCATION,
    APPLICATION,
    APPLICATION_ERROR,
    ECOMMERCE_ACTION,
    ECOMMERCE_USER,
    ECOMMERCE_PAGE,
    ECOMMERCE_PRODUCT,
    ECOMMERCE_CART,
    ECOMMERCE_CHECKOUT_STEP,
    ECOMMERCE_TRANSACTION,
    MEDIA_PLAYER_EVENT,
    MEDIA_PLAYER,
    YOUTUBE,
    MEDIA_ELEMENT,
    VIDEO_ELEMENT,
)
