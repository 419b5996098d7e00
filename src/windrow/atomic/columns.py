"""The standard columns of the atomic events table, each with its type and its rule.

A table that has a column of an event as it is has its rule from here too.
"""

from __future__ import annotations

from windrow.columns.rules import column


def declared(lines: str) -> dict[str, str]:
    """Columns from lines such as `app_id: string  Id of the application.`: name, type, rule."""
    named = (line.split(":", 1) for line in lines.strip().splitlines())
    return {name.strip(): column(*told.split(maxsplit=1)) for name, told in named}


STANDARD_COLUMNS = declared("""
    app_id: string  Id of the application that sent the event.
    platform: string  Platform of the tracker, such as `web` or `mob`.
    etl_tstamp: timestamp  When the event was enriched.
    collector_tstamp: timestamp  When the collector received the event.
    dvce_created_tstamp: timestamp  When the event was made, by the device's clock.
    event: string  Kind of event, such as `page_view`, `page_ping`, `struct` or `unstruct`.
    event_id: string  Id of the event, a UUID.
    txn_id: int  Id of the transaction (deprecated).
    name_tracker: string  Namespace of the tracker.
    v_tracker: string  Version of the tracker.
    v_collector: string  Version of the collector.
    v_etl: string  Version of the enrichment.
    user_id: string  Id under which the business knows the user, once logged in.
    user_ipaddress: string  IP address of the user.
    user_fingerprint: string  Fingerprint of the browser (deprecated).
    domain_userid: string  Id of the user in the site's own cookie.
    domain_sessionidx: int  Number of the visit, counted by the site's own cookie.
    network_userid: string  Id of the user in the collector's cookie.
    geo_country: string  Country of the IP address, as a code of two letters (ISO 3166-1).
    geo_region: string  Code of the region of the IP address.
    geo_city: string  City of the IP address.
    geo_zipcode: string  Postal code of the IP address.
    geo_latitude: double  Latitude of the IP address.
    geo_longitude: double  Longitude of the IP address.
    geo_region_name: string  Name of the region of the IP address.
    ip_isp: string  Internet service provider of the IP address.
    ip_organization: string  Organization that the IP address belongs to.
    ip_domain: string  Domain of the IP address.
    ip_netspeed: string  Kind of connection of the IP address.
    page_url: string  URL of the page.
    page_title: string  Title of the page.
    page_referrer: string  URL of the page that led to this one.
    page_urlscheme: string  Scheme of the page's URL.
    page_urlhost: string  Host of the page's URL.
    page_urlport: int  Port of the page's URL.
    page_urlpath: string  Path of the page's URL.
    page_urlquery: string  Query of the page's URL.
    page_urlfragment: string  Fragment of the page's URL.
    refr_urlscheme: string  Scheme of the referrer's URL.
    refr_urlhost: string  Host of the referrer's URL.
    refr_urlport: int  Port of the referrer's URL.
    refr_urlpath: string  Path of the referrer's URL.
    refr_urlquery: string  Query of the referrer's URL.
    refr_urlfragment: string  Fragment of the referrer's URL.
    refr_medium: string  Kind of referrer, such as `search`, `social` or `internal`.
    refr_source: string  Name of the referrer where it is a known one.
    refr_term: string  Search term that the referrer gave.
    mkt_medium: string  Marketing medium in the page's URL.
    mkt_source: string  Marketing source in the page's URL.
    mkt_term: string  Marketing term in the page's URL.
    mkt_content: string  Marketing content in the page's URL.
    mkt_campaign: string  Marketing campaign in the page's URL.
    se_category: string  Category of a structured event.
    se_action: string  Action of a structured event.
    se_label: string  Label of a structured event.
    se_property: string  Property of a structured event.
    se_value: double  Value of a structured event.
    tr_orderid: string  Order id of a transaction.
    tr_affiliation: string  Affiliation of a transaction.
    tr_total: decimal(18,2)  Total of a transaction.
    tr_tax: decimal(18,2)  Tax of a transaction.
    tr_shipping: decimal(18,2)  Shipping cost of a transaction.
    tr_city: string  City of a transaction.
    tr_state: string  State of a transaction.
    tr_country: string  Country of a transaction.
    ti_orderid: string  Order id of a transaction's item.
    ti_sku: string  Product code of a transaction's item.
    ti_name: string  Name of a transaction's item.
    ti_category: string  Category of a transaction's item.
    ti_price: decimal(18,2)  Price of a transaction's item.
    ti_quantity: int  Quantity of a transaction's item.
    pp_xoffset_min: int  Least horizontal scroll offset that a page ping reports, in pixels.
    pp_xoffset_max: int  Greatest horizontal scroll offset that a page ping reports, in pixels.
    pp_yoffset_min: int  Least vertical scroll offset that a page ping reports, in pixels.
    pp_yoffset_max: int  Greatest vertical scroll offset that a page ping reports, in pixels.
    useragent: string  User agent of the browser.
    br_name: string  Name of the browser.
    br_family: string  Family of the browser.
    br_version: string  Version of the browser.
    br_type: string  Type of the browser.
    br_renderengine: string  Rendering engine of the browser (deprecated).
    br_lang: string  Language of the browser, as a language tag.
    br_features_pdf: boolean  Whether the browser knows PDF.
    br_features_flash: boolean  Whether the browser knows Flash.
    br_features_java: boolean  Whether the browser knows Java.
    br_features_director: boolean  Whether the browser knows Director.
    br_features_quicktime: boolean  Whether the browser knows QuickTime.
    br_features_realplayer: boolean  Whether the browser knows RealPlayer.
    br_features_windowsmedia: boolean  Whether the browser knows Windows Media.
    br_features_gears: boolean  Whether the browser knows Gears.
    br_features_silverlight: boolean  Whether the browser knows Silverlight.
    br_cookies: boolean  Whether the browser takes cookies.
    br_colordepth: string  Color depth of the screen in bits.
    br_viewwidth: int  Width of the browser's viewport in pixels.
    br_viewheight: int  Height of the browser's viewport in pixels.
    os_name: string  Name of the operating system.
    os_family: string  Family of the operating system.
    os_manufacturer: string  Maker of the operating system.
    os_timezone: string  Time zone of the operating system.
    dvce_type: string  Type of the device (deprecated).
    dvce_ismobile: boolean  Whether the device is a mobile one (deprecated).
    dvce_screenwidth: int  Width of the screen in pixels.
    dvce_screenheight: int  Height of the screen in pixels.
    doc_charset: string  Character set of the page.
    doc_width: int  Width of the page's document in pixels.
    doc_height: int  Height of the page's document in pixels.
    tr_currency: string  Currency of a transaction.
    tr_total_base: decimal(18,2)  Total of a transaction, in the base currency.
    tr_tax_base: decimal(18,2)  Tax of a transaction, in the base currency.
    tr_shipping_base: decimal(18,2)  Shipping cost of a transaction, in the base currency.
    ti_currency: string  Currency of a transaction's item.
    ti_price_base: decimal(18,2)  Price of a transaction's item, in the base currency.
    base_currency: string  Currency that amounts are converted to.
    geo_timezone: string  Time zone of the IP address.
    mkt_clickid: string  Id of the click on an advertisement in the page's URL.
    mkt_network: string  Advertising network of the click id.
    etl_tags: string  Tags that the enrichment gave the event.
    dvce_sent_tstamp: timestamp  When the event was sent, by the device's clock.
    refr_domain_userid: string  Cookie id of the user on the site that linked here.
    refr_dvce_tstamp: timestamp  When the link from the other site was made, by the device's clock.
    domain_sessionid: string  Id of the session, a UUID.
    derived_tstamp: timestamp  When the event happened, with errors of the device's clock taken out.
    event_vendor: string  Who defined the event's type.
    event_name: string  Name of the event's type, such as `page_view`, `page_ping` or `link_click`.
    event_format: string  Format of the event's definition, such as `jsonschema`.
    event_version: string  Version of the event's definition.
    event_fingerprint: string  Hash of the fields that the client set.
    true_tstamp: timestamp  When the event happened, as the application itself says.
    load_tstamp: timestamp  When the event was loaded into the events table.
""")
