"""The hooks of the mobile package."""

from __future__ import annotations

from windrow.models.hooks import STITCH_USER_IDENTIFIERS, layout_hooks

_LIFECYCLE = "snowplow_mobile_base_sessions_lifecycle_manifest"

HOOKS = (
    STITCH_USER_IDENTIFIERS,
    *layout_hooks(
        {
            "mobile_cluster_by_fields_sessions_lifecycle": _LIFECYCLE,
            "mobile_cluster_by_fields_screen_views": "snowplow_mobile_screen_views",
            "mobile_cluster_by_fields_sessions": "snowplow_mobile_sessions",
            "mobile_cluster_by_fields_users": "snowplow_mobile_users",
            "cluster_by_fields_app_errors": "snowplow_mobile_app_errors",
        }
    ),
)
