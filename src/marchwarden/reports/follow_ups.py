"""Render what an answer leaves open: gaps with advice, discoveries, open questions, and the dispatches."""

from collections.abc import Mapping
from itertools import groupby

from marchwarden.contract import DiscoveryEvent, Dispatch, Gap, OpenQuestion, ResearchResult
from marchwarden.reports.bundle import Bundle, citations_found_by
from marchwarden.reports.html import Markup, address, element, joined
from marchwarden.reports.labels import GAPS, PRIORITIES
from marchwarden.reports.svg import meter
from marchwarden.text.sanitize import one_line, pluralize

_LONGEST = 600


def gaps_section(result: ResearchResult) -> Markup | None:
    """Render the gaps by category, each with advice."""
    if not result.gaps:
        return None
    order = list(GAPS)
    ranked = sorted(result.gaps, key=lambda gap: order.index(gap.category))
    groups = [_category(list(group)) for _, group in groupby(ranked, key=lambda gap: gap.category)]
    return element("section", element("h2", "What is missing"), *groups, id="gaps")


def _category(found: list[Gap]) -> Markup:
    title, advice = GAPS[found[0].category]
    listed = element("ul", *(_gap(gap) for gap in found), class_="entries")
    todo = element("p", element("strong", "What to do: "), advice, class_="advice")
    return element("div", element("h3", title), listed, todo, class_="category")


def _gap(gap: Gap) -> Markup:
    return _entry(one_line(gap.topic, 200), one_line(gap.detail, _LONGEST))


def discoveries_section(result: ResearchResult) -> Markup | None:
    if not result.discovery_events:
        return None
    listed = element("ul", *(_discovery(each) for each in result.discovery_events), class_="entries")
    return element("section", element("h2", "Discoveries"), listed, id="discoveries")


def _discovery(event: DiscoveryEvent) -> Markup:
    kind = one_line(event.type, 40).replace("_", " ")
    researcher = f" · for {one_line(event.suggested_researcher, 40)}" if event.suggested_researcher else ""
    head = joined((element("span", f"{kind}{researcher}", class_="tag"), " ", address(one_line(event.query, 300))))
    return _entry(head, one_line(event.reason, _LONGEST), event.source_locator)


def questions_section(result: ResearchResult) -> Markup | None:
    if not result.open_questions:
        return None
    listed = element("ul", *(_question(each) for each in sorted(result.open_questions, key=_rank)), class_="entries")
    return element("section", element("h2", "Open questions"), listed, id="questions")


def _rank(question: OpenQuestion) -> int:
    return PRIORITIES.index(question.priority) if question.priority in PRIORITIES else len(PRIORITIES)


def _question(each: OpenQuestion) -> Markup:
    head = joined(
        (element("span", f"{one_line(each.priority, 20)} priority", class_="tag"), " ", one_line(each.question))
    )
    return _entry(head, one_line(each.context, _LONGEST), each.source_locator)


def _entry(head: Markup | str, detail: str, locator: str | None = None) -> Markup:
    origin = element("p", "From ", address(one_line(locator, 300)), class_="origin") if locator else None
    return element("li", element("p", head, class_="head"), element("p", detail), origin)


def dispatches_section(bundle: Bundle, runs: Mapping[str, str]) -> Markup | None:
    """Render which researcher was asked what, why, and the outcome. `runs` maps trace ids to timeline anchors."""
    dispatches = bundle.result.dispatches
    if not dispatches:
        return None
    listed = element("ol", *(_dispatch(each, bundle, runs) for each in dispatches), class_="entries asked")
    return element("section", element("h2", "Who found what"), listed, id="asked")


def _dispatch(each: Dispatch, bundle: Bundle, runs: Mapping[str, str]) -> Markup:
    numbers = citations_found_by(bundle, each)
    cited = [element("a", f"[{number}]", href=f"#source-{number}", class_="marker") for number in numbers]
    confidence = None if each.confidence is None else f"confidence {each.confidence:.2f}"
    place = runs.get(each.trace_id or "")
    return element(
        "li",
        element(
            "p",
            element("strong", one_line(each.researcher, 60)),
            " was asked: ",
            one_line(each.question),
            class_="head",
        ),
        element("p", f"Reason: {one_line(each.reason, 300)}", class_="reason"),
        element(
            "p",
            one_line(each.outcome, 300),
            f", {confidence}" if confidence else None,
            f", {pluralize(each.tokens_used, 'token')}",
            joined((". Cited: ", joined(cited, " "))) if cited else None,
            joined((". ", element("a", "Steps", href=f"#{place}"))) if place else None,
        ),
        meter(each.confidence, confidence) if each.confidence is not None and confidence else None,
    )
