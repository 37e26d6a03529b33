"""Describe a query in the words of the question: "the number of customers whose country is Brazil".

Does not know SQL.
"""

from typing import Final

from marchwarden.researchers.database.nl2sql.lexicon import Aggregate
from marchwarden.researchers.database.nl2sql.query import Condition, Having, Ordering, SelectQuery, Term
from marchwarden.researchers.database.nl2sql.tokens import DateSpan

_AGGREGATES: Final = {
    Aggregate.COUNT: "number of",
    Aggregate.SUM: "total",
    Aggregate.AVERAGE: "average",
    Aggregate.HIGHEST: "highest",
    Aggregate.LOWEST: "lowest",
}
_OPERATORS: Final = {
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
_DATE_OPERATORS: Final = {"=": "is in", "<": "is before", ">": "is after", ">=": "is not before", "<=": "is not after"}
_ONE_MONTH: Final = 31


def paraphrase(query: SelectQuery) -> str:
    """Return a noun phrase without a period."""
    ordering = query.ordering
    shown = [term for term in query.shown if not (ordering and ordering.term.is_among((term,)))] or list(query.shown)
    aggregated = any(term.aggregate for term in shown)
    terms = [term for term in shown if not (aggregated and term in query.groups)]
    limit = f"{ordering.limit} " if ordering and (ordering.limit or 1) > 1 else ""
    parts = [f"the {limit}{_join_words([_phrase(term) for term in terms])}"]
    if query.about:
        parts.append(f"{'with' if terms[0].is_entity else 'of'} {_join_words(list(query.about))}")
    if conditions := [_condition_phrase(each) for each in query.conditions]:
        parts.append("whose " + (" or " if query.either else " and ").join(conditions))
    parts.extend(f"without {absence.label}" for absence in query.absences)
    parts.extend(map(_having_phrase, query.having))
    if groups := [term.label for term in query.groups if term not in terms]:
        parts.append(f"for each {_join_words(groups)}")
    parts.extend(_ordering_phrase(each) for each in (ordering, query.then_by) if each)
    return " ".join(parts)


def _phrase(term: Term) -> str:
    word = _AGGREGATES[term.aggregate] if term.aggregate else ""
    return term.label if term.label.startswith(word) else f"{word} {term.label}"


def _join_words(items: list[str]) -> str:
    items = list(dict.fromkeys(items))
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _condition_phrase(condition: Condition) -> str:
    if condition.span:
        return f"{condition.label} {_DATE_OPERATORS[condition.operator]} {_date_phrase(condition.span)}"
    values = [text.strip("%") for text in condition.texts] or [f"{number:g}" for number in condition.numbers]
    link = " and " if condition.operator == "BETWEEN" else " or "
    return f"{condition.label} {_OPERATORS[condition.operator]} {link.join(values) or condition.literal.casefold()}"


def _date_phrase(span: DateSpan) -> str:
    """Write a span as a year, a month or a day, depending on its length."""
    days = (span.until - span.since).days
    if days > _ONE_MONTH:
        return f"{span.since:%Y}"
    return f"{span.since:%Y-%m}" if days > 1 else str(span.since)


def _having_phrase(having: Having) -> str:
    numbers = " and ".join(f"{number:g}" for number in having.numbers)
    return f"where the {_phrase(having.term)} {_OPERATORS[having.operator]} {numbers}"


def _ordering_phrase(ordering: Ordering) -> str:
    if ordering.implied:
        return f"by {ordering.term.label}" if ordering.term.columns else "by how often they occur"
    if not ordering.only_extreme and not ordering.limit:
        return f"ordered by {_phrase(ordering.term)}{', the highest first' if ordering.descending else ''}"
    counted = ordering.term.aggregate is Aggregate.COUNT
    usual = ("most" if counted else "highest") if ordering.descending else ("fewest" if counted else "lowest")
    label = ordering.term.label if counted else _phrase(ordering.term)
    return f"with the {ordering.superlative or usual} {label}"
