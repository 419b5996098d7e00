"""The hooks of the web package."""

from __future__ import annotations

from windrow.models.hooks import FILTER_BOTS, STITCH_USER_IDENTIFIERS, Hook, layout_hooks

HOOKS = (
    FILTER_BOTS,
    STITCH_USER_IDENTIFIERS,
    Hook("content_group", "the content group of a page view", reference_name="content_group_query"),
    Hook(
        "channel_group",
        "the default channel group of a page view or session",
        reference_name="channel_group_query",
    ),
    Hook("engaged_session", "whether a session is engaged"),
    Hook("core_web_vital_page_groups", "the group of pages that a web vitals row belongs to"),
    Hook(
        "core_web_vital_results",
        "the verdict on one web vitals measure",
        ("measure", "default"),
        reference_name="core_web_vital_results_query",
    ),
    Hook(
        "core_web_vital_pass",
        "whether a group of page views passes on its web vitals",
        reference_name="core_web_vital_pass_query",
    ),
    Hook("get_iab_context_fields", "the IAB columns"),
    Hook("get_ua_context_fields", "the UA parser columns"),
    Hook("get_yauaa_context_fields", "the YAUAA columns"),
    Hook("get_conversion_columns", "the columns of one conversion", ("conversion", "default")),
    *layout_hooks(
        {
            "web_cluster_by_fields_sessions_lifecycle": (
                "snowplow_web_base_sessions_lifecycle_manifest"
            ),
            "web_cluster_by_fields_page_views": "snowplow_web_page_views",
            "web_cluster_by_fields_sessions": "snowplow_web_sessions",
            "web_cluster_by_fields_users": "snowplow_web_users",
            "web_cluster_by_fields_consent": "snowplow_web_consent_log",
            "web_cluster_by_fields_cwv": "snowplow_web_vitals",
        }
    ),
)
