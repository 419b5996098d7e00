"""The pictures of docs/concepts; build.py writes them into docs/images.

Windows are what `run_limits` says, so that a picture shows what a run does.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from drawing import Picture, TimeLine

from windrow.engine.upsert import _FEW_ROWS, _STORED_PER_CHANGED
from windrow.state.limits import Limits, run_limits

START = date(2024, 1, 1)
BACKFILL_DAYS, LOOKBACK_HOURS = 10, 36
"""Of the pictures: with the defaults, 30 days and 6 hours, a look-back could not be seen."""
MODELS = ("page_views", "sessions", "users")


def jan(day: float) -> datetime:
    """A moment of the pictures' month: 10.5 is noon on the tenth."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=day - 1)


def limits_at(positions: dict[str, datetime], tracked: tuple[str, ...], now: datetime) -> Limits:
    """What a run would take in, with the pictures' options."""
    return run_limits(
        positions,
        tracked,
        start_date=START,
        backfill_limit_days=BACKFILL_DAYS,
        lookback_window_hours=LOOKBACK_HOURS,
        now=now,
    )


def window(picture: Picture, line: TimeLine, limits: Limits, y: float) -> None:
    """A run's window: its look-back, and what is new."""
    new = limits.progress or limits.lower
    if new > limits.lower:
        line.span(picture, limits.lower, new, y, "amber")
    line.span(picture, new, limits.upper, y, "blue")


def states() -> Picture:
    """The four states, each with the window that follows from it."""
    picture = Picture(
        "states",
        "The four states and their windows",
        "Four rows on one time line, with the models' positions and the window of the next run. "
        "First run: from the start date, for as many days as the back-fill limit allows. New "
        "model: the same, at most to where the leading model stands. Out of sync: from the lagging "
        "model less the look-back, at most to the leading one. Standard: from the last event less "
        "the look-back to now.",
        760,
        408,
    )
    line = TimeLine(jan(1), jan(31), 180, 720)
    now, leading, lagging = jan(29.5), jan(25), jan(11)
    level = dict.fromkeys(MODELS, leading)
    rows = [
        ("1  First run", "no model has a row", {}, "ends at the back-fill limit"),
        (
            "2  New model",
            "a model has no row",
            {m: leading for m in MODELS[:2]},
            "the same, at most to the leading model",
        ),
        ("3  Out of sync", "rows differ", level | {"users": lagging}, ""),
        ("4  Standard", "rows agree", level, "ends now"),
    ]
    for x, words in ((line.x(jan(1)), "start_date"), (line.x(now), "now")):
        picture.line(x, 34, x, 336, "dashed")
        picture.text(x, 26, words, at="middle", look="small")
    for number, (name, when, positions, end) in enumerate(rows):
        y = 52 + number * 74
        limits = limits_at(positions, MODELS, now)
        assert limits.state.number == number + 1
        picture.text(8, y + 14, name, look="strong")
        picture.text(8, y + 32, when, look="small")
        window(picture, line, limits, y)
        if limits.upper < leading:
            picture.text(line.x(limits.upper) + 8, y + 14, end, look="small")
        else:
            picture.text(line.x(limits.lower) - 8, y + 14, end, at="end", look="small")
        picture.line(line.left, y + 34, line.right, y + 34)
        ahead = [model for model, position in positions.items() if position == leading]
        if ahead:
            picture.dot(line.x(leading), y + 34, "green")
            words = "all models" if len(ahead) == len(MODELS) else " and ".join(ahead)
            picture.text(line.x(leading), y + 52, words, at="middle", look="small")
        for model in MODELS:
            position = positions.get(model, jan(1))
            if position != leading and positions:
                look = "green" if model in positions else "green open"
                picture.dot(line.x(position), y + 34, look)
                words = model if model in positions else f"{model}: no row yet"
                picture.text(line.x(position) + 9, y + 52, words, look="small")
    line.draw(picture, 346, every_days=5)
    picture.legend(
        180,
        396,
        [("amber", "look-back"), ("blue", "new to the run"), ("green", "how far a model has come")],
    )
    return picture


