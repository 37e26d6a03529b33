from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.calibration import Bin, ConfidenceOutcome, reliability
from marchwarden.evaluation.html_report import render_page
from marchwarden.evaluation.reliability_chart import reliability_curve
from marchwarden.evaluation.report import Report
from tests.evaluation.results import QUESTIONS, REFUSAL, SUITE, a_result

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def tags_of(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    return tags


def test_page_is_self_contained_and_has_no_scripts():
    report = Report.from_results(SUITE, QUESTIONS, {"q1": a_result(), "q3": REFUSAL})
    tags = tags_of(render_page(report))
    assert not {"script", "img", "link", "iframe", "a", "object"} & set(tags.tags)
    assert not {"src", "href"} & tags.attributes
    assert "svg" in tags.tags


def test_foreign_text_is_escaped():
    questions = tuple(replace(each, question=HOSTILE, type=HOSTILE) for each in QUESTIONS)
    suite = replace(SUITE, name=HOSTILE, questions=questions)
    good = Report.from_results(suite, questions, {"q1": a_result(), "q3": REFUSAL})
    bad = Report.from_results(suite, questions, {"q1": REFUSAL, "q3": REFUSAL})
    html = render_page(replace(good.compared_with(bad), minds=(HOSTILE,)))
    assert not {"script", "img"} & set(tags_of(html).tags)
    assert "\x1b" not in html and "\u202e" not in html
    assert "&lt;script&gt;" in html


def test_page_shows_every_figure_and_flip():
    good = Report.from_results(SUITE, QUESTIONS, {"q1": a_result(), "q3": REFUSAL})
    html = render_page(good.compared_with(Report.from_results(SUITE, QUESTIONS, {"q1": REFUSAL, "q3": REFUSAL})))
    assert all(name in html for name, value in good.figures.items() if value is not None)
    assert "1 questions flipped" in html


@given(st.lists(st.builds(ConfidenceOutcome, st.floats(0, 1), st.booleans())))
def test_curve_has_a_circle_for_each_bin(outcomes):
    bins = reliability(outcomes)
    picture = ET.fromstring(reliability_curve(bins))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(bins)
    width = float(picture.attrib["width"])
    assert all(0 <= float(each.attrib[axis]) <= width for each in circles for axis in ("cx", "cy"))


def test_calibrated_bin_is_on_the_diagonal():
    picture = ET.fromstring(reliability_curve([Bin(0.5, 0.6, 3, 0.5, 0.5)]))
    (circle,) = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert float(circle.attrib["cx"]) == float(circle.attrib["cy"])
