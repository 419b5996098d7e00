"""Devices: browsers and robots, as the tracker, the enrichments and the screen describe them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.atomic.entity_columns import IAB, UA_PARSER, YAUAA
from windrow.demo.draws import draw, nth, weighted_index


@dataclass(frozen=True)
class Device:
    """One kind of device, and how many of a thousand visitors have it."""

    weight: int
    device_class: str
    brand: str
    name: str
    os: str
    os_version: str
    browser: str
    version: str
    engine: str
    screen: tuple[int, int]
    view: tuple[int, int]
    useragent: str

    @property
    def is_robot(self) -> bool:
        """Whether the IAB list knows it as a spider or robot."""
        return self.device_class == "Robot"


_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"
_CHROME_PHONE = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
_SAFARI = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4"

DEVICES = (
    Device(
        240, "Desktop", "Unknown", "Desktop", "Windows NT", "10.0", "Chrome", "124.0.0.0", "Blink",
        (1920, 1080), (1903, 969), f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_CHROME}",
    ),
    Device(
        70, "Desktop", "Unknown", "Desktop", "Windows NT", "10.0", "Edge", "124.0.2478", "Blink",
        (1536, 864), (1519, 730),
        f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_CHROME} Edg/124.0.2478.51",
    ),
    Device(
        40, "Desktop", "Unknown", "Desktop", "Linux", "6.8", "Firefox", "125.0", "Gecko",
        (2560, 1440), (2548, 1289),
        "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0",
    ),
    Device(
        110, "Desktop", "Apple", "Apple Macintosh", "Mac OS", "10.15.7", "Safari", "17.4",
        "AppleWebKit", (1440, 900), (1425, 764),
        f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {_SAFARI} Safari/605.1.15",
    ),
    Device(
        210, "Phone", "Apple", "Apple iPhone", "iOS", "17.4", "Safari", "17.4", "AppleWebKit",
        (390, 844), (390, 664),
        f"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) {_SAFARI} Mobile/15E148"
        " Safari/604.1",
    ),
    Device(
        150, "Phone", "Samsung", "Samsung SM-S911B", "Android", "14", "Chrome", "124.0.0.0",
        "Blink", (360, 780), (360, 647),
        f"Mozilla/5.0 (Linux; Android 14; SM-S911B) {_CHROME_PHONE}",
    ),
    Device(
        80, "Phone", "Google", "Google Pixel 7", "Android", "14", "Chrome", "124.0.0.0", "Blink",
        (412, 915), (412, 784), f"Mozilla/5.0 (Linux; Android 14; Pixel 7) {_CHROME_PHONE}",
    ),
    Device(
        45, "Tablet", "Apple", "Apple iPad", "iOS", "16.6", "Safari", "16.6", "AppleWebKit",
        (820, 1180), (820, 1106),
        "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
        " Version/16.6 Mobile/15E148 Safari/604.1",
    ),
    Device(
        25, "Tablet", "Samsung", "Samsung SM-X700", "Android", "13", "Chrome", "124.0.0.0",
        "Blink", (800, 1280), (800, 1152), f"Mozilla/5.0 (Linux; Android 13; SM-X700) {_CHROME}",
    ),
    Device(
        20, "Robot", "Google", "Google", "Google Cloud", "??", "Googlebot", "2.1", "Blink",
        (1024, 1024), (1024, 1024),
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    ),
    Device(
        10, "Robot", "Microsoft", "Bing", "Cloud", "??", "bingbot", "2.0", "Blink",
        (1024, 768), (1024, 768),
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    ),
)  # fmt: skip


def device_of(visitor_key: Column) -> Column:
    """The index of the visitor's device."""
    return weighted_index([device.weight for device in DEVICES], draw("device", visitor_key))


