"""The entities and self-describing events that windrow knows, as columns of the events table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.atomic.columns import declared


@dataclass(frozen=True)
class EntityColumn:
    """An entity or self-describing event as a column: its name and the fields of its struct.

    An entity comes as an array of structs, a self-describing event as one struct.
    """

    name: str
    fields: Mapping[str, str]

    @property
    def is_array(self) -> bool:
        """True for an entity, of which an event may have several."""
        return self.name.startswith("contexts_")

    @property
    def type(self) -> str:
        """The column's Spark type."""
        members = ",".join(f"{name}:{type_}" for name, type_ in self.fields.items())
        return f"array<struct<{members}>>" if self.is_array else f"struct<{members}>"


def _known(text: str) -> EntityColumn:
    """The column that the first line names, with a field on every other line."""
    name, fields = text.strip().split("\n", 1)
    return EntityColumn(name, declared(fields))


WEB_PAGE = _known("""
contexts_com_snowplowanalytics_snowplow_web_page_1
    id: string  Id of the page view.
""")

IAB = _known("""
contexts_com_iab_snowplow_spiders_and_robots_1
    category: string  Category of the visitor, by the IAB list of spiders and robots.
    primary_impact: string  What the visitor's traffic mainly bears on, by the IAB list.
    reason: string  Why the IAB list judges the visitor so.
    spider_or_robot: boolean  Whether the visitor is a spider or robot, by the IAB list.
""")

UA_PARSER = _known("""
contexts_com_snowplowanalytics_snowplow_ua_parser_context_1
    useragent_family: string  Family of the browser, by the UA parser.
    useragent_major: string  Major version of the browser, by the UA parser.
    useragent_minor: string  Minor version of the browser, by the UA parser.
    useragent_patch: string  Patch version of the browser, by the UA parser.
    useragent_version: string  Full version of the browser, by the UA parser.
    os_family: string  Family of the operating system, by the UA parser.
    os_major: string  Major version of the operating system, by the UA parser.
    os_minor: string  Minor version of the operating system, by the UA parser.
    os_patch: string  Patch version of the operating system, by the UA parser.
    os_patch_minor: string  Minor patch version of the operating system, by the UA parser.
    os_version: string  Full version of the operating system, by the UA parser.
    device_family: string  Family of the device, by the UA parser.
""")

YAUAA = _known("""
contexts_nl_basjes_yauaa_context_1
    device_class: string  Class of the device, such as `Desktop`, `Phone` or `Tablet`, by YAUAA.
    agent_class: string  Class of the user agent, such as `Browser` or `Robot`, by YAUAA.
    agent_name: string  Name of the user agent, by YAUAA.
    agent_name_version: string  Name and version of the user agent, by YAUAA.
    agent_name_version_major: string  Name and major version of the user agent, by YAUAA.
    agent_version: string  Version of the user agent, by YAUAA.
    agent_version_major: string  Major version of the user agent, by YAUAA.
    device_brand: string  Brand of the device, by YAUAA.
    device_name: string  Name of the device, by YAUAA.
    device_version: string  Version of the device, by YAUAA.
    layout_engine_class: string  Class of the layout engine, by YAUAA.
    layout_engine_name: string  Name of the layout engine, by YAUAA.
    layout_engine_name_version: string  Name and version of the layout engine, by YAUAA.
    layout_engine_name_version_major: string  Name and major version of the layout engine, by YAUAA.
    layout_engine_version: string  Version of the layout engine, by YAUAA.
    layout_engine_version_major: string  Major version of the layout engine, by YAUAA.
    operating_system_class: string  Class of the operating system, by YAUAA.
    operating_system_name: string  Name of the operating system, by YAUAA.
    operating_system_name_version: string  Name and version of the operating system, by YAUAA.
    operating_system_version: string  Version of the operating system, by YAUAA.
""")

CONSENT_PREFERENCES = _known("""
unstruct_event_com_snowplowanalytics_snowplow_consent_preferences_1
    event_type: string  What was answered, such as `allow_all` or `deny_all`.
    basis_for_processing: string  Legal basis for processing the user's data.
    consent_url: string  URL of the consent text.
    consent_version: string  Version of the consent text.
    consent_scopes: array<string>  Scopes that the answer is about.
    domains_applied: array<string>  Domains that the answer holds for.
    gdpr_applies: boolean  Whether the GDPR applies.
""")

CMP_VISIBLE = _known("""
unstruct_event_com_snowplowanalytics_snowplow_cmp_visible_1
    elapsed_time: double  Time until the consent banner showed.
""")

