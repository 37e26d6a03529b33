"""Format results, traces and checks for the terminal. Returns rich renderables and prints nothing.

Text from outside is shown as plain text, with control characters removed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from marchwarden.audit.costs import Sum
from marchwarden.audit.recheck import SourceCheck, SourceStatus, StatementStatus
from marchwarden.audit.verify import Check
from marchwarden.contract import Citation, ConfidenceFactors, Dispatch, Gap, ResearchResult
from marchwarden.storage.trace import TraceEntry
from marchwarden.text.sanitize import one_line, pluralize, printable

if TYPE_CHECKING:
    from marchwarden.orchestrator.external import Health
    from marchwarden.researchers.spec import DoctorCheck

_BANDS = (
    (0.9, "Several strong sources agree"),
    (0.7, "Well supported"),
    (0.5, "Few sources"),
    (0.0, "Low confidence: check this yourself"),
)
_SHOWN_IN_A_STEP = 200
_SHORT_HASH = len("sha256:") + 12


@dataclass(frozen=True)
class TraceSummary:
    """One run in the list of runs."""

    trace_id: str
    began: str
    state: str
    question: str
    confidence: float | None = None


def result(found: ResearchResult, *, verbose: bool = False) -> RenderableType:
    """Format a result: answer, confidence, sources, gaps, discoveries and open questions."""
    parts: list[RenderableType] = [_plain(found.answer), _blank(), *_confidence(found)]
    parts += _section("Sources", [_citation(number, each) for number, each in enumerate(found.citations, 1)])
    parts += _section("Asked", _dispatches(found.dispatches))
    parts += _section("Gaps", [_gap(each) for each in found.gaps])
    parts += _section(
        "Discoveries",
        [
            _entry(f"{e.type} → {e.suggested_researcher or 'anyone'}", f"{e.query}: {e.reason}")
            for e in found.discovery_events
        ],
    )
    parts += _section(
        "Open questions",
        [
            _entry(f"{each.priority}: {each.question}", each.source_locator or each.context)
            for each in found.open_questions
        ],
    )
    parts += [_blank(), *_footer(found, verbose=verbose)]
    return Group(*parts)


def checks(found: Sequence[Check]) -> RenderableType:
    """Format one line per check."""
    lines = [
        Text(f"{'ok  ' if c.proved else 'FAIL'} ", "green" if c.proved else "bold red")
        + _text(one_line(f"{c.subject}: {c.detail}", 400))
        for c in found
    ]
    failed = sum(not check.proved for check in found)
    verdict = f"{failed} of {len(found)} checks failed" if failed else f"Verified: all {len(found)} checks passed"
    return Group(*lines, Text(verdict, "bold red" if failed else "bold green"))


def doctor_checks(found: "Sequence[DoctorCheck]") -> RenderableType:
    """Format the checks of `doctor`, each with its remedy."""
    marks = {"ok": ("ok      ", "green"), "missing": ("missing ", "yellow"), "broken": ("BROKEN  ", "bold red")}
    lines: list[RenderableType] = []
    for each in found:
        line = _text(one_line(f"{each.subject}: {each.detail}", 600))
        lines.append(_Indented(line, 8, Text(*marks[each.state])))
        lines += [_Indented(_text(one_line(each.remedy)), 10, Text("        → "))] if each.remedy else []
    broken = sum(each.state == "broken" for each in found)
    verdict = f"{broken} of {len(found)} checks failed" if broken else "No problems found"
    return Group(*lines, Text(verdict, _colour(good=not broken)))


def healths(found: "Sequence[Health]") -> RenderableType:
    """Format the list of researchers with purpose and status."""
    lines: list[RenderableType] = []
    for each in found:
        mark = Text("ok   ", "green") if each.well else Text("DOWN ", "bold red")
        line = f"{each.name} (contract {each.contract or 'unnamed'}): {each.purpose}"
        lines += [_Indented(_text(one_line(line, 600)), 5, mark), _indented(_text(one_line(each.state, 600)), 5)]
    return Group(*lines)


def visits(found: Sequence[SourceCheck]) -> RenderableType:
    """Format the current status of each cited document, with a summary."""
    tallied = [(standing.value, sum(visit.standing is standing for visit in found)) for standing in SourceStatus]
    verdict = f"cited documents: {', '.join(f'{count} {name}' for name, count in tallied if count) or 'none'}"
    all_stand = all(visit.is_intact for visit in found)
    return Group(*(part for each in found for part in _visit(each)), Text(verdict, _colour(good=all_stand)))


def statements(found: Sequence[StatementStatus]) -> RenderableType:
    """Format the statements that lost support, and why."""
    shaken = [each for each in found if each.support != "stands"]
    if not shaken:
        return _text("Every statement is still supported")
    return Group(*_section("Statements to check", [_shaken(each) for each in shaken]))


def steps(entries: Iterable[TraceEntry]) -> RenderableType:
    """Format a run step by step."""
    return Group(*(part for entry in entries for part in _step(entry)))


def traces(found: Sequence[TraceSummary]) -> RenderableType:
    """Format the list of runs, newest first."""
    return Group(*(part for each in found for part in _summary(each)))


def spending(found: Sequence[Sum], whole: Sum) -> RenderableType:
    """Format one sum per line and the total. Tokens without a known price are listed too."""
    lines = [
        _text(f"{one_line(each.name, 60):40} {each.tokens:>10} tokens  {_dollars(each)}") for each in (*found, whole)
    ]
    return Group(*lines)


def _dollars(each: Sum) -> str:
    known = f"${each.dollars:.4f}"
    if not each.unpriced:
        return known
    return f"{known} and {each.unpriced} tokens without a known price (see prices.toml)"


def _confidence(found: ResearchResult) -> Iterable[RenderableType]:
    band = next(words for least, words in _BANDS if found.confidence >= least)
    yield Text(f"Confidence {found.confidence:.2f}", "bold") + Text(f": {band}")
    yield _indented(_text(_factors(found.confidence_factors)))


def _factors(factors: ConfidenceFactors) -> str:
    return " · ".join(
        (
            f"independent sources {factors.num_corroborating_sources}",
            f"authority {one_line(factors.source_authority, 20)}",
            f"match {factors.query_specificity_match:.2f}",
            "contradiction found" if factors.contradiction_detected else "no contradiction",
            "budget exhausted" if factors.budget_exhausted else "within budget",
            f"recency {one_line(factors.recency or 'unknown', 20)}",
        )
    )


def _dispatches(found: Sequence[Dispatch]) -> list[RenderableType]:
    """Format the dispatches. The first question is not repeated."""
    asked = found[0].question if found else ""
    lines: list[RenderableType] = []
    for each in found:
        sure = "" if each.confidence is None else f", confidence {each.confidence:.2f}"
        outcome = f"{each.outcome}{sure}, {each.tokens_used} tokens"
        if each.question == asked:
            lines.append(_entry(each.researcher, outcome))
        else:
            lines.append(_entry(f"{each.researcher}, because {each.reason}: {each.question}", outcome))
    return lines


def _visit(visit: SourceCheck) -> Iterable[RenderableType]:
    head = Text(f"{visit.standing.value:12} ", _colour(good=visit.is_intact))
    head.append(f"{_markers(visit.citations)} {one_line(visit.locator)}")
    yield _indented(head, 0)
    yield _indented(_text(one_line(visit.detail)), 13)


def _shaken(statement: StatementStatus) -> RenderableType:
    what = {"lost": "lost its support", "weakened": "lost part of its support"}.get(statement.support, "not checked")
    why = [f"{_markers(statement.lost)} lost"] if statement.lost else []
    why += [f"{_markers(statement.unchecked)} could not be checked"] if statement.unchecked else []
    return _entry(f"{what}: {', '.join(why)}", statement.text)


def _markers(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _colour(*, good: bool) -> str:
    return "bold green" if good else "bold red"


def _citation(number: int, citation: Citation) -> RenderableType:
    # Locators of databases contain a percent-encoded query.
    place = unquote(citation.locator) if citation.source == "database" else citation.locator
    head = Text(f"[{number}] ", "bold") + Text(one_line(place), "cyan")
    if citation.title:
        head.append(f"  {one_line(citation.title, 100)}")
    if citation.researcher:
        head.append(f"  (found by {one_line(citation.researcher, 60)})")
    return Group(_indented(head), _indented(_text(f"“{' '.join(printable(citation.raw_excerpt).split())}”"), 6))


def _gap(gap: Gap) -> RenderableType:
    return _entry(f"{gap.category.value}: {gap.topic}", gap.detail)


def _entry(head: str, detail: str) -> RenderableType:
    return Group(_indented(_text(f"- {one_line(head)}")), _indented(_text(one_line(detail, 600)), 6))


def _footer(found: ResearchResult, *, verbose: bool) -> Iterable[RenderableType]:
    cost = found.cost_metadata
    if verbose:
        rounds = pluralize(cost.iterations_run, "iteration")
        spent = f"Cost: {cost.tokens_used} tokens, {rounds}, {cost.wall_time_sec:.2f} s"
        yield _text(f"{spent}, model {one_line(cost.model_id, 80)}")
    else:
        yield _text(f"Cost: {cost.tokens_used} tokens, {cost.wall_time_sec:.1f} s ({one_line(cost.model_id, 80)})")
    note = "" if found.trace_complete else "  (incomplete: the disk was full)"
    yield _text(f"Trace: {one_line(found.trace_id, 60)}{note}")


def _step(entry: TraceEntry) -> Iterable[RenderableType]:
    elapsed = entry.fields.get("elapsed")
    when = f"{elapsed:8.3f} s" if isinstance(elapsed, int | float) else entry.timestamp
    yield (
        Text(f"{entry.step:3} ", "bold")
        + Text(f"{when}  ")
        + Text(one_line(entry.action, 20), "bold cyan")
        + _text(f"  {one_line(str(entry.fields.get('key', '')), 120)}")
    )
    yield _indented(_text(one_line(f"why: {entry.decision}", _SHOWN_IN_A_STEP)), 6)
    for line in _outcome(entry.fields):
        yield _indented(_text(one_line(line, _SHOWN_IN_A_STEP)), 6)


def _outcome(fields: Mapping[str, object]) -> Iterable[str]:
    """Yield a few lines that summarize a step, depending on its fields."""
    match fields:
        case {"error": {"detail": detail}}:
            yield f"failed: {detail}"
        case {"request": {"question": question}}:
            yield f"question: {question}"
        case {"content_hash": name, "content_length": length}:
            yield f"archived {length} bytes as {str(name)[:_SHORT_HASH]}"
        case {"result": {"answer": answer, "confidence": confidence}}:
            yield f"confidence {confidence}: {answer}"
        case {"result": {"queries": [*queries]}}:
            yield from (f"query: {query['text']}" for query in queries)
        case {"result": {"findings": [*findings], "follow_ups": [*queries]}, "tokens": tokens}:
            yield f"{len(findings)} findings for {tokens} tokens"
            yield from (f"next query: {query['text']}" for query in queries)
        case {"result": {"claims": int(claims), "unsupported": int(unsupported)}}:
            yield f"{unsupported} of {claims} claims were unsupported and left out"
        case {"result": {"claims": [*claims]}}:
            yield from (f"claim: {claim['text']}" for claim in claims)
        case {"result": [*found]}:
            yield f"{len(found)} found" if found else "nothing"


def _summary(each: TraceSummary) -> Iterable[RenderableType]:
    confidence = "" if each.confidence is None else f"  {each.confidence:.2f}"
    yield Text(each.trace_id, "bold cyan") + _text(f"  {each.began[:16].replace('T', ' ')}  {each.state}{confidence}")
    yield _indented(_text(one_line(each.question, 200)), 4)


def _section(title: str, entries: Sequence[RenderableType]) -> list[RenderableType]:
    return [_blank(), Text(title, "bold"), *entries] if entries else []


def _plain(text: str) -> RenderableType:
    return _indented(_text(printable(text)), 0)


def _text(text: str) -> Text:
    return Text(text, overflow="fold")


@dataclass(frozen=True)
class _Indented:
    """Indented text without trailing padding, so that it copies cleanly."""

    text: Text
    by: int
    mark: Text | None = None
    """Shown in the indentation of the first line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for number, line in enumerate(self.text.wrap(console, max(options.max_width - self.by, 20))):
            line.rstrip()
            yield (self.mark if self.mark and number == 0 else Text(" " * self.by)) + line


def _indented(text: Text, by: int = 2) -> RenderableType:
    return _Indented(text, by)


def _blank() -> Text:
    return Text("")
