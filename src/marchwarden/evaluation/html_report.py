"""Render a report as one self-contained HTML page: no scripts, no links, all foreign text escaped."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from marchwarden.evaluation.compare import SuiteComparison
from marchwarden.evaluation.judge import Judgement
from marchwarden.evaluation.metrics import MEASURES
from marchwarden.evaluation.reliability_chart import reliability_curve
from marchwarden.evaluation.report import Report, format_figure
from marchwarden.text.sanitize import one_line

_STYLE: Final = """
body { font: 16px/1.5 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem }
th, td { text-align: left; padding: 0.2rem 0.8rem; border-bottom: 1px solid #ddd; vertical-align: top }
td.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.good { color: #1e7e34 } .bad { color: #b03a2e } code { overflow-wrap: anywhere }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def render_page(report: Report) -> str:
    """Return the page. Text from suites and researchers is escaped."""
    title = _text(f"{report.suite}: {len(report.judgements)} questions")
    body = "\n".join(_sections(report))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n<style>{_STYLE}</style>\n'
        f"</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _sections(report: Report) -> Iterator[str]:
    minds = _text(", ".join(report.minds) or "no model")
    yield f"<p>Answered by {minds}. Suite <code>{_text(report.digest)}</code>.</p>"
    yield from _figures(report)
    yield "<h2>Reliability</h2>" + reliability_curve(report.bins)
    bins = ((f"{b.low:.1f}–{b.high:.1f}", b.count, f"{b.confidence:.3f}", f"{b.right:.3f}") for b in report.bins)
    yield _table(("confidence", "answers", "mean", "right"), (map(str, each) for each in bins))
    if report.kinds:
        kinds = ((each.name, str(each.questions), format_figure(each.good / each.questions)) for each in report.kinds)
        yield "<h2>Kinds of questions</h2>" + _table(("kind", "questions", "answered well"), kinds)
    if report.comparison:
        yield from _comparison(report.comparison)
    yield "<h2>Questions</h2>" + _table(
        ("id", "question", "kind", "done", "confidence", "citations"), map(_question_row, report.judgements)
    )


def _figures(report: Report) -> Iterator[str]:
    found = report.figures
    for group in dict.fromkeys(measure.group for measure in MEASURES):
        known = [measure for measure in MEASURES if measure.group == group and found[measure.name] is not None]
        if known:
            rows = ((each.name, format_figure(found[each.name]), each.description) for each in known)
            yield f"<h2>{_text(group)}</h2>" + _table(("figure", "value", "meaning"), rows)


def _comparison(comparison: SuiteComparison) -> Iterator[str]:
    rows = (
        (
            each.name,
            format_figure(each.before),
            format_figure(each.after),
            f"{each.change:+.3f}",
            f"[{each.low:+.3f}, {each.high:+.3f}]",
            "clear" if each.is_clear else "",
        )
        for each in comparison.differences
    )
    yield f"<h2>Compared over {comparison.questions} questions</h2>"
    yield _table(("figure", "before", "after", "change", "95% interval", ""), rows)
    flips = (
        (
            str(each.question.id),
            each.question.text,
            "won" if each.now_good else "lost",
            f"{each.before:.2f} → {each.after:.2f}",
        )
        for each in comparison.flips
    )
    yield f"<h2>{len(comparison.flips)} questions flipped</h2>"
    yield _table(("id", "question", "", "confidence"), flips)


def _question_row(judgement: Judgement) -> Sequence[str]:
    question = judgement.question
    done = {True: "well", False: "not well", None: "–"}[judgement.good]
    sure = f"{judgement.confidence:.2f}"
    return (str(question.id), question.text, question.type, done, sure, str(judgement.citations))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{_text(each)}</th>" for each in heads)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"


_COLOURS: Final = {"won": "good", "well": "good", "lost": "bad", "not well": "bad"}


def _cell(words: str) -> str:
    colour = _COLOURS.get(words)
    is_figure = bool(words) and not set(words) - set("+-–.0123456789,[] →")
    kind = f' class="{colour}"' if colour else ' class="figure"' if is_figure else ""
    return f"<td{kind}>{_text(words)}</td>"


def _text(words: str) -> str:
    return escape(one_line(words, 600))
