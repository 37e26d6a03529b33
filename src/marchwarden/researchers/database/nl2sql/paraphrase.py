"""Says a query in plain words, the question's own where it has them: "the number of customers whose country is Brazil".

Knows the query and no SQL.
"""

from typing import Final

from marchwarden.researchers.database.nl2sql.lexicon import Fold
from marchwarden.researchers.database.nl2sql.query import Asked, Condition, Having, Ordering, Term
from marchwarden.researchers.database.nl2sql.tokens import Span

_FOLDS: Final = {
    Fold.COUNT: "number of",
    Fold.SUM: "total",
    Fold.AVERAGE: "average",
    Fold.HIGHEST: "highest",
    Fold.LOWEST: "lowest",
}
_SIGNS: Final = {
    "=": "is",
    "<>": "is not",
    ">": "is more than",
    "<": "is less than",
    ">=": "is at least",
    "<=": "is at most",
    "BETWEEN": "is between",
    "LIKE": "is like",
    "NOT LIKE": "is not like",
}
_DATED: Final = {"=": "is in", "<": "is before", ">": "is after", ">=": "is not before", "<=": "is not after"}
_ONE_MONTH: Final = 31


def reading(asked: Asked) -> str:
    """A noun phrase without a full stop."""
    ordering = asked.ordering
    wanted = [term for term in asked.shown if not (ordering and ordering.term.is_among((term,)))] or list(asked.shown)
    folded = any(term.fold for term in wanted)
    named = [term for term in wanted if not (folded and term in asked.groups)]
    limit = f"{ordering.limit} " if ordering and (ordering.limit or 1) > 1 else ""
    parts = [f"the {limit}{_listed([_called(term) for term in named])}"]
    if asked.about:
        parts.append(f"{'with' if named[0].thing else 'of'} {_listed(list(asked.about))}")
    if whose := [_condition(each) for each in asked.conditions]:
        parts.append("whose " + (" or " if asked.either else " and ").join(whose))
    parts.extend(f"without {absence.label}" for absence in asked.absences)
    parts.extend(map(_having, asked.having))
    if grouped := [term.label for term in asked.groups if term not in named]:
        parts.append(f"for each {_listed(grouped)}")
    parts.extend(_ordered(each) for each in (ordering, asked.within) if each)
    return " ".join(parts)


def _called(term: Term) -> str:
    word = _FOLDS[term.fold] if term.fold else ""
    return term.label if term.label.startswith(word) else f"{word} {term.label}"


def _listed(items: list[str]) -> str:
    items = list(dict.fromkeys(items))
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _condition(condition: Condition) -> str:
    if condition.span:
        return f"{condition.label} {_DATED[condition.sign]} {_when(condition.span)}"
    values = [text.strip("%") for text in condition.texts] or [f"{number:g}" for number in condition.numbers]
    link = " and " if condition.sign == "BETWEEN" else " or "
    return f"{condition.label} {_SIGNS[condition.sign]} {link.join(values) or condition.bare.casefold()}"


def _when(span: Span) -> str:
    """A year, a month or a day, as long as the span is."""
    days = (span.until - span.since).days
    if days > _ONE_MONTH:
        return f"{span.since:%Y}"
    return f"{span.since:%Y-%m}" if days > 1 else str(span.since)


def _having(having: Having) -> str:
    return f"where the {_called(having.term)} {_SIGNS[having.sign]} {' and '.join(f'{n:g}' for n in having.numbers)}"


def _ordered(ordering: Ordering) -> str:
    if ordering.implied:
        return f"by {ordering.term.label}" if ordering.term.columns else "by how often they occur"
    if not ordering.only_extreme and not ordering.limit:
        return f"ordered by {_called(ordering.term)}{', the highest first' if ordering.descending else ''}"
    counted = ordering.term.fold is Fold.COUNT
    usual = ("most" if counted else "highest") if ordering.descending else ("fewest" if counted else "lowest")
    label = ordering.term.label if counted else _called(ordering.term)
    return f"with the {ordering.said or usual} {label}"
