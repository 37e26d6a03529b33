"""Format results, traces and checks for the terminal. Returns rich renderables and prints nothing.

Untrusted text is shown as plain text, without control and invisible characters.
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
from marchwarden.text.sanitize import one_line, pluralize, visible

if TYPE_CHECKING:
    from marchwarden.orchestrator.external import Health
    from marchwarden.researchers.spec import DoctorCheck

_BANDS = (
    (0.9, "Several strong sources agree"),
    (0.7, "Well supported"),
    (0.5, "Few sources"),
    (0.0, "Low confidence: check this yourself"),
)
_STEP_LINE_LENGTH = 200
_NAME_WIDTH = 40
_MAX_QUESTION_LENGTH = 500
_MIN_TEXT_WIDTH = 10
_SHOWN_INDEXING_SECONDS = 10.0
_SHORT_HASH_LENGTH = len("sha256:") + 12


@dataclass(frozen=True)
class TraceSummary:
    """One run in the list of runs."""

    trace_id: str
    began: str
    state: str
    question: str
    confidence: float | None = None


def result(result: ResearchResult, *, verbose: bool = False) -> RenderableType:
    """Format a result: answer, confidence, sources, gaps, discoveries and open questions."""
    parts: list[RenderableType] = [_plain(result.answer), _blank(), *_confidence(result)]
    parts += _section("Sources", [_citation(number, each) for number, each in enumerate(result.citations, 1)])
    parts += _section("Asked", _dispatches(result.dispatches))
    parts += _section("Gaps", [_gap(each) for each in result.gaps])
    parts += _section(
        "Discoveries",
        [
            _entry(f"{each.type} → {each.suggested_researcher or 'any researcher'}", f"{each.query}: {each.reason}")
            for each in result.discovery_events
        ],
    )
    parts += _section(
        "Open questions",
        [
            _entry(f"{each.priority}: {each.question}", each.source_locator or each.context)
            for each in result.open_questions
        ],
    )
    parts += [_blank(), *_footer(result, verbose=verbose)]
    return Group(*parts)


def checks(checks: Sequence[Check]) -> RenderableType:
    """Format the checks of `verify`, one per line, and the verdict."""
    lines = [
        Text(f"{'ok  ' if each.proved else 'FAIL'} ", "green" if each.proved else "bold red")
        + _text(one_line(f"{each.subject}: {each.detail}", 400))
        for each in checks
    ]
    failed = sum(not each.proved for each in checks)
    verdict = f"{failed} of {len(checks)} checks failed" if failed else f"Verified: all {len(checks)} checks passed"
    return Group(*lines, Text(verdict, _colour(good=not failed)))


def doctor_checks(checks: "Sequence[DoctorCheck]") -> RenderableType:
    """Format the checks of `doctor`, each with its remedy."""
    marks = {"ok": ("ok      ", "green"), "missing": ("missing ", "yellow"), "broken": ("BROKEN  ", "bold red")}
    lines: list[RenderableType] = []
    for each in checks:
        line = _text(one_line(f"{each.subject}: {each.detail}", 600))
        lines.append(_Indented(line, 8, Text(*marks[each.state])))
        lines += [_Indented(_text(one_line(each.remedy)), 10, Text("        → "))] if each.remedy else []
    broken = sum(each.state == "broken" for each in checks)
    verdict = f"{broken} of {len(checks)} checks failed" if broken else "No problems found"
    return Group(*lines, Text(verdict, _colour(good=not broken)))


def researchers(statuses: "Sequence[Health]") -> RenderableType:
    """Format the list of researchers with purpose and status."""
    lines: list[RenderableType] = []
    for each in statuses:
        mark = Text("ok   ", "green") if each.well else Text("DOWN ", "bold red")
        line = f"{each.name} (contract {each.contract or 'unknown'}): {each.purpose}"
        lines += [_Indented(_text(one_line(line, 600)), 5, mark), _indented(_text(one_line(each.state, 600)), 5)]
    return Group(*lines)


def source_checks(checks: Sequence[SourceCheck]) -> RenderableType:
    """Format the current status of each cited document, with a summary."""
    counts = [(status.value, sum(each.standing is status for each in checks)) for status in SourceStatus]
    verdict = f"cited documents: {', '.join(f'{count} {name}' for name, count in counts if count) or 'none'}"
    all_intact = all(each.is_intact for each in checks)
    return Group(*(part for each in checks for part in _source_check(each)), Text(verdict, _colour(good=all_intact)))


def statements(statuses: Sequence[StatementStatus]) -> RenderableType:
    """Format the statements that lost support, and why."""
    weakened = [each for each in statuses if each.support != "stands"]
    if not weakened:
        return _text("Every statement is still supported")
    return Group(*_section("Statements to check", [_weakened_statement(each) for each in weakened]))


def steps(entries: Iterable[TraceEntry]) -> RenderableType:
    """Format a run step by step."""
    return Group(*(part for entry in entries for part in _step(entry)))


def traces(summaries: Sequence[TraceSummary]) -> RenderableType:
    """Format a list of runs."""
    return Group(*(part for each in summaries for part in _summary(each)))


def costs(sums: Sequence[Sum], total: Sum) -> RenderableType:
    """Format one sum per line and the total. Tokens without a known price are listed too."""
    width = max(len(one_line(each.name)) for each in (*sums, total))
    return Group(*(Text(_cost_line(each, max(width, _NAME_WIDTH))) for each in (*sums, total)))


def _cost_line(each: Sum, width: int) -> str:
    return f"{one_line(each.name):{width}} {each.tokens:>10} tokens  {_dollars(each)}"


def _dollars(each: Sum) -> str:
    known = f"${each.dollars:.4f}"
    if not each.unpriced:
        return known
    return f"{known} and {each.unpriced} tokens without a known price (see prices.toml)"


def _confidence(result: ResearchResult) -> Iterable[RenderableType]:
    band = next(label for minimum, label in _BANDS if result.confidence >= minimum)
    yield Text(f"Confidence {result.confidence:.2f}", "bold") + Text(f": {band}")
    yield _indented(_text(_factors(result.confidence_factors)))


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


def _dispatches(dispatches: Sequence[Dispatch]) -> list[RenderableType]:
    """Format the dispatches. Only follow-up questions are shown."""
    first_question = dispatches[0].question if dispatches else ""
    lines: list[RenderableType] = []
    for each in dispatches:
        confidence = "" if each.confidence is None else f", confidence {each.confidence:.2f}"
        outcome = f"{each.outcome}{confidence}, {each.tokens_used} tokens"
        if each.question == first_question:
            lines.append(_entry(each.researcher, outcome))
        else:
            lines.append(_entry(f"{each.researcher}, because {each.reason}: {each.question}", outcome))
    return lines


def _source_check(check: SourceCheck) -> Iterable[RenderableType]:
    head = Text(f"{check.standing.value:12} ", _colour(good=check.is_intact))
    head.append(f"{_markers(check.citations)} {one_line(check.locator)}")
    yield _indented(head, 0)
    yield _indented(_text(one_line(check.detail)), 13)


def _weakened_statement(statement: StatementStatus) -> RenderableType:
    labels = {"lost": "lost its support", "weakened": "lost part of its support"}
    reasons = [f"{_markers(statement.lost)} lost"] if statement.lost else []
    reasons += [f"{_markers(statement.unchecked)} could not be checked"] if statement.unchecked else []
    return _entry(f"{labels.get(statement.support, 'not checked')}: {', '.join(reasons)}", statement.text)


def _markers(numbers: Iterable[int]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _colour(*, good: bool) -> str:
    return "bold green" if good else "bold red"


def _citation(number: int, citation: Citation) -> RenderableType:
    # The locator of a database contains a percent-encoded query.
    locator = unquote(citation.locator) if citation.source == "database" else citation.locator
    head = Text(f"[{number}] ", "bold") + Text(one_line(locator), "cyan")
    if citation.title:
        head.append(f"  {one_line(citation.title, 100)}")
    if citation.researcher:
        head.append(f"  (found by {one_line(citation.researcher, 60)})")
    return Group(_indented(head), _indented(_text(f"“{' '.join(visible(citation.raw_excerpt).split())}”"), 6))


def _gap(gap: Gap) -> RenderableType:
    return _entry(f"{gap.category.value}: {gap.topic}", gap.detail)


def _entry(head: str, detail: str) -> RenderableType:
    return Group(_indented(_text(f"- {one_line(head)}")), _indented(_text(one_line(detail, 600)), 6))


def _footer(result: ResearchResult, *, verbose: bool) -> Iterable[RenderableType]:
    cost = result.cost_metadata
    model = one_line(cost.model_id, 80)
    if cost.requested_model_id:
        model += f", not {one_line(cost.requested_model_id, 80)}"
    indexing = cost.indexing_sec or 0.0
    before = f" after {indexing:.1f} s of indexing" if indexing >= _SHOWN_INDEXING_SECONDS else ""
    if verbose:
        iterations = pluralize(cost.iterations_run, "iteration")
        yield _text(f"Cost: {cost.tokens_used} tokens, {iterations}, {cost.wall_time_sec:.2f} s{before}, model {model}")
    else:
        yield _text(f"Cost: {cost.tokens_used} tokens, {cost.wall_time_sec:.1f} s{before} ({model})")
    note = "" if result.trace_complete else "  (incomplete: could not be written)"
    yield _text(f"Trace: {one_line(result.trace_id, 60)}{note}")


def _step(entry: TraceEntry) -> Iterable[RenderableType]:
    elapsed = entry.fields.get("elapsed")
    time = f"{elapsed:8.3f} s" if isinstance(elapsed, int | float) else entry.timestamp
    yield (
        Text(f"{entry.step:3} ", "bold")
        + Text(f"{time}  ")
        + Text(one_line(entry.action, 20), "bold cyan")
        + _text(f"  {one_line(str(entry.fields.get('key', '')), 120)}")
    )
    yield _indented(_text(one_line(f"why: {entry.decision}", _STEP_LINE_LENGTH)), 6)
    for line in _outcome(entry.fields):
        yield _indented(_text(one_line(line, _STEP_LINE_LENGTH)), 6)


def _outcome(fields: Mapping[str, object]) -> Iterable[str]:
    """Yield a few lines that summarize the outcome of a step."""
    match fields:
        case {"error": {"detail": detail}}:
            yield f"failed: {detail}"
        case {"request": {"question": question}}:
            yield f"question: {question}"
        case {"content_hash": name, "content_length": length}:
            yield f"archived {length} bytes as {str(name)[:_SHORT_HASH_LENGTH]}"
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
        case {"result": [*items]}:
            yield f"{len(items)} found" if items else "none"


def _summary(each: TraceSummary) -> Iterable[RenderableType]:
    confidence = "" if each.confidence is None else f"  {each.confidence:.2f}"
    yield Text(each.trace_id, "bold cyan") + _text(f"  {each.began[:16].replace('T', ' ')}  {each.state}{confidence}")
    yield _indented(_text(one_line(each.question, _MAX_QUESTION_LENGTH)), 4)


def _section(title: str, entries: Sequence[RenderableType]) -> list[RenderableType]:
    return [_blank(), Text(title, "bold"), *entries] if entries else []


def _plain(text: str) -> RenderableType:
    return _indented(_text(visible(text)), 0)


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
        for number, line in enumerate(self.text.wrap(console, max(options.max_width - self.by, _MIN_TEXT_WIDTH))):
            line.rstrip()
            yield (self.mark if self.mark and number == 0 else Text(" " * self.by)) + line


def _indented(text: Text, by: int = 2) -> RenderableType:
    return _Indented(text, by)


def _blank() -> Text:
    return Text("")
