"""Selections as dbt takes them: several words after one --select, and its other names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

SELECT = ("--select", "-s", "--models", "-m")
"""What the option is called; commands declare it under these names."""
_ALSO_TAKEN = ("--model", "--m")
_TAKE_SEVERAL = {
    **dict.fromkeys((*SELECT, *_ALSO_TAKEN), "--select"),
    "--exclude": "--exclude",
}


def spread(arguments: Sequence[str]) -> list[str]:
    """The arguments with each word of a selection behind an option of its own.

    `--select a b` becomes `--select a --select b`, and `-m a` is `--select a`. No command that
    selects takes words without an option, so that none is taken for a model.
    """
    return list(_spread(arguments))


def _spread(arguments: Sequence[str]) -> Iterator[str]:
    option, has_word = "", False
    for word in arguments:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            if option and not has_word:
                yield option
            option, has_word = "", False
            if name in _TAKE_SEVERAL and not equals:
                option = _TAKE_SEVERAL[name]
            else:
                yield f"{_TAKE_SEVERAL.get(name, name)}{equals}{value}"
        elif option:
            yield from (option, word)
            has_word = True
        else:
            yield word
    if option and not has_word:
        yield option
