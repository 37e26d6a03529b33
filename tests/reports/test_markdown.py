import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from marchwarden.reports.load import load_bundle
from marchwarden.reports.markdown import escape_line, render_markdown
from marchwarden.storage.store import Store
from marchwarden.text.sanitize import visible
from tests.reports.payloads import payloads
from tests.reports.samples import TODAY, SampleCitation, SampleRun, a_pi_run, bundle_without_store

RENDER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@given(st.text(max_size=80) | st.text("*_`[]()<>!#-+=~|:&1. \\", max_size=30) | st.sampled_from(payloads(1000)))
def test_any_text_is_shown_unchanged(text: str):
    line = " ".join(visible(text).split())
    tokens = RENDER.parse(escape_line(text))
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= {"text", "text_special"}
    assert {token.type for token in tokens} <= {"paragraph_open", "paragraph_close", "inline"}
    assert "".join(child.content for child in inline) == line.strip()


def test_the_whole_run_in_markdown(tmp_path: Path):
    store = Store(tmp_path)
    text = render_markdown(load_bundle(store, a_pi_run(store), TODAY))
    assert text.startswith("# How long is the main span of the Alder Bridge?\n")
    assert "212 metres long. [^1]" in text and "compare [^1] with [^2]." in text
    assert "**Verified on 16 November 2026: all 5 checks passed.**" in text
    origin = "**My favourite spans**, <https://spanspotting.blog.example/alder>, fetched "
    assert f"[^2]: “The main span of the Alder Bridge is 240 metres long.” {origin}" in text
    assert re.findall("^## (.*)$", text, re.MULTILINE) == [
        "Answer",
        "Where the sources disagree",
        "Confidence 0.69",
        "What is missing",
        "Discoveries",
        "Open questions",
        "Who found what",
        "Sources",
    ]


@pytest.mark.parametrize("at", range(0, 1000, 100))
def test_attacks_make_no_link_image_or_tag(at: int):
    cited = [SampleCitation(each, each, each, "", "") for each in payloads(1000)[at : at + 100]]
    told = SampleRun("\n\n".join(f"{each.excerpt} [{n}]" for n, each in enumerate(cited, 1)), cited, question="Which?")
    tokens = RENDER.parse(render_markdown(bundle_without_store(told)))
    kinds = {child.type for token in tokens for child in token.children or []} | {token.type for token in tokens}
    assert not kinds & {"html_inline", "html_block", "image", "link_open", "fence", "code_block", "table_open"}
