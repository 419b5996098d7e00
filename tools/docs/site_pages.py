"""The pages of docs/ and beside it, as the site has them.

What mkdocs.yml cannot say: links out of docs/, patterns in nav, the addresses of headings, pictures
that take the page's colours.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BESIDE_DOCS = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""File of the repository -> the page that it is on the site."""

Nav = list[Any]

CODE_BLOCK = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
LIST_ENTRY = re.compile(r"(?:-|\d+\.) +(?=\S)")
HEADING = re.compile(r"^(#+ )(.*)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
PICTURE = re.compile(r"^!\[[^\]]*\]\((?P<path>[^)\s]+\.svg)\)$", re.MULTILINE)


def lay_out(folder: Path) -> list[str]:
    """Copy docs/ and the pages beside it into the folder, made fit for the site; their names."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for name, page in BESIDE_DOCS.items():
        shutil.copy(ROOT / name, folder / page)
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    for page in pages:
        path = folder / page
        path.write_text(made_fit(path.read_text(), page, path.parent))
    return pages


def made_fit(text: str, page: str, folder: Path) -> str:
    """A page's text as the site has it."""
    text = outside_code(text, lambda part: with_addresses(on_site(part, page)))
    return with_pictures(with_wide_lists(text), folder)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text, changed in what is not a block of code."""
    blocks = [match[0] for match in CODE_BLOCK.finditer(text)]
    changed = change(CODE_BLOCK.sub("\x00", text))
    return re.sub("\x00", lambda _: blocks.pop(0), changed)


def on_site(text: str, page: str) -> str:
    """Links as the site has them: a file that is no page of it becomes its name."""
    in_repository = {site: name for name, site in BESIDE_DOCS.items()}
    folder = posixpath.dirname(in_repository.get(page, f"docs/{page}"))

    def mended(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link["path"]))
        if target.startswith("docs/") and not (ROOT / target).is_dir():
            address = target.removeprefix("docs/")
        elif target in BESIDE_DOCS:
            address = BESIDE_DOCS[target]
        elif (ROOT / target).exists():
            return f"`{target}`" if target in link["text"] else f"{link['text']} (`{target}`)"
        else:
            return link[0]
        address = posixpath.relpath(address, posixpath.dirname(page) or ".")
        return f"[{link['text']}]({address}{link['anchor'] or ''})"

    return LINK.sub(mended, text)


def with_addresses(text: str) -> str:
    """Headings with the addresses that GitHub gives them, so that a link holds in both places."""
    seen: Counter[str] = Counter()

    def addressed(heading: re.Match[str]) -> str:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[2])
        address = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        number = seen[address]
        seen[address] += 1
        return f"{heading[0]} {{ #{address}{f'-{number}' if number else ''} }}"

    return HEADING.sub(addressed, text)


def with_wide_lists(text: str) -> str:
    """Lists as Python's Markdown has them: what belongs to an entry stands in by four blanks.

    After an entry of several paragraphs the next one needs an empty line before it.
    """
    lines: list[str] = []
    width, begin, in_code = 0, 0, False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        entry = None if in_code else LIST_ENTRY.match(line)
        if entry:
            is_loose = width and re.search(r"\n\n {4}", "\n".join(lines[begin:]))
            lines += [""] if is_loose and lines[-1] else []
            width, begin = len(entry[0]), len(lines)
        elif line and not line.startswith(" "):
            width = 0
        belongs = 0 < width < 4 and not entry and line.startswith(" " * width)
        lines.append(" " * (4 - width) + line if belongs else line)
    return "\n".join([*lines, ""])


def with_pictures(text: str, folder: Path) -> str:
    """Pictures drawn in the page itself, so that they take its colours."""

    def drawn(image: re.Match[str]) -> str:
        return f'<figure class="picture">\n{(folder / image["path"]).read_text()}</figure>'

    return PICTURE.sub(drawn, text)


def expanded(nav: Nav, pages: Sequence[str]) -> Nav:
    """The nav with pages in the place of patterns: those that are named nowhere else."""
    named = pages_in(nav)
    found: dict[str, list[str]] = {}
    for page in pages:
        # A pattern looks into its own folder only; the longest that fits has the page.
        fits = [it for it in named if fnmatch(page, it) and page.count("/") == it.count("/")]
        if page not in named and fits:
            found.setdefault(max(fits, key=len), []).append(page)

    def within(entries: Nav) -> Nav:
        result: Nav = []
        for entry in entries:
            if isinstance(entry, dict):
                ((title, value),) = entry.items()
                result.append({title: within(value) if isinstance(value, list) else value})
            else:
                result += found.get(entry, []) if "*" in entry else [entry]
        return result

    return within(nav)


def pages_in(nav: Nav) -> list[str]:
    """What a nav names, at any depth."""
    values = [next(iter(it.values())) if isinstance(it, dict) else it for it in nav]
    return [page for it in values for page in (pages_in(it) if isinstance(it, list) else [it])]
