"""Which user agents are people's, and what kind of device was used."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from windrow.columns.devices import (
    device_category,
    is_bot,
    is_human,
    screen_resolution,
)
from windrow.tables.frames import frame_of

AGENTS = {
    # user agent: (kept by us, kept by the reference)
    "Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36": (True, True),
    "Mozilla/5.0 (compatible; Googlebot/2.1)": (False, False),
    "Mozilla/5.0 (compatible; bingbot/2.0)": (False, False),
    "BingPreview/1.0b": (False, False),
    "facebookexternalhit/1.1": (False, False),
    "Pingdom.com_bot_version_1.4": (False, False),
    "PhantomJS/2.1": (False, False),
    "360Spider": (False, False),
    "360User-agent": (False, False),
    "browsershots": (False, False),
    "semalt": (False, False),
    # The reference's pattern knows one spelling of each word only.
    "Mozilla/5.0 (compatible; AhrefsBot/7.0)": (False, True),
    "SCREAMING CRAWLER": (False, True),
    # A maker of phones.
    "Mozilla/5.0 (Linux; Android 9; CUBOT_X19) Chrome/120.0": (True, True),
    "Mozilla/5.0 (Linux; Android 9; Cubot X19) Chrome/120.0": (True, False),
    "": (True, True),
    None: (True, None),
}


def test_bots_are_recognised_in_any_spelling(spark: SparkSession):
    agent = F.col("useragent")
    found = frame_of(spark, [[name] for name in AGENTS], {"useragent": "string"}).select(
        agent,
        is_human(is_bot(agent, compat=False), unknown_is_human=True),
        is_human(is_bot(agent, compat=True), unknown_is_human=False),
    )
    assert {row[0]: (row[1], row[2]) for row in found.collect()} == AGENTS


def test_device_category_and_screen_resolution(spark: SparkSession):
    columns = {"device_class": "string", "width": "int", "height": "int"}
    devices = [
        ("Desktop", 1920, 1080),
        ("Phone", 414, 896),
        ("Tablet", None, 896),
        ("Robot", 414, None),
        ("phone", None, None),
        (None, 0, 0),
    ]
    found = frame_of(spark, devices, columns).select(
        device_category(F.col("device_class")),
        screen_resolution(F.col("width"), F.col("height")),
    )
    assert [tuple(row) for row in found.collect()] == [
        ("Desktop", "1920x1080"),
        ("Mobile", "414x896"),
        ("Tablet", None),
        ("Other", None),
        ("Other", None),
        ("Other", "0x0"),
    ]
