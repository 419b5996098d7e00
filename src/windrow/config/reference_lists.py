"""A project's own lists of countries, languages and marketing sources."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_serializer

from windrow.config.fields import Frozen, Text
from windrow.config.paths import resolved


class ReferenceLists(Frozen):
    """CSV files of the user's in place of the lists windrow ships."""

    countries: Text | None = Field(default=None, description="CSV file of countries.")
    languages: Text | None = Field(default=None, description="CSV file of languages.")
    sources: Text | None = Field(default=None, description="CSV file of marketing sources.")

    # The fingerprint must not depend on the folder a project is checked out in.
    @field_serializer("countries", "languages", "sources", when_used="json-unless-none")
    def _file_name(self, path: str) -> str:
        return Path(path).name

    def under(self, project_dir: Path) -> ReferenceLists:
        """The same lists with relative paths seen from the project's folder."""
        return self.model_copy(
            update={name: resolved(path, project_dir) for name, path in self if path is not None}
        )
