"""HTML as blocks: what a person sees, in its role and with its section path."""

import pytest

from marchwarden.core.blocks import BlockKind
from marchwarden.core.passages import split
from marchwarden.extraction import Extracted, extract

GENERATOR = '<meta name="generator" content="DocBook XSL Stylesheets">'
MANUAL = f"""<html><head><title>4. Sails - Ferry 2 Manual</title>{GENERATOR}</head><body>
<div class="navheader">Prev <a href="x">Next</a></div>
<h1>4. Sails<a class="headerlink" href="#sails">¶</a></h1>
<dl><dt><code>sail_area</code> (<code>integer</code>)</dt>
<dd><p>
  Sets the area of the sail.  The default is typically
  12 square metres
  (<code>12m2</code>), but might be less.
</p><p>In a storm, use<sup class="footnote-reference">[1]</sup> less.</p>
<pre>sail set \\
    --area 12<br>sail up</pre>
</dd><dt>mast</dt><dd>Holds the sail.</dd></dl>
<div class="note"><h3>Note</h3><p>Sails are <a class="reference internal" href="#w">white</a>.</p></div>
<h2>4.1. Ropes</h2>
<p>There are two:</p><ul><li>the sheet<ul><li>of hemp</li></ul></li><li><p>the halyard</p><p>It hoists.</p></li></ul>
<ol start="3"><li>Pull.</li><li>Tie.</li></ol>
<table><caption>Ropes</caption><thead><tr><th>Rope</th><th>Length</th></tr></thead>
<tr><td rowspan="2"><p>sheet</p></td><td>3 m</td></tr><tr><td>4 m</td></tr></table>
</body></html>"""


def _blocks(extracted: Extracted) -> list[tuple[str, str, int]]:
    return [(block.kind.value, extracted.text[block.start : block.end], block.level) for block in extracted.blocks]


def test_manual_page_is_read_as_a_person_sees_it() -> None:
    extracted = extract(MANUAL.encode(), "sails.html")
    assert (extracted.title, extracted.site) == ("4. Sails", "Ferry 2 Manual")
    assert _blocks(extracted) == [
        ("heading", "4. Sails", 1),
        ("term", "sail_area (integer)", 0),
        (
            "description",
            "Sets the area of the sail. The default is typically 12 square metres (12m2), but might be less.",
            0,
        ),
        ("description", "In a storm, use less.", 0),
        ("code", "sail set \\\n    --area 12\nsail up", 1),
        ("term", "mast", 0),
        ("description", "Holds the sail.", 0),
        ("note", "Sails are white.", 0),
        ("heading", "4.1. Ropes", 2),
        ("paragraph", "There are two:", 0),
        ("item", "- the sheet", 0),
        ("item", "- of hemp", 1),
        ("item", "- the halyard", 0),
        ("paragraph", "It hoists.", 1),
        ("item", "3. Pull.", 0),
        ("item", "4. Tie.", 0),
        ("caption", "Ropes", 0),
        ("table_header", "| Rope | Length |", 0),
        ("row", "| sheet | 3 m |", 0),
        ("row", "| sheet | 4 m |", 0),
    ]


def test_passages_know_their_section_and_term() -> None:
    extracted = extract(MANUAL.encode(), "sails.html")
    paths = [passage.path for passage in split(extracted.text, extracted.layout, extracted.blocks)]
    assert paths == [
        ("4. Sails", "sail_area (integer)"),
        ("4. Sails", "mast"),
        ("4. Sails",),
        ("4. Sails", "4.1. Ropes"),
    ]


def test_code_is_cited_line_by_line_and_prose_sentence_by_sentence() -> None:
    extracted = extract(MANUAL.encode(), "sails.html")
    passages = split(extracted.text, extracted.layout, extracted.blocks)
    first = [(each.kind, extracted.text[each.start : each.end]) for each in passages[0].sentences]
    assert first[1:4] == [
        (BlockKind.TERM, "sail_area (integer)"),
        (BlockKind.DESCRIPTION, "Sets the area of the sail."),
        (BlockKind.DESCRIPTION, "The default is typically 12 square metres (12m2), but might be less."),
    ]
    assert [text for kind, text in first if kind is BlockKind.CODE] == ["sail set \\", "--area 12", "sail up"]


