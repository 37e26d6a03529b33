import subprocess
import sys
from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.notebook import Document, Mark
from marchwarden.extraction import Extracted, Unreadable, extract
from tests.extraction import samples


def locate(extracted: Extracted, words: str) -> str:
    document = Document("file", "x", b"", extracted.text, lines=extracted.lines, marks=extracted.marks)
    start = extracted.text.index(words)
    return document.locate(start, start + len(words))


@pytest.mark.parametrize(
    ("name", "content", "title", "layout"),
    [
        ("a.md", b"intro\n\n## The Heading ##\n\ntext", "The Heading", "prose"),
        ("a.md", b"---\ntitle: 'From front'\ndate: 2020-02-03\n---\n# Other\n", "From front", "prose"),
        ("a.rst", b"=====\nUpper\n=====\n\ntext", "Upper", "prose"),
        ("a.rst", b"Under\n-----\ntext", "Under", "prose"),
        ("a.txt", b"A short line\n\nand then a text.", "A short line", "prose"),
        ("a.txt", b"The code name is Bluefin.\n", "a", "prose"),
        ("a.txt", b"The code name is Bluefin.\n\nIt is secret.\n", "a", "prose"),
        ("a.txt", b"A short line\n\n", "a", "prose"),
        ("notes/a.txt", b"a text that runs on\nand on", "a", "prose"),
        ("a.csv", b"name,age\nAda,36\n", "a", "table"),
        ("a.json", b'{"a": 1}', "a", "lines"),
        ("a.jsonl", b"[1]\n[2]\n", "a", "lines"),
        ("a.json", b"[" * 60_000, "a", "lines"),
        ("a.py", b"import os\n", "a", "lines"),
        ("README", b"Read me\n\nplease", "Read me", "prose"),
    ],
)
def test_text_is_unchanged_and_located_by_line(name: str, content: bytes, title: str, layout: str) -> None:
    extracted = extract(content, name)
    assert extracted.text == content.decode()
    assert (extracted.title, extracted.layout, extracted.lines) == (title, layout, True)


def test_line_numbers_are_right_with_crlf() -> None:
    assert locate(extract(b"one\r\ntwo\r\nthree", "a.txt"), "three") == "x#L3"
    assert locate(extract(b"one\r\ntwo\r\nthree", "a.txt"), "two\nthree") == "x#L2-L3"


def test_front_matter_date_becomes_published() -> None:
    assert extract(b"---\ndate: 2020-02-03T10:00\nauthor: Ada\n---\ntext", "a.md").published == date(2020, 2, 3)


def test_web_page_yields_article_and_metadata() -> None:
    extracted = extract(samples.PAGE, "page.html")
    assert "sixteen metres" in extracted.text
    assert "Subscribe" not in extracted.text
    assert "Cookies" not in extracted.text
    assert (extracted.title, extracted.author, extracted.published) == ("Tides", "Mary Shore", date(2021, 3, 4))
    assert (extracted.media_type, extracted.lines) == ("text/html", False)


def test_table_rows_of_a_web_page_are_not_separated() -> None:
    rows = b"<tr><th></th><th>2019</th></tr><tr><td>Pots</td><td>31</td></tr>"
    before, after = b"<p>The harbour counts its pots. " * 30, b"<p>It counts them every spring, too. " * 30
    page = b"<article><h1>Harbour</h1>%b</p><table>%b</table>%b</p></article>" % (before, rows, after)
    assert "\n\n|  | 2019 |\n| Pots | 31 |\n\n" in extract(page, "harbour.html").text


def test_page_without_article_includes_table_rows() -> None:
    rows = "<tr>\n<th>Town</th>\n<th>Pots</th></tr><tr><td><b>Dorn</b></td><td>31</td></tr>"
    laid_out = "<tr><td><div>left</div></td><td>right</td></tr>"
    extracted = extract(f"<html><p>One<table>{rows}</table>two<table>{laid_out}</table>".encode(), "x")
    assert extracted.text == "One\n\n| Town | Pots |\n| Dorn | 31 |\n\ntwo\n\nleft\n\nright"


def test_page_without_article_yields_its_text() -> None:
    extracted = extract(b"<html><body><div>one <b>two</b> three<script>evil()</script></div>four</body></html>", "x")
    assert extracted.text == "one two three\n\nfour"


