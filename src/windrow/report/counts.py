"""What a run counts, in words."""

from __future__ import annotations

LEFT_OUT = {
    "window_without_session": "without a session id",
    "window_absurd_time": "at an absurd or unknown time",
    "window_too_late": "sent too late",
    "window_other_app": "of other applications",
    "window_other_platform": "of other platforms",
    "window_quarantined": "of quarantined sessions",
    "window_past_cap": "past a session's cap",
}
"""Count -> of which events of the window it tells, all of them left out."""

LEFT_OUT_OF_SESSIONS = {"filtered_bot": "of bots"}
"""Count -> of which events of the run's sessions it tells, left out by models."""
