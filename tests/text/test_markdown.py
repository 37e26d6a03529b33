"""Markup removal from printed sentences."""

import pytest

from marchwarden.text.markdown import strip_emphasis, strip_markup
from tests.minds.extractive.notebooks import conclude, notebook_of


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("- **Nothing is lost.**", "Nothing is lost."),
        ("**Note**: it floats", "Note: it floats"),
        ("* an item", "an item"),
        ("3) a step", "a step"),
        ("> ### quoted", "quoted"),
        ("[x] done", "done"),
        (
            "The [old\nbridge](https://a.example/b_(c)#d 'x') stands.",
            "The [old bridge](https://a.example/b_(c)#d 'x') stands.",
        ),
        ('The [old\nbridge](https://a.example/b_(c)#d "x") stands.', "The old bridge stands."),
        ("![a bridge](bridge.png) by [Ferris][1].", "a bridge by Ferris."),
        ("See `the manual <https://a.example>`__ and :ref:`the guide <guide>`.", "See the manual and the guide."),
        ("Call :func:`open` first.", "Call `open` first."),
        ("Pass `**options`, `[a](b)` or x[0](1).", "Pass `**options`, `[a](b)` or x[0](1)."),
        ("It is *very* old, 2 * 3 * 4 years, **a** to ***b***.", "It is very old, 2 * 3 * 4 years, a to b."),
        ("f(**one, **two) and a*b*c", "f(**one, **two) and a*b*c"),
        ("snake_case and __init__ stay", "snake_case and __init__ stay"),
    ],
)
def test_markup_is_removed_and_text_is_kept(written: str, printed: str) -> None:
    assert strip_emphasis(strip_markup(written)) == printed


async def test_markup_is_removed_from_the_answer_but_not_from_the_excerpt() -> None:
    text = "The **Alder Bridge** was opened by [Maud Ferris](https://a.example/ferris) in 1931."
    notebook = notebook_of("Who opened the Alder Bridge?", text)
    (claim,) = (await conclude(notebook)).claims
    assert claim.text == "The Alder Bridge was opened by Maud Ferris in 1931."
    assert [notebook.excerpt(each).verbatim for each in claim.evidence] == [text]


async def test_heading_that_names_a_thing_prefixes_the_claim() -> None:
    news = "## 3.34 (2023-07-22)\n\n- A new ferry.\n- The plugin system is new.\n"
    text = f"# Releases\n\n{news}\n## Plans\n\nThe plugin system will grow.\n"
    draft = await conclude(notebook_of("Which release has the new plugin system?", text))
    assert draft.claims[0].text == "3.34 (2023-07-22): The plugin system is new."
    assert "The plugin system will grow." in [claim.text for claim in draft.claims]


@pytest.mark.parametrize(
    "text",
    [
        "# Plugins\n\n## ferry-sails\n\nThe plugin ferry-sails hoists the sails.\n",
        "A page on boats.\n\nferry-1931-4\n\nThe plugin hoists the sails.\n",
    ],
    ids=["already mentioned", "not marked as a heading"],
)
async def test_heading_is_not_repeated_and_plain_lines_are_not_headings(text: str) -> None:
    draft = await conclude(notebook_of("Which plugin hoists the sails?", text))
    assert draft.claims[0].text.startswith("The plugin")


@pytest.mark.parametrize("heading", ["2.1 Methods", "Check-ups", "Weighing"])
async def test_section_numbers_and_topics_are_not_prefixed(heading: str) -> None:
    text = f"# Paper\n\n## {heading}\n\nThe ferry was weighed by the crew at noon.\n"
    draft = await conclude(notebook_of("Who weighed the ferry at noon?", text))
    assert draft.claims[0].text == "The ferry was weighed by the crew at noon."


@pytest.mark.parametrize(
    "line",
    [".. |CI| image:: https://a.example/ferry.svg", "[ferry]: https://a.example/ferry", "<!-- the ferry is here -->"],
)
async def test_directives_link_definitions_and_comments_are_no_claims(line: str) -> None:
    draft = await conclude(notebook_of("Where is the ferry?", f"{line}\n\nThe ferry lies at the quay of Senn today.\n"))
    assert [claim.text for claim in draft.claims] == ["The ferry lies at the quay of Senn today."]