WEB_VITALS = _known("""
unstruct_event_com_snowplowanalytics_snowplow_web_vitals_1
    lcp: double  Largest contentful paint in milliseconds.
    fcp: double  First contentful paint in milliseconds.
    fid: double  First input delay in milliseconds.
    cls: double  Cumulative layout shift, which has no unit.
    inp: double  Interaction to next paint in milliseconds.
    ttfb: double  Time to first byte in milliseconds.
    navigation_type: string  How the page was navigated to.
""")

CLIENT_SESSION = _known("""
contexts_com_snowplowanalytics_snowplow_client_session_1
    session_id: string  Id of the session.
    session_index: int  Number of the session among the device's sessions.
    previous_session_id: string  Id of the device's session before this one.
    user_id: string  Id of the device, made by the tracker when the app was installed.
    first_event_id: string  Id of the session's first event by the tracker; letter case may differ.
    first_event_timestamp: timestamp  When the session's first event was made by the device's clock.
    event_index: int  Number of the event among its session's events, by the tracker.
    storage_mechanism: string  Where the tracker keeps the session on the device.
""")

SCREEN_VIEW = _known("""
unstruct_event_com_snowplowanalytics_mobile_screen_view_1
    id: string  Id of the screen view.
    name: string  Name of the screen that was opened.
    previous_id: string  Id of the screen view before it.
    previous_name: string  Name of the screen before it.
    previous_type: string  Type of the screen before it.
    transition_type: string  How the screen was opened, such as `push`.
    type: string  Type of the screen that was opened.
""")

SCREEN = _known("""
contexts_com_snowplowanalytics_mobile_screen_1
    id: string  Id of the screen view during which the event happened.
    name: string  Name of the screen on which the event happened.
    activity: string  Activity of the screen, on Android.
    fragment: string  Fragment of the screen, on Android.
    top_view_controller: string  Topmost view controller, on iOS.
    type: string  Type of the screen on which the event happened.
    view_controller: string  View controller of the screen, on iOS.
""")

MOBILE_CONTEXT = _known("""
contexts_com_snowplowanalytics_snowplow_mobile_context_1
    device_manufacturer: string  Maker of the device.
    device_model: string  Model of the device.
    os_type: string  Operating system of the device, such as `ios`.
    os_version: string  Version of the operating system.
    android_idfa: string  Advertising id of an Android device.
    apple_idfa: string  Advertising id of an Apple device.
    apple_idfv: string  Id of an Apple device for the app's vendor.
    carrier: string  Mobile carrier of the device.
    open_idfa: string  Id of the device by the OpenIDFA rule.
    network_technology: string  Technology of the mobile network, such as `LTE`.
    network_type: string  Kind of connection, such as `wifi` or `mobile`.
""")

GEOLOCATION = _known("""
contexts_com_snowplowanalytics_snowplow_geolocation_context_1
    latitude: double  Latitude that the device reports.
    longitude: double  Longitude that the device reports.
    latitude_longitude_accuracy: double  Accuracy of the two, in metres.
    altitude: double  Altitude that the device reports, in metres.
    altitude_accuracy: double  Accuracy of the altitude, in metres.
    bearing: double  Direction of travel that the device reports, in degrees.
    speed: double  Speed that the device reports, in metres a second.
""")

APPLICATION = _known("""
contexts_com_snowplowanalytics_mobile_application_1
    build: string  Build of the app.
    version: string  Version of the app.
""")

APPLICATION_ERROR = _known("""
unstruct_event_com_snowplowanalytics_snowplow_application_error_1
    message: string  What the error says.
    programming_language: string  Programming language of the code that failed.
    class_name: string  Class in which the error was.
    exception_name: string  Name of the exception.
    is_fatal: boolean  True if the error ended the app.
    line_number: int  Line of the code at which the error was.
    stack_trace: string  Stack trace of the error.
    thread_id: bigint  Id of the thread in which the error was.
    thread_name: string  Name of that thread.
    cause_stack_trace: string  Stack trace of what caused the error.
    file_name: string  File of the code in which the error was.
    line_column: int  Column of the line at which the error was.
""")

ECOMMERCE_ACTION = _known("""
unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1
    type: string  What was done, such as `product_view`, `add_to_cart` or `transaction`.
    name: string  Name that goes with the action: of list actions, that of the list.
""")

ECOMMERCE_USER = _known("""
contexts_com_snowplowanalytics_snowplow_ecommerce_user_1
    id: string  Id under which the shop knows the user.
    email: string  E-mail address of the user.
    is_guest: boolean  True if the user buys without an account.
""")