def session() -> Picture:
    """One session from its first event to its quarantine."""
    picture = Picture(
        "session",
        "The life of a session that does not end",
        "A session begins on January 10 at 10:00 and goes on for days. Each run records its start "
        "and its end so far. An event that is loaded late comes in when the next event brings the "
        "whole session back. Three days after its start the session is cut off and quarantined: "
        "later events are in no table.",
        760,
        424,
    )
    line = TimeLine(jan(10), jan(16), 180, 720)
    begin, cap, late = jan(10 + 10 / 24), jan(13 + 10 / 24), jan(10.9)
    taken = [begin, jan(10.7), jan(11.4), jan(12.3), jan(13.25)]
    beyond, ignored = jan(13.8), jan(14.6)
    picture.text(8, 58, "Its events", look="strong")
    picture.line(line.left, 54, line.right, 54)
    for moment in taken:
        picture.dot(line.x(moment), 54, "blue")
    picture.dot(line.x(late), 54, "amber")
    for moment in (beyond, ignored):
        picture.dot(line.x(moment), 54, "red open")
    picture.text(line.x(late), 40, "loaded two days late", at="middle", look="small")
    x = line.x(cap)
    picture.line(x, 26, x, 290, "dashed")
    picture.text(x, 18, "start + max_session_days", at="middle", look="small")
    rows = [
        (jan(11), jan(10.7), "recorded: start, end so far"),
        (jan(12), jan(11.4), "a new event: the session is read whole"),
        (jan(13), jan(12.3), "whole: the late event comes in too"),
        (jan(14), cap, "cut at the cap, and quarantined"),
    ]
    for number, (clock, end, words) in enumerate(rows):
        y = 84 + number * 54
        picture.text(8, y + 14, f"Run on {clock:%b} {clock.day}", look="strong")
        line.span(picture, begin, end, y, "red" if end == cap else "blue")
        for moment in (*taken, late):
            if moment <= min(end, clock) and (moment != late or clock >= jan(13)):
                colour = "amber" if moment == late else "blue"
                picture.dot(line.x(moment), y + 9, colour, size=3.5)
        picture.text(line.x(begin), y + 34, words, look="small")
    picture.text(8, 314, "Run on Jan 15", look="strong")
    picture.text(
        line.x(begin), 314, "in quarantine: its new events are not looked at", look="small"
    )
    picture.text(line.x(begin), 332, "the rows that it has stay as they are", look="small")
    line.draw(picture, 362, every_days=1)
    picture.legend(
        180, 412, [("blue", "in the tables"), ("amber", "late"), ("red", "beyond the cap")]
    )
    return picture


def catch_up() -> Picture:
    """A new model beside the live ones, call by call."""
    picture = Picture(
        "catch-up",
        "A new model catches up beside the live ones",
        "Four calls of windrow run, a day apart. In each, the live models take in the newest "
        "events as ever. Beside them the new model takes in one window of history after the "
        "other, until it stands level with them. Then all run together.",
        760,
        388,
    )
    line = TimeLine(jan(1), jan(31), 180, 720)
    live, new = "live models", "new model"
    positions = {live: jan(25)}
    for number in range(4):
        y, now = 44 + number * 72, jan(26 + number)
        picture.text(8, y + 4, f"Call {number + 1}", look="strong")
        picture.text(8, y + 22, f"{now:%b} {now.day}, 0:00", look="small")
        together = len(set(positions.values())) == 1 and len(positions) == 2
        standard = limits_at(positions, tuple(positions) if together else (live,), now)
        window(picture, line, standard, y - 10)
        words = "all models, one run" if together else live
        picture.text(line.x(standard.lower) - 8, y + 4, words, at="end", look="small")
        positions |= dict.fromkeys(positions if together else (live,), now)
        if not together:
            limits = limits_at(positions, (live, new), now)
            window(picture, line, limits, y + 16)
            words = f"{new}: state {limits.state.number}"
            if limits.upper < now:
                picture.text(line.x(limits.upper) + 8, y + 30, words, look="small")
            else:
                picture.text(line.x(limits.lower) - 8, y + 30, words, at="end", look="small")
            positions[new] = limits.upper
        if not together:
            picture.line(line.left, y + 46, line.right, y + 46, "dashed")
    assert len(set(positions.values())) == 1, "the last call shows them level"
    line.draw(picture, 328, every_days=5)
    picture.legend(180, 378, [("amber", "look-back"), ("blue", "new to the models")])
    return picture