def test_article_of_a_news_page_keeps_its_structure() -> None:
    story = "".join(f"<p>The ferry number {at} was late again because the tide was low.</p>" for at in range(20))
    page = f"""<html><head><title>Late ferries | The Gull</title></head><body>
    <div class="links"><p>Subscribe to our letter today!</p></div>
    <article><h1>Late ferries</h1>{story}<ul><li>Tide tables are printed in spring.</li>
    <li>They cost one pound.</li></ul></article>
    <div><h3>Read also</h3><a href="/b">Ten bridges that you must see before you die</a></div></body></html>"""
    extracted = extract(page.encode(), "late.html")
    assert (extracted.title, extracted.site) == ("Late ferries", "The Gull")
    kinds = [kind for kind, _, _ in _blocks(extracted)]
    assert kinds == ["heading", *["paragraph"] * 20, "item", "item"]
    assert "Subscribe" not in extracted.text
    assert "Ten bridges" not in extracted.text


@pytest.mark.parametrize(
    "body, expected",
    [
        ("<p>one<br>two<br><br>three</p>", [("paragraph", "one two", 0), ("paragraph", "three", 0)]),
        ("<div>a<b> bold</b>\n word</div>tail", [("paragraph", "a bold word", 0), ("paragraph", "tail", 0)]),
        ("<p hidden>secret</p><p style='display: none'>too</p><p>shown</p>", [("paragraph", "shown", 0)]),
        ("<table><tr><td>left</td><td>right</td></tr></table>", [("paragraph", "left", 0), ("paragraph", "right", 0)]),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td colspan=2>both</td></tr></table>",
            [("table_header", "| a | b |", 0), ("row", "| both |  |", 0)],
        ),
        (
            "<table><tr><td><p>sail()</p><p>Sails.</p></td></tr><tr><td><p>tie()</p><p>Ties.</p><p>Twice.</p></td></tr>",
            [
                ("term", "sail()", 0),
                ("description", "Sails.", 0),
                ("term", "tie()", 0),
                ("description", "Ties.", 0),
                ("description", "Twice.", 0),
            ],
        ),
        ("<ul><ul><li>odd</li></ul></ul>", [("item", "- odd", 1)]),
        ("<dl><div><dt>t</dt><dd>d</dd></div></dl>", [("term", "t", 0), ("description", "d", 0)]),
        ("<p>x<sup>2</sup> <a href='#f' class='reference'>[7]</a></p>", [("paragraph", "x²", 0)]),
        ("<p>2<small><sup>31</sup></small>-1, 9<sup>th</sup></p>", [("paragraph", "2³¹-1, 9th", 0)]),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>m<sup>2</sup></td><td>10<sup>-3</sup></td></tr></table>",
            [("table_header", "| a | b |", 0), ("row", "| m² | 10⁻³ |", 0)],
        ),
        ("<div class='admonition tip'><p class='admonition-title'>Tip</p><p>Row.</p></div>", [("note", "Row.", 0)]),
        ("<p>is <math alttext='T=4'><mi>T</mi></math> s</p>", [("paragraph", r"is \(T=4\) s", 0)]),
        ("<p>or <img class='mwe-math' alt='x^2'> m</p>", [("paragraph", r"or \(x^2\) m", 0)]),
        ("<pre>a\n\n  b</pre>", [("code", "a\n\n  b", 0)]),
    ],
)
def test_element_becomes_blocks(body: str, expected: list[tuple[str, str, int]]) -> None:
    assert _blocks(extract(f"<html><head>{GENERATOR}</head><body>{body}</body></html>".encode(), "a.html")) == expected


def test_deeply_nested_page_is_read() -> None:
    page = "<html><body>" + "<div>" * 240 + "deep down" + "</div>" * 240
    assert "deep down" in extract(page.encode(), "a.html").text


@pytest.mark.parametrize(
    "title, heading, expected",
    [
        ("Coroutines — Python 3.11 documentation", "Coroutines", ("Coroutines", "Python 3.11 documentation")),
        ("Ferry: Sails", "", ("Ferry: Sails", "")),
        ("Sails", "Sails", ("Sails", "")),
        ("", "Sails", ("Sails", "")),
        ("Home | Ferry", "Welcome aboard", ("Home | Ferry", "")),
    ],
)
def test_title_is_separated_from_the_name_of_the_site(title: str, heading: str, expected: tuple[str, str]) -> None:
    page = f"<html><head>{GENERATOR}<title>{title}</title></head><body><h1>{heading}</h1><p>Text.</p></body></html>"
    extracted = extract(page.encode(), "")
    assert (extracted.title, extracted.site) == expected


def test_link_to_the_start_page_names_the_site() -> None:
    page = (
        f'<html><head>{GENERATOR}<link rel="home" title="The Book"></head><body><h1>One</h1><p>Text.</p></body></html>'
    )
    assert extract(page.encode(), "a.html").site == "The Book"
