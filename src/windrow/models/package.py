"""What a package is: a set of models over the same events, and all that the engine knows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column

from windrow.config import ModelSettings, ReferenceLists
from windrow.errors import ConfigError, did_you_mean
from windrow.models.foundation import Foundation
from windrow.models.hooks import Hook, Hooks
from windrow.models.model import Model


@dataclass(frozen=True)
class Package:
    """A set of models over the same events, and the names that belong to it."""

    name: str
    settings: type[ModelSettings]
    """The options that it takes."""
    models: Callable[[Any], Sequence[Model]]
    """The enabled models under given settings, in reading order."""
    hooks: tuple[Hook, ...] = ()
    """What the project can decide by functions of its own, beside the hooks of every package."""
    foundation: Callable[[Any], Foundation] = lambda settings: Foundation()
    """What its models stand on, under given settings."""
    options_of_columns: Mapping[str, str] = field(default_factory=dict)
    """Event column -> the option that asks for it."""
    sessions: str | None = None
    """The model that has a row per session, from which rows about users are made; None: none."""
    own_sessions_table: Callable[[Any], str | None] = lambda settings: None
    """A table of the project's own that is read instead of that model's, under given settings."""
    filters: Callable[[Any, Hooks], Mapping[str, Column]] = lambda settings, hooks: {}
    """The reason for which its models leave out events of their sessions -> true for the others."""
    stands_alone: Callable[[Any], bool] = lambda settings: True
    """Whether rows of a session follow from its own events, under given settings."""
    begins_row: Callable[[], Column] | None = None
    """Of a session's events, those of which it must have one for a row of `sessions`; None: any."""
    reference_lists: Callable[[Any], ReferenceLists] = lambda settings: ReferenceLists()
    """The lists that its models take as `reference`, under given settings; ours by default."""
    has_prefixed_tables: bool = True
    """False: the names of its models are those of their tables."""
    views_in_reference: tuple[str, ...] = ()
    """Models that are tables here and views there: nothing of theirs is stored."""

    @property
    def stands_on(self) -> str | None:
        """The package whose base, manifests and progress this one shares; None: it has its own."""
        return self.settings.stands_on

    @property
    def prefix(self) -> str:
        """What the names of the package's tables begin with."""
        return f"snowplow_{self.name}_"

    @property
    def foundation_name(self) -> str:
        """The package whose manifests record this one's progress."""
        return self.stands_on or self.name

    @property
    def options_instead(self) -> dict[str, str]:
        """Model -> the option by which a table of the project's own takes its place."""
        if self.sessions is None or "sessions_table" not in self.settings.model_fields:
            return {}
        return {self.sessions: f"packages.{self.name}.sessions_table"}

    def tagged(self, models: Sequence[Model]) -> list[Model]:
        """The models, those of its manifest with the tag that the SQL packages give them."""
        tag = f"snowplow_{self.foundation_name}_incremental"
        return [
            replace(member, tags=tuple(dict.fromkeys((*member.tags, tag))))
            if member.tracked_names
            else member
            for member in models
        ]

    def enabled_models(self, settings: ModelSettings) -> list[Model]:
        """The package's own models under these settings, each knowing its package."""
        disabled = {member.name for member in self.disabled_models(settings)}
        return [member for member in self._members(settings) if member.name not in disabled]

    def disabled_models(self, settings: ModelSettings) -> list[Model]:
        """The models that the project switches off by name."""
        names = set(settings.disabled_models)
        return [m for m in self._members(settings) if {m.name, m.full_name} & names]

    def every_model(self, settings: ModelSettings | None) -> list[Model]:
        """All models that there are, whatever is switched on, in the reference's way and in ours.

        None: the package is not configured, which need not keep anyone from knowing their names.
        """
        options: dict[str, Any] = {**self._switches(), "disabled_models": ()}
        given = (
            self.settings.model_construct(**options)
            if settings is None
            else settings.model_copy(update=options)
        )
        other = given.model_copy(update={"compat": not given.compat})
        return [*self._members(given), *self._members(other)]

    def option_for(self, name: str, settings: ModelSettings) -> str | None:
        """The option, as windrow.yml has it, that makes a model one of these; None: none does."""
        for option, value in self._switches().items():
            changed = settings.model_copy(update={option: value})
            if any(name in (m.name, *m.steps, *m.tracked_names) for m in self._members(changed)):
                return f"packages.{self.name}.{option}: {str(value).lower()}"
        return None

    def refuse_unknown_disabled(self, settings: ModelSettings) -> None:
        """Stop at a name in `disabled_models` that no model of the package has."""
        if not settings.disabled_models:
            return
        known = self.every_model(settings)
        names = {name for member in known for name in (member.name, member.full_name)}
        for name in settings.disabled_models:
            if name not in names:
                raise ConfigError(
                    f"packages.{self.name}.disabled_models: the package has no model '{name}'."
                    f"{did_you_mean(name, names)} To switch off a model of your own, take its file "
                    "out of models/."
                )

    def _switches(self) -> dict[str, bool]:
        """The options that switch models on, and how."""
        fields = self.settings.model_fields
        on = {name: True for name in fields if name.startswith("enable_")}
        return on | {name: False for name in fields if name.startswith("disable_")}

    def _members(self, settings: ModelSettings) -> list[Model]:
        return [
            replace(
                member, package=self.name, prefix=self.prefix if self.has_prefixed_tables else ""
            )
            for member in self.models(settings)
        ]
