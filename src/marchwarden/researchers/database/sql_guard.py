"""First layer of protection: parse a statement and allow only a single SELECT over known tables. It may use only the
constructs and functions of `allowed_sql`.

Does not access the database. The other layers do not rely on this one.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from marchwarden.researchers.database.allowed_sql import CONSTRUCTS, FUNCTIONS, OTHER_FUNCTIONS
from marchwarden.researchers.database.jobs import QueryRefused, Reason

MAX_STATEMENT_LENGTH: Final = 20_000
# Prefixes that engines reserve. A subquery with such a name could hide access to a system table.
_RESERVED: Final = ("pg_", "sqlite_", "pragma_", "duckdb_", "information_schema")


@dataclass(frozen=True)
class _SqlRules:
    dialect: str
    relations: Collection[str]
    local_names: frozenset[str]

    def check(self, node: exp.Expr) -> None:
        """Raise `QueryRefused` if one node of a statement is not allowed."""
        match node:
            case exp.Anonymous():
                if node.name.casefold() not in FUNCTIONS.get(self.dialect, OTHER_FUNCTIONS):
                    raise QueryRefused(f"the function {node.name} is not allowed")
            case exp.Table() if isinstance(node.this, exp.Identifier):
                self._check_table(node)
            case exp.DataType() if node.this is exp.DType.USERDEFINED:
                raise QueryRefused("casts to user-defined types are not allowed")
        if not isinstance(node, exp.Anonymous) and type(node).__name__.casefold() not in CONSTRUCTS:
            raise QueryRefused(f"the SQL construct {type(node).__name__} is not allowed")

    def _check_table(self, table: exp.Table) -> None:
        if table.catalog:
            raise QueryRefused(f"tables of another database are not allowed: {table.catalog}")
        name = f"{table.db}.{table.name}" if table.db else table.name
        known = name.casefold() in self.relations or (not table.db and table.name.casefold() in self.local_names)
        if not known:
            raise QueryRefused(f"no such table: {name}", Reason.MALFORMED)


def check_sql(sql: str, dialect: str, relations: Collection[str]) -> str:
    """Return the statement without comments, or raise `QueryRefused` if it is not allowed.

    `relations` are the tables and views that may be read, case folded, each as `name` and as `schema.name`.
    """
    if len(sql) > MAX_STATEMENT_LENGTH:
        raise QueryRefused(f"the statement is too long ({len(sql)} characters)")
    try:
        parser_dialect = Dialect.get_or_raise(dialect)
        tokens = _single_statement(parser_dialect.tokenize(sql))
        parsed = parser_dialect.parser().parse(_tokens_for_parser(tokens), sql)
    except SqlglotError as error:
        raise QueryRefused("the statement is not valid SQL", Reason.MALFORMED) from error
    except RecursionError as error:
        raise QueryRefused("the statement is nested too deeply") from error
    _check_tree(parsed, dialect, relations)
    return _without_comments(tokens, sql)


def _check_tree(parsed: Sequence[exp.Expr | None], dialect: str, relations: Collection[str]) -> None:
    tree = parsed[0] if len(parsed) == 1 else None
    if tree is None:
        raise QueryRefused("expected exactly one statement", Reason.MALFORMED)
    if not isinstance(tree, exp.Query | exp.Values):
        raise QueryRefused("only SELECT statements are allowed")
    rules = _SqlRules(dialect, relations, frozenset(_cte_names(tree)))
    for node in tree.walk():
        rules.check(node)


def _cte_names(tree: exp.Expr) -> Iterator[str]:
    """Yield the names of common table expressions."""
    for cte in tree.find_all(exp.CTE):
        name = cte.alias.casefold()
        if name.startswith(_RESERVED):
            raise QueryRefused(f"the name {cte.alias} is reserved by the engine")
        yield name


def _single_statement(tokens: Sequence[Token]) -> list[Token]:
    remaining = list(tokens)
    while remaining and remaining[-1].token_type is TokenType.SEMICOLON:
        remaining.pop()
    if not remaining:
        raise QueryRefused("the statement is empty", Reason.MALFORMED)
    if any(token.token_type is TokenType.SEMICOLON for token in remaining):
        raise QueryRefused("only one statement is allowed")
    return remaining


def _tokens_for_parser(tokens: Sequence[Token]) -> list[Token]:
    """Replace `%` by the equally harmless `/`, because the parser reads `LIMIT 7 % 2` as a percentage."""
    return [_as_slash(token) if token.token_type is TokenType.MOD else token for token in tokens]


def _as_slash(token: Token) -> Token:
    return Token(TokenType.SLASH, "/", token.line, token.col, token.start, token.end)


def _without_comments(tokens: Sequence[Token], sql: str) -> str:
    """Join the tokens that the parser saw. An engine that executes some comments never sees them."""
    pieces = []
    end = tokens[0].start
    for token in tokens:
        if token.start > end:
            pieces.append(" ")
        pieces.append(sql[token.start : token.end + 1])
        end = token.end + 1
    return "".join(pieces)
