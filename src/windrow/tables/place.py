"""Where a target's tables lie: under a folder or in a catalog."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from windrow.errors import ConfigError
from windrow.tables.seam import TableName
from windrow.tables.sql import check_name, quoted


@dataclass(frozen=True)
class Place:
    """A warehouse (an absolute folder or object-store prefix) or a catalog, never both."""

    warehouse: str | None
    catalog: str | None

    @classmethod
    def of(cls, *, warehouse: str | None, catalog: str | None) -> Place:
        """The place a target asks for; a relative warehouse is one of the current folder."""
        if bool(warehouse) == bool(catalog):
            raise ConfigError(
                "A target needs either warehouse (a folder) or catalog (the name of a Spark "
                f"catalog); found warehouse={warehouse!r} and catalog={catalog!r}."
            )
        if not warehouse:
            return cls(None, catalog)
        is_local = not urlsplit(warehouse).scheme
        absolute = str(Path(warehouse).absolute()) if is_local else warehouse
        return cls(absolute.rstrip("/"), None)

    def path(self, table: TableName) -> str:
        """The table's folder under the warehouse."""
        return f"{self.warehouse}/{check_name(table.schema)}/{check_name(table.name)}"

    def folder(self, schema: str) -> Path | None:
        """The schema's folder under a warehouse on a disk; None on an object store or catalog."""
        parts = urlsplit(self.warehouse or "")
        if not self.warehouse or parts.scheme not in ("", "file"):
            return None
        return Path(parts.path if parts.scheme else self.warehouse, check_name(schema))

    @staticmethod
    def identifier(catalog: str, table: TableName) -> str:
        """The table's name in a catalog."""
        return ".".join(
            quoted(n) for n in (catalog, check_name(table.schema), check_name(table.name))
        )
