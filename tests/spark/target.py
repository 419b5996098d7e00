"""What a target of a test says of Spark."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """The least that the start of Spark asks a target for."""

    master: str | None = "local[2]"
    remote: str | None = None
    conf: dict[str, str] = field(default_factory=dict)
    jars: tuple[str, ...] = ()
