"""Documents in every format, and mutants of them: changed bytes, markup and members of zip files."""

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from tests.extraction import office_samples, pdfs, samples, structured_samples
from tests.mutation.replies import mutate_bytes, mutate_markup

MARKUP: Final = frozenset({".html", ".xml", ".xhtml", ".opf", ".rels", ".svg"})

_TABLE: Final = b"year,passengers,ferry\n" + b"".join(b"%d,%d,Holm\n" % (year, year * 23) for year in range(1990, 2020))
_MARKDOWN: Final = b"""---
title: The ferry of Holm
date: 2024-05-06
---
# The ferry of Holm

It carries forty cars. It was built in 1958.

- It leaves at noon.
- It returns at six.

| Year | Passengers |
|------|-----------:|
| 2019 | 44,100 |

```sh
ferry --sail "Holm"
```
"""
_STRUCTURED: Final = b"""The ferry of Holm
=================

.. note:: It carries forty cars.

Timetable
---------

It leaves at noon::

    ferry --sail "Holm"
"""
_RECORDS: Final = b'[{"ferry": "Holm", "built": 1958, "cars": 40}, {"ferry": "Dorn", "built": 1971, "cars": null}]'
_TEXT: Final = "The ferry of Holm\n\nIt was built in 1958. \u201cIt carries forty cars\u201d, says I. Quist.\n".encode()


def _pages() -> bytes:
    """A PDF with a heading, a table, code and an outline."""
    table = [("Ferry", "Built", "Cars"), ("Holm", "1958", "40"), ("Dorn", "1971", "31")]
    cells = [
        pdfs.Text(72 + 150 * at, 640 - 16 * row, cell) for row, line in enumerate(table) for at, cell in enumerate(line)
    ]
    first = [
        *pdfs.lines(72, 740, "1.1 The ferry of Holm", size=16, font=pdfs.BOLD),
        *pdfs.lines(
            72, 700, "It was built in 1958 and carries forty cars, as long as the water of", "the sound is calm."
        ),
        *cells,
    ]
    second = pdfs.lines(72, 700, "ferry --sail", "ferry --stop", font=pdfs.MONO)
    return pdfs.pdf(first, second, title="untitled", outline=[("The ferry of Holm", 0)])


DOCUMENTS: Final[Mapping[str, Callable[[], bytes]]] = {
    "ferry.txt": lambda: _TEXT,
    "ferry.md": lambda: _MARKDOWN,
    "ferry.rst": lambda: _STRUCTURED,
    "ferry.csv": lambda: _TABLE,
    "ferry.json": lambda: _RECORDS,
    "ferry.html": lambda: samples.PAGE,
    "ferry.pdf": lambda: samples.pdf(["The first page speaks.", "The second one too."], title="A Report"),
    "timetable.pdf": _pages,
    "ferry.docx": samples.word,
    "ferry.epub": samples.epub,
    "ferry.eml": structured_samples.mail,
    "ferry.mbox": structured_samples.mailbox,
    "ferry.ics": lambda: structured_samples.CALENDAR,
    "ferry.ipynb": lambda: structured_samples.NOTEBOOK,
    "ferry.jsonl": lambda: structured_samples.RECORDS.strip(b"[]").replace(b"}, {", b"}\n{"),
    "slack.json": lambda: structured_samples.SLACK,
    "whatsapp.txt": lambda: structured_samples.WHATSAPP,
    "mattermost.txt": lambda: structured_samples.MATTERMOST,
    "mails.txt": lambda: structured_samples.PRINTED_MAIL,
    "ferry.tex": lambda: structured_samples.LATEX,
    "ferry.bib": lambda: structured_samples.BIBTEX,
    "ferry.ris": lambda: structured_samples.RIS,
    "ferry.zip": lambda: samples.archive({"ferry.txt": _TEXT, "deep/ferry.md": _MARKDOWN}),
    "ferry.tar": lambda: structured_samples.tar({"ferry.txt": _TEXT, "deep/ferry.md": _MARKDOWN}),
    "ferry.md.gz": lambda: gzip.compress(_MARKDOWN),
    "ferry.xlsx": office_samples.workbook,
    "ferry.xls": office_samples.old_workbook,
    "ferry.pptx": office_samples.slides,
    "report.docx": office_samples.report,
    "ferry.odt": lambda: office_samples.open_document(
        "text", office_samples.TEXT_BODY, styles=office_samples.TEXT_STYLES
    ),
    "ferry.ods": lambda: office_samples.open_document(
        "spreadsheet", office_samples.SHEET_BODY, styles=office_samples.SHEET_STYLES
    ),
    "ferry.odp": lambda: office_samples.open_document("presentation", office_samples.SLIDE_BODY),
    "ferry.rtf": lambda: office_samples.RTF,
}


def mutate_document(name: str, content: bytes, chance: Random) -> bytes:
    """Change a document, one to three times. Half of the mutants of a zip file are valid zip files."""
    for _ in range(chance.randint(1, 3)):
        if content.startswith(b"PK\x03\x04") and chance.random() < 0.5:
            content = _mutate_member(content, chance)
        elif _suffix(name) in MARKUP and chance.random() < 0.5:
            content = mutate_markup(content, chance)
        else:
            content = mutate_bytes(content, chance)
    return content


def _mutate_member(content: bytes, chance: Random) -> bytes:
    """Change, drop, repeat or rename one file in a zip file. Return the bytes unchanged if it is damaged already."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:  # noqa: BLE001 - `zipfile` and `zlib` have many errors for damaged members
        return content
    if not members:
        return content
    at = chance.randrange(len(members))
    name, body = members[at]
    match chance.choice(("change", "change", "change", "drop", "repeat", "rename", "bomb")):
        case "change":
            mutate = mutate_markup if _suffix(name) in MARKUP and chance.random() < 0.7 else mutate_bytes
            members[at] = name, mutate(body, chance)
        case "drop":
            del members[at]
        case "repeat":
            members.append((f"{name}.again", body))
        case "rename":
            members[at] = chance.choice(("../../etc/passwd", "", "word/document.xml", "\u202e.xml")), body
        case "bomb":
            members[at] = name, body + b" " * 30_000_000
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members:
            archive.writestr(name or "x", body)
    return written.getvalue()


def _suffix(name: str) -> str:
    return f".{name.rpartition('.')[2].lower()}"
