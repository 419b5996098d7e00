"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.selections import SELECT

Package = Annotated[
    str | None, typer.Option(help="The package; by default all that windrow.yml enables.")
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        *SELECT,
        help="Models to take: page_views, +users, sessions+, tag:x, path:models/x.py.",
    ),
]
Exclude = Annotated[list[str] | None, typer.Option(help="Models to leave out, written alike.")]
Now = Annotated[
    str | None, typer.Option(help="The clock to go by, in UTC; by default the time it is.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would do; write nothing.")]
