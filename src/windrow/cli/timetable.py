"""When the next round begins: on the beat, not before the last has ended, later after failures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

LONGEST_PAUSE = timedelta(hours=1)
"""After failures nobody waits longer than this, unless rounds are further apart anyway."""

# Whatever the interval, the longest pause is reached by then, and the numbers stay small.
_MOST_DOUBLINGS = 16


@dataclass(frozen=True)
class Timetable:
    """Rounds at a fixed rate: a beat every so often, counted from the first round's begin.

    All times are distances from that begin. They come from a clock that only goes forward, so that
    setting the host's clock neither skips rounds nor heaps them up.
    """

    every: timedelta

    def next_begin(self, began: timedelta, ended: timedelta, failures: int) -> timedelta:
        """When the round after this one begins; `failures`: how many in a row were in vain.

        A round that is still going on when the next is due delays it. Further beats that pass
        meanwhile are left out: one round takes in what all of them would have.
        """
        if failures:
            return ended + self.pause(failures)
        next_beat = (began // self.every + 1) * self.every
        return max(next_beat, ended)

    def pause(self, failures: int) -> timedelta:
        """How long to leave alone what failed so often: the interval, doubled each time."""
        # As a shift: to the type checker a power may be a fraction.
        doubled = self.every * (1 << min(failures - 1, _MOST_DOUBLINGS))
        return min(doubled, max(self.every, LONGEST_PAUSE))
