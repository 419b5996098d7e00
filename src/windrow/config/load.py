"""windrow.yml -> Config: read, fill in variables, lay --vars over it, choose a target, check."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from windrow.config.options import Known, ModelSettings
from windrow.config.overrides import (
    PREFIX,
    Options,
    ignored_options,
    known_options,
    options_in,
    vars_by_package,
)
from windrow.config.problems import (
    InvalidConfigError,
    KeyPath,
    Problem,
    check,
    dotted,
    problem,
    unknown_key,
)
from windrow.config.project_file import FILE_NAME, Config, ProjectFile
from windrow.config.substitution import substitute
from windrow.config.yaml_file import read_mapping
from windrow.errors import ConfigError, did_you_mean


def find_project(start: Path) -> Path:
    """The nearest folder that holds a windrow.yml, from `start` upwards."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise ConfigError(
        f"There is no {FILE_NAME} in {start} or in any folder above it. "
        "`windrow init DIR` makes a project; --project-dir points to one."
    )


def load(
    project_dir: Path,
    known: Known,
    *,
    target: str | None = None,
    vars: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Config:
    """The configuration of the project in `project_dir`, or one error that lists every problem.

    `known`: the packages that there are, and the settings that each takes.
    """
    project_dir = project_dir.absolute()
    tree = _read(project_dir / FILE_NAME, target, environ)
    blocks, problems = _package_blocks(tree.pop("packages", None), known)
    problems += _out_of_place(tree, known)
    file, file_problems = check(ProjectFile, tree, lambda path: (FILE_NAME, path))
    problems += file_problems

    overrides, vars_problems = vars_by_package(vars or {}, blocks, known)
    problems += vars_problems
    problems += _without_base(blocks, known)
    packages: dict[str, ModelSettings] = {}
    for package, options in blocks.items():
        written = options | overrides[package]
        problems += _options_of_base(package, written, known)
        settings, own_problems = _settings(package, written, known)
        problems += own_problems
        if settings is not None:
            packages[package] = settings.under(project_dir)

    problems += _shared_state(file) if file is not None else []
    if file is None or file.target is None or problems:
        raise InvalidConfigError(problems)
    return Config(
        name=file.name,
        target=file.target,
        targets={name: it.named(name, project_dir) for name, it in file.targets.items()},
        schemas=file.targets[file.target].schemas.over(file.schemas),
        events=file.events and file.events.under(project_dir),
        packages=packages,
        project_dir=project_dir,
        ignored_options=_ignored(known, blocks, overrides),
    )


def _read(file: Path, target: str | None, environ: Mapping[str, str]) -> dict[Any, Any]:
    try:
        tree = read_mapping(file)
        _choose_target(tree, target, environ)
        filled, problems = substitute(tree, environ, FILE_NAME)
    except RecursionError:
        raise ConfigError(f"{file} nests too deeply, or an alias in it contains itself.") from None
    if problems:
        raise InvalidConfigError(problems)
    return dict(filled)


def _choose_target(tree: dict[Any, Any], asked: str | None, environ: Mapping[str, str]) -> None:
    targets = tree.get("targets")
    if not isinstance(targets, dict) or not targets:
        return  # Validation says what is wrong with that.
    default, problems = substitute(tree.get("target"), environ, FILE_NAME, ("target",))
    if problems and not asked:
        raise InvalidConfigError(problems)
    chosen = _chosen(asked or default, [str(name) for name in targets])
    tree["target"] = chosen
    # The secrets of prod need not be set on the laptop that runs dev.
    tree["targets"] = {
        name: target
        for name, target in targets.items()
        if name == chosen or not substitute(target, environ, FILE_NAME)[1]
    }


def _shared_state(file: ProjectFile) -> list[Problem]:
    """Targets in one place that share manifests or derived tables, but not both.

    The one's runs would go on from where the other's came.
    """
    chosen = file.targets.get(file.target or "")
    problems = []
    for name, other in file.targets.items():
        if chosen is None or (other.warehouse, other.catalog) != (chosen.warehouse, chosen.catalog):
            continue
        ours, theirs = chosen.schemas.over(file.schemas), other.schemas.over(file.schemas)
        if (ours.derived == theirs.derived) == (ours.manifest == theirs.manifest):
            continue
        same, own = (
            ("manifest", "derived") if ours.manifest == theirs.manifest else ("derived", "manifest")
        )
        path = ("targets", str(file.target), "schemas", same)
        expected = (
            f"another one than that of the target '{name}', as its {own} schema is another one "
            "too: tables and the manifests that tell how far they are belong together"
        )
        problems.append(problem(FILE_NAME, path, getattr(ours, same), expected))
    return problems[:1]


def _package_blocks(blocks: Any, known: Known) -> tuple[dict[str, Options], list[Problem]]:
    if blocks is None:
        return {}, []
    if not isinstance(blocks, dict):
        return {}, [problem(FILE_NAME, ("packages",), blocks, "a mapping of packages to options")]
    found: dict[str, Options] = {}
    problems = []
    for package, block in blocks.items():
        path = ("packages", package)
        if package not in known:
            problems.append(unknown_key(FILE_NAME, path, block, known))
        elif not isinstance(block, dict | None):
            problems.append(problem(FILE_NAME, path, block, "a mapping of options to values"))
        else:
            found[package], misspelt = options_in(block or {}, FILE_NAME, path)
            problems += misspelt
    return found, problems


def _out_of_place(tree: dict[Any, Any], known: Known) -> list[Problem]:
    """Take dbt's `vars:` block, and options that stand at the top, out of the tree."""
    problems = []
    for key in [key for key in tree if key not in ProjectFile.model_fields]:
        name = str(key).removeprefix(PREFIX)
        owner = next((it for it in known if name in known_options(it, known)), None)
        if key == "vars":
            example = f"packages.{next(iter(known))}"
            hint = f" Options stand under their package, e.g. {example}; {PREFIX} may stay."
        elif owner is not None:
            hint = f" It is an option of a package: packages.{owner}.{key}."
        else:
            continue
        problems.append(problem(FILE_NAME, (key,), tree.pop(key), "", hint))
    return problems


def _without_base(blocks: Mapping[str, Options], known: Known) -> list[Problem]:
    """Packages that run on the base of one that the file does not have."""
    return [
        Problem(
            FILE_NAME,
            f"packages.{base}",
            "missing",
            f"the options of the base on which packages.{package} runs",
        )
        for package in blocks
        if (base := known[package].stands_on) is not None and base not in blocks
    ]


def _options_of_base(package: str, options: Options, known: Known) -> list[Problem]:
    """Take options that belong to the package whose base this one uses out of its own."""
    base = known[package].stands_on
    if base is None:
        return []
    own, of_base = known_options(package, known), known_options(base, known)
    hint = f" {package} runs on the base of {base}: write packages.{base}."
    return [
        problem(written.file, written.path, written.value, "", f"{hint}{name}.")
        for name in [name for name in options if name in of_base - own]
        if (written := options.pop(name))
    ]


def _settings(
    package: str, options: Options, known: Known
) -> tuple[ModelSettings | None, list[Problem]]:
    def locate(path: KeyPath) -> tuple[str, KeyPath]:
        # A path that is no option as written is the package itself, or an option filled in for it.
        name = str(path[0]) if path else ""
        written = options.get(name) or options.get(known[package].written_as.get(name, ""))
        if written is None:
            return FILE_NAME, ("packages", package, *path)
        return written.file, (*written.path, *path[1:])

    ignored = ignored_options(package, known)
    values = {name: it.value for name, it in options.items() if name not in ignored}
    return check(known[package], values, locate)


def _chosen(name: object, targets: list[str]) -> str:
    listed = ", ".join(targets)
    if not name and len(targets) > 1:
        raise ConfigError(f"{FILE_NAME} has several targets ({listed}); `target:` must name one.")
    chosen = str(name or targets[0])
    if chosen not in targets:
        hint = did_you_mean(chosen, targets)
        raise ConfigError(f"{FILE_NAME} has no target '{chosen}'; it has: {listed}.{hint}")
    return chosen


def _ignored(known: Known, *written: Mapping[str, Options]) -> tuple[str, ...]:
    paths = (
        dotted(it.path)
        for by_package in written
        for package, options in by_package.items()
        for name, it in options.items()
        if name in ignored_options(package, known)
    )
    return tuple(dict.fromkeys(paths))