ECOMMERCE_PAGE = _known("""
contexts_com_snowplowanalytics_snowplow_ecommerce_page_1
    type: string  Kind of page, such as a product or a checkout page.
    language: string  Language of the page.
    locale: string  Locale of the page.
""")

ECOMMERCE_PRODUCT = _known("""
contexts_com_snowplowanalytics_snowplow_ecommerce_product_1
    id: string  Id of the product, such as its stock-keeping unit.
    category: string  Category of the product, all levels in one text.
    currency: string  Currency of the product's prices.
    price: decimal(9,2)  Price of one piece of the product.
    brand: string  Brand of the product.
    creative_id: string  Id of the picture or text that showed the product.
    inventory_status: string  Whether the product is in stock, in the shop's words.
    list_price: decimal(9,2)  Price of one piece before any discount.
    name: string  Name of the product.
    position: int  Place of the product in the list that showed it.
    quantity: int  How many pieces of the product the event is about.
    size: string  Size of the product.
    variant: string  Variant of the product.
""")

ECOMMERCE_CART = _known("""
contexts_com_snowplowanalytics_snowplow_ecommerce_cart_1
    cart_id: string  Id of the cart.
    currency: string  Currency of the cart's value.
    total_value: decimal(9,2)  Value of all that is in the cart after the event.
""")

ECOMMERCE_CHECKOUT_STEP = _known("""
contexts_com_snowplowanalytics_snowplow_ecommerce_checkout_step_1
    step: int  Number of the checkout's step.
    account_type: string  Kind of account with which the user checks out.
    billing_full_address: string  Address that the bill goes to.
    billing_postcode: string  Postcode that the bill goes to.
    coupon_code: string  Code of a coupon that is used in the checkout.
    delivery_method: string  Way of delivery that was chosen.
    delivery_provider: string  Who is to deliver.
    marketing_opt_in: boolean  True if the user agrees to marketing.
    payment_method: string  Way of paying that was chosen in the checkout.
    proof_of_payment: string  What proves the payment, such as an invoice.
    shipping_full_address: string  Address that the goods go to.
    shipping_postcode: string  Postcode that the goods go to.
""")

ECOMMERCE_TRANSACTION = _known("""
contexts_com_snowplowanalytics_snowplow_ecommerce_transaction_1
    transaction_id: string  Id of the transaction.
    currency: string  Currency of the transaction's amounts.
    payment_method: string  Way in which the transaction was paid.
    revenue: decimal(9,2)  Revenue of the transaction.
    total_quantity: int  Number of pieces in the transaction, as the shop counts them.
    credit_order: boolean  True if the transaction was bought on credit.
    discount_amount: decimal(9,2)  Discount on the transaction.
    discount_code: string  Code that gave the discount.
    shipping: decimal(9,2)  Cost of shipping.
    tax: decimal(9,2)  Tax on the transaction.
""")

MEDIA_PLAYER_EVENT = _known("""
unstruct_event_com_snowplowanalytics_snowplow_media_player_event_1
    type: string  What happened, such as `play`, `pause`, `seek` or `ended`.
    label: string  Label of the media, as the tracker was told it.
""")

MEDIA_PLAYER = _known("""
contexts_com_snowplowanalytics_snowplow_media_player_1
    current_time: double  Position of the playback in seconds.
    duration: double  Duration of the media in seconds; null until it is known.
    ended: boolean  Whether playback has come to the end.
    is_live: boolean  Whether the media are live.
    loop: boolean  Whether playback begins anew at the end.
    muted: boolean  Whether the player is muted.
    paused: boolean  Whether the player is paused.
    percent_progress: int  Percent of the media that playback has come to.
    playback_rate: double  Speed of the playback; 1 is normal.
    volume: int  Volume of the player, from 0 to 100.
""")

YOUTUBE = _known("""
contexts_com_youtube_youtube_1
    player_id: string  Id of the page's element that holds the YouTube player.
    url: string  URL of the YouTube video.
    playback_quality: string  Quality of the playback, such as `hd1080`.
""")

MEDIA_ELEMENT = _known("""
contexts_org_whatwg_media_element_1
    html_id: string  Id of the page's audio or video element.
    current_src: string  URL of the file that the element plays.
    media_type: string  `AUDIO` or `VIDEO`.
""")

VIDEO_ELEMENT = _known("""
contexts_org_whatwg_video_element_1
    video_width: int  Width of the video in pixels.
    video_height: int  Height of the video in pixels.
""")

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
