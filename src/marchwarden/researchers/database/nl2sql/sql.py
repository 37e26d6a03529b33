"""Writes a query as one SELECT that SQLite, DuckDB and PostgreSQL read alike. Knows nothing of questions."""

from dataclasses import replace
from typing import Final

from marchwarden.researchers.database.nl2sql.joins import Place
from marchwarden.researchers.database.nl2sql.query import Absence, Asked, Condition, Having, Term

_STANDARD: Final = frozenset({"sqlite", "duckdb", "postgres", "postgresql"})


def sql(asked: Asked, dialect: str) -> str:
    written = " ".join(_clauses(asked))
    if dialect in _STANDARD:
        return written
    import sqlglot  # noqa: PLC0415 - only dialects that quote names otherwise pay for it

    return sqlglot.transpile(written, read="postgres", write=dialect)[0]


def _clauses(asked: Asked) -> list[str]:
    if asked.once:
        return _taken_once(asked)
    ordering = asked.ordering
    tests = [_tests(asked)] if asked.conditions or asked.absences else []
    if ordering and ordering.only_extreme:
        column, wanted = _measured(ordering.term, asked), "MAX" if ordering.descending else "MIN"
        inner = " ".join(
            ["SELECT", f"{wanted}({column})", "FROM", _tables(asked), *(f"WHERE {test}" for test in tests)]
        )
        tests = [*([f"({tests[0]})"] if asked.either and tests else tests), f"{column} = ({inner})"]
    clauses = ["SELECT DISTINCT" if _repeats(asked) else "SELECT", _shown(asked), "FROM", _tables(asked)]
    if tests:
        clauses.append(f"WHERE {' AND '.join(tests)}")
    if asked.groups:
        clauses.append(f"GROUP BY {', '.join(_grouped(term, asked) for term in asked.groups)}")
    if asked.having:
        clauses.append(f"HAVING {' AND '.join(_having(each, asked) for each in asked.having)}")
    if ordering and not ordering.only_extreme:
        orders = [ordering, asked.within] if asked.within else [ordering]
        terms = [f"{_measured(each.term, asked)}{' DESC' if each.descending else ''}" for each in orders]
        clauses.append(f"ORDER BY {', '.join([*terms, *(_tie_breakers(asked) if ordering.limit else [])])}")
        clauses.extend([f"LIMIT {ordering.limit}"] if ordering.limit else [])
    return clauses


def _tie_breakers(asked: Asked) -> list[str]:
    """Of rows that are equal, the same few must be kept whenever the statement runs again."""
    ordering = asked.ordering
    plain = [term for term in asked.shown if not term.fold and not (ordering and ordering.term.is_among((term,)))]
    return [_column(term.table, column, asked) for term in plain for column in term.columns]


def _taken_once(asked: Asked) -> list[str]:
    """Add up the rows that joins lead to, each once, however often they lead there."""
    term = asked.shown[0]
    alone = replace(asked, joins=(), table=term.table, once="", conditions=(), absences=(), ordering=None)
    key = replace(term, columns=(asked.once,), fold=None, written=False)
    # Counted for each of them, when they are chosen by a count.
    counted = asked.ordering is not None and asked.ordering.term.fold is not None
    groups = asked.groups or ((key,) if counted else ())
    inner = " ".join(_clauses(replace(asked, shown=(key,), groups=groups, once="")))
    return [*_clauses(alone), f"WHERE {_name(asked.once)} IN ({inner})"]


def _repeats(asked: Asked) -> bool:
    """Whether rows would come more than once that are wanted once."""
    if asked.groups or any(term.fold for term in asked.shown):
        return False
    if not asked.joins and any(term.key for term in asked.shown):
        return False
    ordered = asked.ordering
    if ordered is None or ordered.only_extreme:
        return True
    return ordered.term in asked.shown and not ordered.term.written and asked.within is None


def _shown(asked: Asked) -> str:
    return ", ".join(dict.fromkeys(_written(term, asked) for term in asked.shown))


def _grouped(term: Term, asked: Asked) -> str:
    keys = [_column(term.table, term.key, asked)] if term.key and term.key not in term.columns else []
    return ", ".join([*keys, _written(term, asked)])


def _written(term: Term, asked: Asked) -> str:
    if not term.columns:
        return "COUNT(*)"
    columns = ", ".join(_column(term.table, each, asked) for each in term.columns)
    if term.fold is None:
        return columns
    first = _measured(replace(term, fold=None), asked)
    return f"{term.fold.value}({'DISTINCT ' if term.distinct else ''}{first})"


def _measured(term: Term, asked: Asked) -> str:
    """A term as something to compare and to add up."""
    if term.fold or not term.columns:
        return _written(term, asked)
    column = _column(term.table, term.columns[0], asked)
    return f"CAST({column} AS REAL)" if term.written else column


def _tables(asked: Asked) -> str:
    joined = [f"JOIN {_name(join.other.table)} ON {_full(join.one)} = {_full(join.other)}" for join in asked.joins]
    return " ".join([_name(asked.table), *joined])


def _tests(asked: Asked) -> str:
    told = [_condition(each, asked) for each in asked.conditions]
    either = [" OR ".join(told)] if asked.either else told
    return " AND ".join([*either, *(_absence(each) for each in asked.absences)])


def _condition(condition: Condition, asked: Asked) -> str:
    column = _column(condition.place.table, condition.place.column, asked)
    if condition.written:
        column = f"CAST({column} AS REAL)"
    if condition.span:
        return _dated(condition, column)
    if condition.bare:
        return f"{column} {condition.sign} {condition.bare}"
    if condition.numbers:
        return f"{column} {_compared(condition.sign, condition.numbers)}"
    if "LIKE" in condition.sign:
        tests = [f"LOWER({column}) {condition.sign} {_text(text.lower())}" for text in condition.texts]
        return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"
    if len(condition.texts) == 1:
        return f"{column} {condition.sign} {_text(condition.texts[0])}"
    return f"{column} {'IN' if condition.sign == '=' else 'NOT IN'} ({', '.join(map(_text, condition.texts))})"


def _dated(condition: Condition, column: str) -> str:
    span = condition.span
    assert span is not None
    since, until = (
        (span.since.year, span.until.year) if condition.years else (_text(str(span.since)), _text(str(span.until)))
    )
    match condition.sign:
        case "<":
            return f"{column} < {since}"
        case ">":
            return f"{column} >= {until}"
        case ">=":
            return f"{column} >= {since}"
        case "<=":
            return f"{column} < {until}"
        case _:
            return f"{column} >= {since} AND {column} < {until}" if not condition.years else f"{column} = {since}"


def _having(having: Having, asked: Asked) -> str:
    return f"{_written(having.term, asked)} {_compared(having.sign, having.numbers)}"


def _compared(sign: str, numbers: tuple[float, ...]) -> str:
    return f"{sign} {' AND '.join(_number(each) for each in numbers)}"


def _absence(absence: Absence) -> str:
    join = absence.join
    inner = f"{_full(join.other)} = {_full(join.one)}"
    return f"NOT EXISTS (SELECT 1 FROM {_name(join.other.table)} WHERE {inner})"  # noqa: S608 - names are quoted


def _column(table: str, column: str, asked: Asked) -> str:
    return _full(Place(table, column)) if asked.joins else _name(column)


def _full(place: Place) -> str:
    return f"{_name(place.table)}.{_name(place.column)}"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _number(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else repr(number)
