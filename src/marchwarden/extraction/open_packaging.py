"""Relationships and core properties of Office Open XML packages: Excel workbooks, Word documents, presentations."""

import posixpath
import zipfile
from dataclasses import dataclass
from datetime import date
from typing import Final
from urllib.parse import unquote

from marchwarden.extraction.plain import parse_day
from marchwarden.extraction.safe_xml import parse_xml
from marchwarden.extraction.zip_limits import has_entry, read_entry

_KIND: Final = "an Office document"
_TEMPLATE_TITLES: Final = frozenset({"word document", "powerpoint presentation", "document", "presentation"})
_PROGRAMS: Final = frozenset({"python-docx", "python-pptx", "openpyxl", "apache poi", "xlsxwriter"})
_TEMPLATE_DATES: Final = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z"})
"""Programs that write documents leave these in the properties if nothing else is known."""


@dataclass(frozen=True)
class CoreProperties:
    title: str = ""
    author: str = ""
    created: date | None = None


def relationships(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """Map relationship ids of a part to paths in the archive. External targets are left out."""
    return {id_: path for id_, _, path in _relationships(archive, part)}


def follow(archive: zipfile.ZipFile, part: str, kind: str) -> str:
    """Return the path of the first related part of a kind such as `styles`, or an empty string."""
    return next((path for _, type_, path in _relationships(archive, part) if type_.endswith(f"/{kind}")), "")


def read_core_properties(archive: zipfile.ZipFile) -> CoreProperties:
    path = follow(archive, "", "core-properties")
    if not has_entry(archive, path):
        return CoreProperties()
    properties = parse_xml(read_entry(archive, path), _KIND)
    title, author = properties.findtext("{*}title") or "", properties.findtext("{*}creator") or ""
    created = (properties.findtext("{*}created") or "").strip()
    return CoreProperties(
        title="" if title.strip().lower() in _TEMPLATE_TITLES else title,
        author="" if author.strip().lower() in _PROGRAMS else author,
        created=parse_day("" if created in _TEMPLATE_DATES else created),
    )


def _relationships(archive: zipfile.ZipFile, part: str) -> list[tuple[str, str, str]]:
    """Return id, type and path of the relationships of a part, or of the package."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if not has_entry(archive, path):
        return []
    found = []
    for each in parse_xml(read_entry(archive, path), _KIND).iterfind("{*}Relationship"):
        target = posixpath.normpath(posixpath.join("/", folder, unquote(each.get("Target", "")))).lstrip("/")
        if each.get("TargetMode") != "External" and has_entry(archive, target):
            found.append((each.get("Id", ""), each.get("Type", ""), target))
    return found
