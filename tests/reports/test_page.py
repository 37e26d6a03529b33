"""The page as text. test_browser tests it in a browser."""

import hashlib
import re
from base64 import b64encode
from html import unescape
from pathlib import Path

import pytest

from marchwarden.contract import GapCategory
from marchwarden.reports.confidence_view import factor_effects
from marchwarden.reports.labels import GAPS, seconds
from marchwarden.reports.load import load_bundle
from marchwarden.reports.page import render_page, style_sheet
from marchwarden.storage.store import Store
from tests.reports.samples import TODAY, SampleCitation, SampleRun, a_pi_run, bundle_of, page_of, prices, write_run

SPAN = SampleCitation("https://example.org/a", "The span is 212 metres long.", "Spans")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = Store(tmp_path_factory.mktemp("traces"))
    return render_page(load_bundle(store, a_pi_run(store), TODAY), prices())


def text_of(html: str, name: str) -> str:
    """Return the text of a section."""
    section = html.partition(f'id="{name}"')[2].partition("</section>")[0]
    return " ".join(unescape(re.sub("<[^>]+>", " ", section)).split())


def test_the_policy_allows_its_own_style_sheet_and_nothing_else(report: str):
    style = report.partition("<style>")[2].partition("</style>")[0]
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', report)
    assert unescape(policy).startswith(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:;")
    assert "</" not in style_sheet() and "url(" not in style_sheet() and "@import" not in style_sheet()
    assert not re.search(r"<script|\son\w+=|\sstyle=|javascript:", report)


def test_a_report_contains_every_part_of_a_run(report: str):
    assert "Verified" in report and "all 5 checks passed" in report and "16 November 2026" in report
    assert "212 metres long. [2]" not in text_of(report, "answer")
    conflict = text_of(report, "disagreements")
    assert "212 metres" in conflict and "240 metres" in conflict
    missing = text_of(report, "gaps")
    assert all(GAPS[category][1] in missing for category in GapCategory)
    questions = text_of(report, "questions")
    assert questions.index("Was it measured again?") < questions.index("Is it painted?")
    asked = text_of(report, "asked")
    assert "arxiv was asked" in asked and "no answer: it hung" in asked
    assert "after step 2" in text_of(report, "steps") and "$0.0180" in text_of(report, "steps")
    assert "Fetched" in text_of(report, "sources") and "sha256:" in text_of(report, "sources")


def test_failed_checks_are_in_the_badge_and_the_excerpt_is_still_shown(tmp_path: Path):
    store = Store(tmp_path)
    trace_id = write_run(store, SampleRun("One. [1]", [SPAN]))
    store.archive.path(SPAN.document.text_hash).unlink()
    report = render_page(load_bundle(store, trace_id, TODAY), prices())
    assert "Not verified" in report and "2 of 5 checks failed" in report
    assert "missing from the archive" in report
    assert "shown as cited" in text_of(report, "sources")
    assert f"<mark>{SPAN.excerpt}</mark>" in report


def test_markers_without_a_citation_stay_text_and_an_empty_run_has_no_sources(tmp_path: Path):
    report = page_of(tmp_path, SampleRun("What was read does not answer this question. [1] [0] [99999999]"))
    assert 'id="sources"' not in report and "with-sources" not in report.partition("<body")[2][:60]
    assert "[1] [0] [99999999]" in text_of(report, "answer")


def test_a_very_long_text_is_not_included(tmp_path: Path):
    long = SampleCitation("https://example.org/long", "The span is 212 metres long.", "Spans", before="word " * 40_000)
    report = page_of(tmp_path, SampleRun("One. [1]", [long]))
    assert len(report) < 60_000
    assert "it is in the archive" in text_of(report, "sources")


def test_an_answer_of_thousands_of_markers_stays_small(tmp_path: Path):
    report = page_of(tmp_path, SampleRun("So it is. " + "[1]" * 5000, [SPAN]))
    assert len(report) < 2_000_000
    assert report.count('class="peek"') == 300


def test_factor_effects_are_shown_only_for_our_rubric(tmp_path: Path):
    result = bundle_of(tmp_path, SampleRun("One. [1]", [SPAN])).result
    effects = [factor.effect for factor in factor_effects(result)]
    assert effects[3] == 0 and effects[2] is not None and effects[2] < 0 < (effects[0] or 0)
    theirs = result.model_copy(update={"confidence": 0.11})
    assert {factor.effect for factor in factor_effects(theirs)} == {None}


def test_durations_are_readable():
    assert [seconds(each) for each in (0.0, 0.045, 3.42, 125.0)] == ["0 ms", "45 ms", "3.4 s", "2 min 5 s"]
