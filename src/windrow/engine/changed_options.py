"""Options that changed since the last run: what rows mean must not change in silence."""

from __future__ import annotations

from windrow.engine.options import RunOptions
from windrow.engine.plan import Plan
from windrow.engine.steps import Listener, Step
from windrow.engine.workspace import Workspace
from windrow.errors import RefusedError
from windrow.state.runs import RunRecord

IDENTITY = frozenset(
    ("session_identifiers", "session_sql", "user_identifiers", "user_sql", "session_timestamp")
)
"""Options that decide what a session is and whose: rows made before a change mean other things."""


def refuse_changed_options(
    ws: Workspace, last: RunRecord | None, plan: Plan, options: RunOptions, listener: Listener
) -> None:
    """Stop where an option changed that alters what rows mean; tell of others in a line."""
    if last is None or last.options is None or last.settings_fingerprint == ws.fingerprint():
        return
    before, now = last.options, ws.changed_options()
    changed = {
        name: f"{name} was {before.get(name, 'the default')}, is {now.get(name, 'the default')}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    }
    is_accepted = options.accept_changed_options or (options.full_refresh and plan.fresh.is_whole)
    identity = [text for name, text in changed.items() if name.rpartition(".")[2] in IDENTITY]
    if identity and not is_accepted:
        raise RefusedError(
            f"An option changed that decides what rows mean: {'; '.join(identity)}. Sessions and "
            "users under the former and the new one would mix in the same tables. Set it back, "
            "rebuild everything with --full-refresh, or go on with --accept-changed-options."
        )
    if changed:
        text = f"Options changed since the last run: {'; '.join(changed.values())}"
        listener(Step("options", "info", detail=text))