def device_columns(device: Column) -> dict[str, Column]:
    """The event columns that follow from the device's index."""
    return {
        "useragent": nth([d.useragent for d in DEVICES], device),
        "br_name": nth([f"{d.browser} {_major(d.version)}" for d in DEVICES], device),
        "br_family": nth([d.browser for d in DEVICES], device),
        "br_version": nth([d.version for d in DEVICES], device),
        "br_type": nth(["Robot" if d.is_robot else "Browser" for d in DEVICES], device),
        "br_renderengine": nth([d.engine for d in DEVICES], device),
        "br_cookies": F.lit(True),
        "br_colordepth": F.lit("24"),
        "br_viewwidth": nth([d.view[0] for d in DEVICES], device, "int"),
        "br_viewheight": nth([d.view[1] for d in DEVICES], device, "int"),
        "os_name": nth([f"{d.os} {d.os_version}" for d in DEVICES], device),
        "os_family": nth([d.os for d in DEVICES], device),
        "dvce_type": nth([d.device_class for d in DEVICES], device),
        "dvce_ismobile": nth(
            [d.device_class in ("Phone", "Tablet") for d in DEVICES], device, "boolean"
        ),
        "dvce_screenwidth": nth([d.screen[0] for d in DEVICES], device, "int"),
        "dvce_screenheight": nth([d.screen[1] for d in DEVICES], device, "int"),
        "doc_width": nth([d.view[0] for d in DEVICES], device, "int"),
        IAB.name: nth([[_iab(d)] for d in DEVICES], device, IAB.type),
        UA_PARSER.name: nth([[_ua_parser(d)] for d in DEVICES], device, UA_PARSER.type),
        YAUAA.name: nth([[_yauaa(d)] for d in DEVICES], device, YAUAA.type),
    }


def _major(version: str) -> str:
    return version.split(".")[0]


def _iab(device: Device) -> dict[str, object]:
    robot = device.is_robot
    return {
        "category": "SPIDER_OR_ROBOT" if robot else "BROWSER",
        "primary_impact": "UNKNOWN" if robot else "NONE",
        "reason": "FAILED_UA_INCLUDE" if robot else "PASSED_ALL",
        "spider_or_robot": robot,
    }


def _ua_parser(device: Device) -> dict[str, object]:
    browser, system = device.version.split("."), device.os_version.split(".")
    return {
        "useragent_family": device.browser,
        "useragent_major": browser[0],
        "useragent_minor": browser[1] if len(browser) > 1 else None,
        "useragent_patch": browser[2] if len(browser) > 2 else None,
        "useragent_version": f"{device.browser} {device.version}",
        "os_family": device.os,
        "os_major": system[0],
        "os_minor": system[1] if len(system) > 1 else None,
        "os_patch": system[2] if len(system) > 2 else None,
        "os_patch_minor": None,
        "os_version": f"{device.os} {device.os_version}",
        "device_family": "Spider" if device.is_robot else device.name,
    }


def _yauaa(device: Device) -> dict[str, object]:
    browser, major = device.browser, _major(device.version)
    mobile = device.device_class in ("Phone", "Tablet")
    return {
        "device_class": device.device_class,
        "agent_class": "Robot" if device.is_robot else "Browser",
        "agent_name": browser,
        "agent_name_version": f"{browser} {device.version}",
        "agent_name_version_major": f"{browser} {major}",
        "agent_version": device.version,
        "agent_version_major": major,
        "device_brand": device.brand,
        "device_name": device.name,
        "device_version": None,
        "layout_engine_class": "Robot" if device.is_robot else "Browser",
        "layout_engine_name": device.engine,
        "layout_engine_name_version": f"{device.engine} {major}",
        "layout_engine_name_version_major": f"{device.engine} {major}",
        "layout_engine_version": device.version,
        "layout_engine_version_major": major,
        "operating_system_class": (
            "Cloud" if device.is_robot else "Mobile" if mobile else "Desktop"
        ),
        "operating_system_name": device.os,
        "operating_system_name_version": f"{device.os} {device.os_version}",
        "operating_system_version": device.os_version,
    }
