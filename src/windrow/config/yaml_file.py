"""Reading one YAML file, stricter than YAML: a key stands once, an impossible date stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from windrow.errors import ConfigError


class _Loader(yaml.SafeLoader):
    pass


def _date_or_text(loader: _Loader, node: yaml.ScalarNode) -> object:
    # 2024-02-30 looks like a date to YAML; as text it reaches validation, which knows its path.
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError:
        return node.value


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _date_or_text)


def read_mapping(file: Path) -> dict[Any, Any]:
    """The keys and values of a YAML file."""
    tree = _parsed(_text(file), file)
    if not isinstance(tree, dict):
        found = "empty" if tree is None else f"a {type(tree).__name__}"
        raise ConfigError(f"{file} is {found}, expected keys such as `name:` and `targets:`.")
    return tree


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text.") from None


def _parsed(text: str, file: Path) -> Any:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_repeated_keys(node, file)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        # The error's own text quotes the file, which may hold secrets.
        mark = error.problem_mark or error.context_mark
        line = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        is_at_variable = mark is not None and "${" in "".join(text.splitlines()[mark.line :][:1])
        hint = " Inside [ ] and { }, put quotes around ${…}." if is_at_variable else ""
        raise ConfigError(f"{file}{line}: not valid YAML: {error.problem}.{hint}") from None
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{file}: not valid YAML: {error.reason}.") from None


def _refuse_repeated_keys(root: yaml.Node, file: Path) -> None:
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            _refuse_repeats_in(node, file)
            waiting.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)


def _refuse_repeats_in(mapping: yaml.MappingNode, file: Path) -> None:
    first_lines: dict[tuple[str, str], int] = {}
    for key, _ in mapping.value:
        line = key.start_mark.line + 1
        name = (key.tag, str(key.value))
        if name in first_lines:
            raise ConfigError(
                f"{file}, line {line}: the key '{key.value}' stands here for the second time "
                f"(first in line {first_lines[name]}). Keep one."
            )
        first_lines[name] = line