def test_pdf_pages_are_marked_and_metadata_is_read() -> None:
    extracted = extract(samples.pdf(["The first page speaks.", "The second one too."], title="A Report"), "a.pdf")
    assert extracted.marks[0] == Mark(0, "page=1")
    assert locate(extracted, "second") == "x#page=2"
    assert (extracted.title, extracted.author, extracted.published) == ("A Report", "Jane Roe", date(2019, 5, 4))


def test_word_document_yields_paragraphs_and_rows_in_order() -> None:
    extracted = extract(samples.word(), "a.docx")
    assert extracted.text == (
        "Decisions\n\nThe bridge will be painted green.\n\n"
        "| item | price |\n| paint | 40 pounds |\n\nThe meeting closed at noon."
    )
    assert (extracted.title, extracted.author) == ("Minutes", "Ada")


def test_epub_is_read_in_spine_order() -> None:
    extracted = extract(samples.epub(), "a.epub")
    assert extracted.text == ("Loomings\n\nCall me Ishmael then.\n\nThe Carpet-Bag\n\nI stuffed a shirt or two.")
    assert locate(extracted, "Ishmael") == "x#chapter=1"
    assert locate(extracted, "shirt") == "x#chapter=3"
    assert (extracted.title, extracted.author, extracted.published) == ("The Whale", "H. M.", date(1851, 10, 18))


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (samples.pdf(["Hello there."]), "application/pdf"),
        (samples.epub(), "application/epub+zip"),
        (samples.PAGE, "text/html"),
        (b"plain words", "text/plain"),
    ],
)
@pytest.mark.parametrize("name", ["document", "document.txt", "document.bin"])
def test_format_is_detected_from_bytes_not_name(content: bytes, media_type: str, name: str) -> None:
    assert extract(content, name).media_type == media_type


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bytes(range(1, 32)) * 40, "binary"),
        (b"\x7fELF\x02\x01\x01\x00", "binary"),
        (b"%PDF-1.7 nothing else", "a damaged PDF"),
        (samples.pdf(["secret"], encrypted=True), "an encrypted PDF"),
        (samples.pdf([""]), "a PDF without text"),
        (b"PK\x03\x04 torn", "a damaged zip archive"),
        (samples.archive({"word/document.xml": b"<not xml"}), "a damaged Word document"),
        (samples.archive({"META-INF/container.xml": b"<container/>"}), "a damaged EPUB"),
        (b"<html><body></body></html>", "a web page without text"),
    ],
)
def test_documents_without_text_are_refused_with_a_reason(content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as refused:
        extract(content, "document")
    assert refused.value.detail == reason


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_charset_is_detected(charset: str) -> None:
    text = "Die Straße nach München führt über schöne Brücken, für Mädchen und Jungen, bis zum Café der Universität.\n"
    assert extract((text * 5).encode(charset), "a.txt").text == text * 5


def test_declared_charset_is_used_if_not_utf_8() -> None:
    assert extract("# coding: koi8-r\nПривет".encode("koi8-r"), "a.py").text.endswith("Привет")
    assert extract("# coding: rot13\nGrüße".encode(), "a.py").text.endswith("Grüße")


@pytest.mark.parametrize("charset", ["idna", "punycode", "undefined", "unicode_escape", "utf-7", "zlib", "hex"])
def test_declared_charset_that_is_none_is_ignored(charset: str) -> None:
    content = f"<p>charset={charset}</p>\nDer Zoll beträgt \\u0031 Krone.\n".encode("latin-1")
    assert extract(content, "a.txt").text.endswith("gt \\u0031 Krone.\n")


@given(st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode("utf-16-le")))
def test_any_bytes_with_a_text_name_yield_text_or_unreadable(content: bytes) -> None:
    with suppress(Unreadable):
        extract(content, "a.md").text.encode("utf-8")


def test_importing_extraction_loads_no_parser() -> None:
    parsers = {"trafilatura", "pypdfium2", "python_calamine", "striprtf", "lxml"}
    code = f"import marchwarden.extraction, sys; print({parsers} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert loaded.stdout.strip() == "set()"
