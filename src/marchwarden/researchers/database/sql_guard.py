"""The first wall: a statement is parsed, and is let through only if it is one SELECT over known tables, made of nothing
but what the vocabulary lists. Knows no database: the other walls do not rely on this one.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from marchwarden.researchers.database.allowed_sql import CONSTRUCTS, FUNCTIONS, OTHER_FUNCTIONS
from marchwarden.researchers.database.jobs import Reason, Refused

LONGEST_STATEMENT: Final = 20_000
# What an engine keeps for itself: a name of ours that looks like it could stand for the real thing elsewhere.
_RESERVED: Final = ("pg_", "sqlite_", "pragma_", "duckdb_", "information_schema")


@dataclass(frozen=True)
class _Wall:
    dialect: str
    relations: Collection[str]
    own: frozenset[str]

    def refuse(self, node: exp.Expr) -> None:
        """Raise what is wrong with one part of a statement, if anything is."""
        match node:
            case exp.Anonymous():
                if node.name.casefold() not in FUNCTIONS.get(self.dialect, OTHER_FUNCTIONS):
                    raise Refused(f"the function {node.name} is not on the list of harmless ones")
            case exp.Table() if isinstance(node.this, exp.Identifier):
                self._refuse_table(node)
            case exp.DataType() if node.this is exp.DType.USERDEFINED:
                raise Refused("a cast to a type of the database's own is not let through")
        if not isinstance(node, exp.Anonymous) and type(node).__name__.casefold() not in CONSTRUCTS:
            raise Refused(f"{type(node).__name__} is not on the list of harmless constructs")

    def _refuse_table(self, table: exp.Table) -> None:
        if table.catalog:
            raise Refused(f"{table.catalog} is another database")
        name = f"{table.db}.{table.name}" if table.db else table.name
        known = name.casefold() in self.relations or (not table.db and table.name.casefold() in self.own)
        if not known:
            raise Refused(f"there is no table {name}", Reason.MALFORMED)


def checked(sql: str, dialect: str, relations: Collection[str]) -> str:
    """The statement as it may be run: its tokens as they were written, without comments. Raises `Refused`.

    `relations` are the tables and views that may be read, case folded, each as `name` and as `schema.name`.
    """
    if len(sql) > LONGEST_STATEMENT:
        raise Refused(f"a statement of {len(sql)} characters is too long")
    try:
        speaking = Dialect.get_or_raise(dialect)
        tokens = _one_statement(speaking.tokenize(sql))
        parsed = speaking.parser().parse(_as_parsed(tokens), sql)
    except SqlglotError as error:
        raise Refused("it is not SQL that can be understood", Reason.MALFORMED) from error
    except RecursionError as error:
        raise Refused("it is nested too deeply") from error
    _refuse_tree(parsed, dialect, relations)
    return _as_written(tokens, sql)


def _refuse_tree(parsed: Sequence[exp.Expr | None], dialect: str, relations: Collection[str]) -> None:
    tree = parsed[0] if len(parsed) == 1 else None
    if tree is None:
        raise Refused("it is not exactly one statement", Reason.MALFORMED)
    if not isinstance(tree, exp.Query | exp.Values):
        raise Refused("only a SELECT is run")
    wall = _Wall(dialect, relations, frozenset(_names_given(tree)))
    for node in tree.walk():
        wall.refuse(node)


def _names_given(tree: exp.Expr) -> Iterator[str]:
    """The names a statement gives to its own subqueries."""
    for given in tree.find_all(exp.CTE):
        name = given.alias.casefold()
        if name.startswith(_RESERVED):
            raise Refused(f"{given.alias} is a name the engine keeps for itself")
        yield name


def _one_statement(tokens: Sequence[Token]) -> list[Token]:
    kept = list(tokens)
    while kept and kept[-1].token_type is TokenType.SEMICOLON:
        kept.pop()
    if not kept:
        raise Refused("there is no statement", Reason.MALFORMED)
    if any(token.token_type is TokenType.SEMICOLON for token in kept):
        raise Refused("it is more than one statement")
    return kept


def _as_parsed(tokens: Sequence[Token]) -> list[Token]:
    """For the parser alone, `%` becomes `/`: as harmless, and it would take `LIMIT 7 % 2` for a percentage."""
    return [_divided(token) if token.token_type is TokenType.MOD else token for token in tokens]


def _divided(token: Token) -> Token:
    return Token(TokenType.SLASH, "/", token.line, token.col, token.start, token.end)


def _as_written(tokens: Sequence[Token], sql: str) -> str:
    """What the parser saw and nothing else: an engine that takes a comment for something more never gets to see it."""
    pieces = []
    end = tokens[0].start
    for token in tokens:
        if token.start > end:
            pieces.append(" ")
        pieces.append(sql[token.start : token.end + 1])
        end = token.end + 1
    return "".join(pieces)
