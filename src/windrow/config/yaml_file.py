"""Reading YAML, stricter than YAML: a key stands once, an impossible date stays text.

Aliases are fine, but what they stand for must stay small: a few lines of them can be a billion
values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from windrow.errors import ConfigError

MOST_VALUES = 100_000
"""Far more than a configuration has, and few enough to walk through in no time."""


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
    tree = parse(_text(file), str(file))
    return as_mapping(tree, str(file), "keys such as `name:` and `targets:`")


def as_mapping(tree: Any, origin: str, expected: str) -> dict[Any, Any]:
    """What was read, if it is keys and values."""
    if isinstance(tree, dict):
        return tree
    found = "empty" if tree is None else f"a {type(tree).__name__}"
    raise ConfigError(f"{origin} is {found}, expected {expected}.")


def parse(text: str, origin: str) -> Any:
    """What a YAML text holds; `origin` says in errors where it stands."""
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node, origin)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        # The error's own text quotes the file, which may hold secrets.
        mark = error.problem_mark or error.context_mark
        line = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        is_at_variable = mark is not None and "${" in "".join(text.splitlines()[mark.line :][:1])
        hint = " Inside [ ] and { }, put quotes around ${…}." if is_at_variable else ""
        raise ConfigError(f"{origin}{line}: not valid YAML: {error.problem}.{hint}") from None
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{origin}: not valid YAML: {error.reason}.") from None
    except RecursionError:
        raise ConfigError(f"{origin} nests too deeply.") from None
    except ValueError:
        # Thousands of digits, for one.
        raise ConfigError(f"{origin} has a number that cannot be read.") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text.") from None


def _check(root: yaml.Node, origin: str) -> None:
    """Stop where a key stands twice, or aliases are too much to look at when written out."""
    if _count(root, {}, origin) > MOST_VALUES:
        raise ConfigError(
            f"{origin} has more than {MOST_VALUES:,} values when its aliases (*name) are written "
            "out. Use fewer of them."
        )


def _count(node: yaml.Node, counts: dict[int, int | None], origin: str) -> int:
    """How many values a node is with aliases written out; each node is checked once.

    `counts` has those looked at before; None while that goes on.
    """
    if id(node) not in counts:
        counts[id(node)] = None
        if isinstance(node, yaml.MappingNode):
            _refuse_repeated_keys(node, origin)
        counts[id(node)] = 1 + sum(_count(part, counts, origin) for part in _parts(node))
    count = counts[id(node)]
    if count is None:
        line = node.start_mark.line + 1
        raise ConfigError(f"{origin}, line {line}: what has an alias here contains itself.")
    return count


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refuse_repeated_keys(mapping: yaml.MappingNode, origin: str) -> None:
    first_lines: dict[tuple[str, str], int] = {}
    for key, _ in mapping.value:
        line = key.start_mark.line + 1
        name = (key.tag, str(key.value))
        if name in first_lines:
            raise ConfigError(
                f"{origin}, line {line}: the key '{key.value}' stands here for the second time "
                f"(first in line {first_lines[name]}). Keep one."
            )
        first_lines[name] = line
