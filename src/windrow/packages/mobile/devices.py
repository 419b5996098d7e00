"""Which devices tell who they are."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from windrow.packages.mobile.settings import MobileSettings

ANONYMOUS = "00000000-0000-0000-0000-000000000000"
"""What a tracker sends in place of the device's id when it anonymises."""


def known_device(settings: MobileSettings) -> Column:
    """The device's id, or null where the device hides it.

    The reference takes all that hide it for one device, whose sessions it stitches to whoever
    logged in last; so does `merge_anonymous_devices`.
    """
    device = F.col("device_user_id")
    if settings.compat or settings.merge_anonymous_devices:
        return device
    return F.nullif(device, F.lit(ANONYMOUS))
