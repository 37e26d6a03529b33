"""Formatted output at 80 columns without colour."""

import io
import re

from rich.console import Console, RenderableType

from marchwarden.audit.verify import Check
from marchwarden.cli import formatter
from marchwarden.contract import Citation, Gap, GapCategory
from marchwarden.storage.trace import TraceEntry
from tests.test_contract import a_result

RESULT = """\
It opened in 1931. [1]

Confidence 0.60: Few sources
  independent sources 1 · authority medium · match 0.90 · no contradiction ·
  within budget · recency unknown

Sources
  [1] a.md#L3
      “It opened in 1931.”

Gaps
  - source_not_found: cost
      nothing says it

Discoveries
  - new_source → any researcher
      q: r

Open questions
  - low: why?
      c

Cost: 10 tokens, 0.1 s (m)
Trace: 4b6b2a52-6f3c-4f0e-9d0a-0d8a3f0f7a11
"""


def render(renderable: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=80, no_color=True, highlight=False)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_result_is_shown_from_the_answer_to_its_trace_id():
    assert render(formatter.result(a_result())) == RESULT


def test_verbose_adds_iterations_and_an_incomplete_trace_says_so():
    output = render(formatter.result(a_result().model_copy(update={"trace_complete": False}), verbose=True))
    assert "Cost: 10 tokens, 1 iteration, 0.10 s, model m" in output
    assert "incomplete: could not be written" in output


def test_lines_fit_the_terminal_and_have_no_trailing_spaces():
    long = a_result().model_copy(update={"answer": "word " * 200 + "x" * 300, "gaps": ()})
    lines = render(formatter.result(long)).splitlines()
    assert max(map(len, lines)) == 80
    assert not any(line.endswith(" ") for line in lines)


def test_control_characters_are_removed_and_markup_is_shown_as_text():
    hostile = "\x1b[31m[bold]red[/bold] [/nothing] \x9b2J \u202eright\u202c \U000e0041 \x07bell \x00 \r over"
    result = a_result().model_copy(
        update={
            "answer": hostile,
            "citations": (Citation(source=hostile, locator=hostile, title=hostile, raw_excerpt=hostile, confidence=1),),
            "gaps": (Gap(topic=hostile, category=GapCategory.ACCESS_DENIED, detail=hostile),),
        }
    )
    output = render(formatter.result(result))
    assert "[bold]red[/bold] [/nothing]" in output
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\U000e0000-\U000e007f]", output)


def test_checks_are_shown_one_per_line_with_a_verdict():
    output = render(
        formatter.checks([Check("[1] a.md", proved=True, detail="fine"), Check("trace", proved=False, detail="torn")])
    )
    assert output == "ok   [1] a.md: fine\nFAIL trace: torn\n1 of 2 checks failed\n"


def test_a_step_shows_action_reason_and_outcome():
    fields = {"key": "alder bridge", "elapsed": 0.25, "result": [{"locator": "a"}]}
    output = render(formatter.steps([TraceEntry(3, "search", "2026-01-01T00:00:00Z", "iteration 1", fields, "")]))
    assert output == "  3    0.250 s  search  alder bridge\n      why: iteration 1\n      1 found\n"
