"""A run whose process dies, seen from inside: nothing of windrow runs after it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from website import Site, at
from windrow.engine.run import run
from windrow.engine.steps import Step
from windrow.state.holder import Holder
from windrow.state.leases import Leases


class PulledPlugError(BaseException):
    """Stands for the process being killed: nothing of windrow may run after it."""


def killed_after(site: Site, step: str, now: str) -> None:
    """A run whose process dies right after a step: no clean-up of its own, no process left."""
    ws = site.workspace
    gone = Holder(Holder.this_process().host, 2**22 + 1)
    dead = Leases(site.spark, ws.tables, ws.schemas.manifest, holder=gone)

    class Unplugged:
        """The leases of a machine without power: they answer until the plug is pulled."""

        is_dead = False

        def __getattr__(self, name: str) -> object:
            if Unplugged.is_dead and name == "is_ours":
                raise PulledPlugError
            return getattr(dead, name)

    def listener(told: Step) -> None:
        if told.name == step and told.status == "done":
            Unplugged.is_dead = True
            raise PulledPlugError

    with pytest.raises(PulledPlugError):
        # An object that answers as leases do, as long as there is power.
        run(replace(ws, leases=Unplugged()), now=at(now), listener=listener)  # type: ignore[arg-type]