def upsert() -> Picture:
    """Days written anew, and a merge."""
    picture = Picture(
        "upsert",
        "Two ways in which rows replace stored ones",
        "Left: the run brings many of the rows of two days. Those two days are written anew, with "
        "the stored rows that stay and the new ones; the other days are left alone. Right: the run "
        "brings a few rows of two large days. A MERGE that is bounded by those two days replaces "
        "them.",
        760,
        372,
    )
    for left, heading, rows, changed in (
        (8, "Many rows of their days: written anew", 5, {2: (1, 2, 4), 3: (0, 1, 3)}),
        (398, "Few rows in large days: a bounded MERGE", 9, {2: (6,), 3: (2,)}),
    ):
        picture.text(left, 22, heading, look="strong")
        bottom = 246
        for day in range(5):
            x = left + 8 + day * 70
            for row in range(rows):
                y = bottom - (row + 1) * 20
                is_new = row in changed.get(day, ())
                anew = rows == 5 and day in changed
                picture.box(x, y, 54, 15, "blue" if is_new else "green" if anew else "grey")
            picture.text(x + 27, bottom + 18, f"Jan {day + 21}", at="middle", look="small")
            note = ("written", "anew") if rows == 5 else ("merged", "by key")
            words = note if day in changed else ("left", "alone")
            for place, word in enumerate(words):
                picture.text(x + 27, bottom + 38 + place * 15, word, at="middle", look="small")
    picture.line(380, 12, 380, 306, "dashed")
    picture.legend(
        16,
        332,
        [
            ("blue", "row of the run"),
            ("green", "stored, written again"),
            ("grey", "stored, left alone"),
        ],
    )
    picture.text(
        16,
        360,
        f"Written anew: days of at most {_FEW_ROWS:,} rows, or {_STORED_PER_CHANGED} for each row "
        "that changes. Otherwise: a MERGE.",
        look="small",
    )
    return picture


def crash() -> Picture:
    """A killed run, and what the next one does about it."""
    picture = Picture(
        "crash",
        "A run is killed, and the next one undoes it",
        "Run 17 takes the lease and writes page_views and sessions; then it is killed. The "
        "manifest still tells of run 16. Run 18 finds the lease of a run that is gone, takes "
        "page_views and sessions back to the versions before run 17, then does the work: "
        "page_views, sessions, users, and last the manifest, which decides that the run happened.",
        760,
        360,
    )
    lanes = ["lease", "page_views", "sessions", "users", "manifest"]
    top, step = 74, 46
    for number, lane in enumerate(lanes):
        y = top + number * step
        picture.text(8, y + 14, lane, look="strong")
        picture.line(110, y + 9, 748, y + 9)
    at = {lane: top + number * step for number, lane in enumerate(lanes)}

    def note(lane: str, x: float, width: float, words: str, colour: str) -> None:
        picture.box(x, at[lane], width, 18, colour)
        picture.text(x + width / 2, at[lane] + 32, words, at="middle", look="small")

    picture.text(190, 28, "Run 17", at="middle", look="strong")
    note("lease", 118, 172, "held by run 17", "amber")
    note("page_views", 148, 52, "v8 → v9", "blue")
    note("sessions", 208, 52, "v5 → v6", "blue")
    picture.cross(290, at["lease"] + 9)
    picture.line(290, 40, 290, at["manifest"] + 18, "dashed")
    picture.text(298, 52, "killed", look="small")
    picture.text(548, 28, "Run 18", at="middle", look="strong")
    note("lease", 372, 370, "taken over: the holder is gone", "amber")
    note("page_views", 402, 62, "back to v8", "red")
    note("sessions", 402, 62, "back to v5", "red")
    note("page_views", 496, 52, "v11", "blue")
    note("sessions", 556, 52, "v8", "blue")
    note("users", 616, 52, "v4", "blue")
    note("manifest", 680, 52, "commit", "green")
    words = "tells of run 16: run 17 did not happen"
    picture.text(118, at["manifest"] + 32, words, look="small")
    picture.legend(
        110,
        348,
        [("blue", "a table's commit"), ("red", "taken back"), ("green", "the commit that counts")],
    )
    return picture


PICTURES: tuple[Callable[[], Picture], ...] = (states, session, catch_up, upsert, crash)


def pictures() -> dict[str, str]:
    """Every picture, by the name of its file."""
    return {f"{picture.name}.svg": picture.svg() for picture in (draw() for draw in PICTURES)}
