"""The options of the media player package, which runs on web's base."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field, model_validator

from windrow.config.fields import Count, Number, Pattern, one_as_many
from windrow.config.options import ModelSettings

END = 100
"""The percent at which media are over; always a boundary."""

Percent = Annotated[int, Field(ge=0, le=END)]
Percents = Annotated[
    tuple[Percent, ...],
    BeforeValidator(one_as_many, json_schema_input_type=Percent | tuple[Percent, ...]),
]


class MediaPlayerSettings(ModelSettings):
    """How the media player package makes its tables; how it runs is told under web."""

    stands_on: ClassVar[str | None] = "web"
    ignored_options: ClassVar[tuple[str, ...]] = (
        *ModelSettings.ignored_options,
        "media_player_event_context",
        "media_player_context",
        "youtube_context",
        "html5_media_element_context",
        "html5_video_element_context",
    )

    percent_progress_boundaries: Percents = Field(
        default=(10, 25, 50, 75),
        description="Percents at which the tracker reports progress; 100 is always one of them.",
    )
    valid_play_sec: Number = Field(
        default=30, description="Seconds of play time that a valid play has more than."
    )
    complete_play_rate: Number = Field(
        default=0.99, description="Share of the duration from which on a play is complete."
    )
    max_media_pv_window: Count = Field(
        default=10,
        description="With `compat`: hours after its last event until a play counts in stats.",
    )
    enable_youtube: bool = Field(default=False, description="Events come from YouTube players.")
    enable_whatwg_media: bool = Field(
        default=False, description="Events come from HTML5 audio or video elements."
    )
    enable_whatwg_video: bool = Field(
        default=False, description="HTML5 video elements tell their size, too."
    )
    enable_session_and_user_stats: bool = Field(
        default=False, description="Build the statistics per session and per user."
    )
    enable_retention: bool | None = Field(
        default=None, description="Build the retention curves; if not said, unless `compat`."
    )
    surrogate_key_treat_nulls_as_empty_strings: bool = Field(
        default=True, description="In keys made of several columns, take null for empty text."
    )
    ua_bot_filter: bool = Field(
        default=False, description="Leave out events of user agents that are bots."
    )
    ua_bot_pattern: Pattern | None = Field(
        default=None,
        description="Regular expression for bot user agents, in place of the built-in one.",
    )

    @model_validator(mode="after")
    def _has_a_player(self) -> Self:
        if self.enabled and not (self.enable_youtube or self.enable_whatwg_media):
            raise ValueError("enable_youtube or enable_whatwg_media to be true, or both")
        return self

    @model_validator(mode="after")
    def _has_the_element_of_a_video(self) -> Self:
        if self.enable_whatwg_video and not self.enable_whatwg_media:
            raise ValueError("enable_whatwg_media to be true where enable_whatwg_video is")
        return self

    @property
    def boundaries(self) -> tuple[int, ...]:
        """The percents, ascending, 100 among them."""
        return tuple(sorted({*self.percent_progress_boundaries, END}))

    @property
    def weights(self) -> dict[int, int]:
        """Boundary -> percents since the one before it; they add up to 100."""
        return {
            percent: percent - before
            for before, percent in zip((0, *self.boundaries), self.boundaries, strict=False)
        }
