"""Which packages of a project run together, their models in order, and what a selection means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from windrow.config import Config
from windrow.errors import UsageError, did_you_mean
from windrow.models.custom_models import load_models
from windrow.models.extras import check_extras
from windrow.models.graph import in_order, refuse_switched_off, with_helpers, with_own_sessions
from windrow.models.hooks import Hooks, load_hooks
from windrow.models.model import Model
from windrow.models.own_models import with_kept_rows
from windrow.models.selection import select as selected
from windrow.models.selection import within
from windrow.packages import HOOKS, PACKAGES


@dataclass(frozen=True)
class Choice:
    """A package that a command is about, and its part of the selection."""

    package: str
    select: str | None = None
    exclude: str | None = None


@dataclass(frozen=True)
class Assembly:
    """What a project's configuration, models/ and hooks.py are put together to. Needs no Spark."""

    config: Config

    def package_names(self, package: str | None = None) -> list[str]:
        """The packages that a command means: the one named, or all enabled ones.

        Packages that share a foundation run together, as `web+media_player`.
        """
        enabled = self._enabled
        if package is None:
            return ["+".join(self.standing_on(foundation)) for foundation in self._foundations()]
        for name in package.split("+"):
            if name not in enabled:
                raise UsageError(
                    f"Package '{name}' is not in windrow.yml.{did_you_mean(name, enabled)} "
                    f"Configured: {', '.join(enabled) or 'none'}."
                )
        if len({PACKAGES[name].foundation_name for name in package.split("+")}) > 1:
            raise UsageError(f"The packages {package} share no foundation: they run one by one.")
        return [package]

    def foundation_of(self, package: str) -> str:
        """The package whose foundation one stands on, or several do that run together."""
        (meant,) = self.package_names(package)
        return PACKAGES[meant.split("+")[0]].foundation_name

    @property
    def _enabled(self) -> list[str]:
        return [name for name, settings in self.config.packages.items() if settings.enabled]

    def _foundations(self) -> list[str]:
        return list(dict.fromkeys(PACKAGES[name].foundation_name for name in self._enabled))

    def standing_on(self, foundation: str) -> list[str]:
        """The enabled packages on a foundation, the one whose foundation it is first."""
        found = [name for name in self._enabled if PACKAGES[name].foundation_name == foundation]
        return sorted(found, key=lambda name: name != foundation)

    @cached_property
    def _own_models(self) -> list[Model]:
        """The models of the project's own; their files are executed once."""
        return load_models(self.config.project_dir / "models", self.config.project_dir)

    @cached_property
    def hooks(self) -> Hooks:
        """The hooks of the project's own; their file is executed once."""
        return load_hooks(self.config.project_dir / "hooks.py", HOOKS)

    def models(self, package: str) -> list[Model]:
        """The package's models and the project's own, each after those it reads."""
        meant = package.split("+")
        models = self.models_on(self.foundation_of(package))
        return [member for member in models if member.package in meant]

    def models_on(self, foundation: str) -> list[Model]:
        """All enabled models of the packages on a foundation, each after those it reads."""
        packages = self.standing_on(foundation)
        # A model that names no package belongs to the first one.
        first = self.standing_on(self._foundations()[0])[0]
        models: list[Model] = []
        disabled: list[Model] = []
        for name in packages:
            PACKAGES[name].refuse_unknown_disabled(self.config.packages[name])
            models += PACKAGES[name].enabled_models(self.config.packages[name])
            disabled += PACKAGES[name].disabled_models(self.config.packages[name])
        for member in self._own_models:
            if (member.package or first) in packages:
                models.append(replace(member, package=member.package or first))
        base, settings = PACKAGES[foundation], self.config.foundation_settings(packages[0])
        stands_on = base.foundation(settings)
        models = with_helpers(models, disabled, stands_on.session)
        models = with_own_sessions(models, base.sessions, base.own_sessions_table(settings))
        refuse_switched_off(models, disabled, base.options_instead)
        ordered = with_kept_rows(in_order(base.tagged(models)), stands_on)
        for name in packages:
            own = self.config.packages[name]
            with_extras = [m for m in ordered if m.package == name and m.extras is not None]
            check_extras(own, {m.name: m.columns_for(own) or () for m in with_extras})
        return ordered

    def _why_off(self, name: str) -> str:
        """Which option a model waits for that is none now; empty: there is no such model."""
        for package in self._enabled:
            settings = self.config.packages[package]
            disabled = PACKAGES[package].disabled_models(settings)
            if any(name in (member.name, member.full_name) for member in disabled):
                return f" packages.{package}.disabled_models switches it off."
            if option := PACKAGES[package].option_for(name, settings):
                return f" It is made with {option}."
        return ""

    def choices(
        self, packages: Sequence[str], select: str | None = None, exclude: str | None = None
    ) -> list[Choice]:
        """What a selection means for each package; those that it leaves nothing of are left out.

        Every part of it must mean something in one of them.
        """
        models = {package: self.models(package) for package in packages}
        selected(
            [member for members in models.values() for member in members],
            select,
            exclude,
            why_not=self._why_off,
        )
        found = [
            Choice(package, within(members, select) or None, within(members, exclude) or None)
            for package, members in models.items()
        ]
        meant = [choice for choice in found if choice.select or not select]
        if not meant:
            raise UsageError(f"The selection '{select}' leaves no model.")
        return meant
