"""Render a query as one SELECT that SQLite, DuckDB and PostgreSQL all understand. Does not know the question."""

from dataclasses import replace
from typing import Final

from marchwarden.researchers.database.nl2sql.joins import ColumnRef
from marchwarden.researchers.database.nl2sql.query import Absence, Condition, Having, SelectQuery, Term

_STANDARD: Final = frozenset({"sqlite", "duckdb", "postgres", "postgresql"})


def render_sql(query: SelectQuery, dialect: str) -> str:
    statement = " ".join(_clauses(query))
    if dialect in _STANDARD:
        return statement
    import sqlglot  # noqa: PLC0415 - slow to import and needed only for other dialects

    return sqlglot.transpile(statement, read="postgres", write=dialect)[0]


def _clauses(query: SelectQuery) -> list[str]:
    if query.unique_key:
        return _clauses_without_repeats(query)
    ordering = query.ordering
    tests = [_where_clause(query)] if query.conditions or query.absences else []
    if ordering and ordering.only_extreme:
        column, wanted = _numeric_expression(ordering.term, query), "MAX" if ordering.descending else "MIN"
        inner = " ".join(
            ["SELECT", f"{wanted}({column})", "FROM", _from_clause(query), *(f"WHERE {test}" for test in tests)]
        )
        tests = [*([f"({tests[0]})"] if query.either and tests else tests), f"{column} = ({inner})"]
    clauses = [
        "SELECT DISTINCT" if _needs_distinct(query) else "SELECT",
        _select_list(query),
        "FROM",
        _from_clause(query),
    ]
    if tests:
        clauses.append(f"WHERE {' AND '.join(tests)}")
    if query.groups:
        clauses.append(f"GROUP BY {', '.join(_group_columns(term, query) for term in query.groups)}")
    if query.having:
        clauses.append(f"HAVING {' AND '.join(_having(each, query) for each in query.having)}")
    if ordering and not ordering.only_extreme:
        orders = [ordering, query.then_by] if query.then_by else [ordering]
        terms = [f"{_numeric_expression(each.term, query)}{' DESC' if each.descending else ''}" for each in orders]
        clauses.append(f"ORDER BY {', '.join([*terms, *(_tie_breakers(query) if ordering.limit else [])])}")
        clauses.extend([f"LIMIT {ordering.limit}"] if ordering.limit else [])
    return clauses


def _tie_breakers(query: SelectQuery) -> list[str]:
    """Order equal rows by their columns, so that LIMIT returns the same rows every time."""
    ordering = query.ordering
    plain = [term for term in query.shown if not term.aggregate and not (ordering and ordering.term.is_among((term,)))]
    return [_column(term.table, column, query) for term in plain for column in term.columns]


def _clauses_without_repeats(query: SelectQuery) -> list[str]:
    """Aggregate each row once, even if the joins repeat it: select the rows by their key in a subquery."""
    term = query.shown[0]
    alone = replace(query, joins=(), table=term.table, unique_key="", conditions=(), absences=(), ordering=None)
    key = replace(term, columns=(query.unique_key,), aggregate=None, stored_as_text=False)
    # If an aggregate chooses the rows, it must be computed for each of them.
    counted = query.ordering is not None and query.ordering.term.aggregate is not None
    groups = query.groups or ((key,) if counted else ())
    inner = " ".join(_clauses(replace(query, shown=(key,), groups=groups, unique_key="")))
    return [*_clauses(alone), f"WHERE {_quote_name(query.unique_key)} IN ({inner})"]


def _needs_distinct(query: SelectQuery) -> bool:
    """Whether the SELECT could return duplicate rows."""
    if query.groups or any(term.aggregate for term in query.shown):
        return False
    if not query.joins and any(term.key for term in query.shown):
        return False
    ordered = query.ordering
    if ordered is None or ordered.only_extreme:
        return True
    return ordered.term in query.shown and not ordered.term.stored_as_text and query.then_by is None


def _select_list(query: SelectQuery) -> str:
    return ", ".join(dict.fromkeys(_expression(term, query) for term in query.shown))


def _group_columns(term: Term, query: SelectQuery) -> str:
    keys = [_column(term.table, term.key, query)] if term.key and term.key not in term.columns else []
    return ", ".join([*keys, _expression(term, query)])


def _expression(term: Term, query: SelectQuery) -> str:
    if not term.columns:
        return "COUNT(*)"
    columns = ", ".join(_column(term.table, each, query) for each in term.columns)
    if term.aggregate is None:
        return columns
    first = _numeric_expression(replace(term, aggregate=None), query)
    return f"{term.aggregate.value}({'DISTINCT ' if term.distinct else ''}{first})"


def _numeric_expression(term: Term, query: SelectQuery) -> str:
    """Render a term so that it can be compared and summed as a number."""
    if term.aggregate or not term.columns:
        return _expression(term, query)
    column = _column(term.table, term.columns[0], query)
    return f"CAST({column} AS REAL)" if term.stored_as_text else column


def _from_clause(query: SelectQuery) -> str:
    joined = [
        f"JOIN {_quote_name(join.other.table)} ON {_qualified(join.one)} = {_qualified(join.other)}"
        for join in query.joins
    ]
    return " ".join([_quote_name(query.table), *joined])


def _where_clause(query: SelectQuery) -> str:
    conditions = [_condition(each, query) for each in query.conditions]
    either = [" OR ".join(conditions)] if query.either else conditions
    return " AND ".join([*either, *(_absence(each) for each in query.absences)])


def _condition(condition: Condition, query: SelectQuery) -> str:
    column = _column(condition.column_ref.table, condition.column_ref.column, query)
    if condition.stored_as_text:
        column = f"CAST({column} AS REAL)"
    if condition.span:
        return _date_condition(condition, column)
    if condition.literal:
        return f"{column} {condition.operator} {condition.literal}"
    if condition.numbers:
        return f"{column} {_comparison(condition.operator, condition.numbers)}"
    if "LIKE" in condition.operator:
        tests = [f"LOWER({column}) {condition.operator} {_quote_text(text.lower())}" for text in condition.texts]
        return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"
    if len(condition.texts) == 1:
        return f"{column} {condition.operator} {_quote_text(condition.texts[0])}"
    operator, texts = "IN" if condition.operator == "=" else "NOT IN", ", ".join(map(_quote_text, condition.texts))
    return f"{column} {operator} ({texts})"


def _date_condition(condition: Condition, column: str) -> str:
    span = condition.span
    assert span is not None
    since, until = (
        (span.since.year, span.until.year)
        if condition.years
        else (_quote_text(str(span.since)), _quote_text(str(span.until)))
    )
    match condition.operator:
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


def _having(having: Having, query: SelectQuery) -> str:
    return f"{_expression(having.term, query)} {_comparison(having.operator, having.numbers)}"


def _comparison(operator: str, numbers: tuple[float, ...]) -> str:
    return f"{operator} {' AND '.join(_format_number(each) for each in numbers)}"


def _absence(absence: Absence) -> str:
    join = absence.join
    inner = f"{_qualified(join.other)} = {_qualified(join.one)}"
    return f"NOT EXISTS (SELECT 1 FROM {_quote_name(join.other.table)} WHERE {inner})"  # noqa: S608 - names are quoted


def _column(table: str, column: str, query: SelectQuery) -> str:
    return _qualified(ColumnRef(table, column)) if query.joins else _quote_name(column)


def _qualified(column_ref: ColumnRef) -> str:
    return f"{_quote_name(column_ref.table)}.{_quote_name(column_ref.column)}"


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _format_number(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else repr(number)
