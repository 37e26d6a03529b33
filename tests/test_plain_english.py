"""The wording of code, help and documentation: words and phrases that a new reader would stumble over."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from marchwarden.cli.main import marchwarden

ROOT = Path(__file__).parent.parent
MOST_PER_1000_WORDS = 0.5
UNCLEAR = re.compile(
    r"\b(?:whoever|whomever|whom|told|errands?|quarrel\w*|beside|somebody|nobody|anybody|anew|amiss|purse|teller"
    r"|gone on with|goes? on with|going on with|held against|what was|those who|of ours|landed|lands"
    r"|taken up|take up|stands? in for|wants? mending|mends?|mended|bethink\w*|hearken\w*)\b",
    re.IGNORECASE,
)
REPLACED = (
    "the extractive mind serves",
    "steps so far",
    "have a person look",
    "mostly grounded",
    "landed without evidence",
    "a link to nothing",
    "What was read does not answer this question",
    "at best it comes near",
    "for a person to settle",
    "accepts no connection",
    "The runs there are",
    "A run step by step, again",
    "Who can be asked, and how they are",
    "what the archive keeps for no run",
    "Work for the fleet until stopped",
    "How long to go on",
    "What is known already",
    "begun or found",
    "that is done anew",
    "needs more than is installed",
    "is no suite",
    "take the # away",
    "which is there already",
    "Too much is told, not suffered",
    "Researchers of other people",
    "One person needs nothing of this page",
    "Nobody ticked",
    "A folder or file a line",
    "sites, mind, what is known",
    "It is not looked for again",
    "runs a PI had others make",
    "asked of pi",
    "Sources disagree about",
    "Another polarity",
    "cited otherwise",
    "It was cut short after",
    "does not fit its text and the line before",
    "Course of the run",
    "with every socket closed",
    "At most so many",
    "Who decides",
    "Is everything there and well",
    "What to tell an MCP host",
    "held against today",
)


def python_prose(path: Path) -> str:
    """Return the docstrings, comments and sentences in string literals of a module."""
    source = path.read_text(encoding="utf-8")
    literals = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    sentences = [each for each in literals if isinstance(each, str) and each.count(" ") > 2]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join([*sentences, *comments])


def help_texts(command: click.Command, name: str = "marchwarden", parent: click.Context | None = None) -> Iterator[str]:
    # With the settings of the command, because it remembers its help option for all later contexts.
    context = click.Context(command, parent, name, **command.context_settings)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from help_texts(found, each, context)


@cache
def texts() -> dict[str, str]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    static = [path for path in (ROOT / "src").rglob("*") if path.suffix in {".js", ".css", ".toml"}]
    return {
        "src": "\n".join(python_prose(path) for path in sorted((ROOT / "src").rglob("*.py"))),
        "static": "\n".join(path.read_text(encoding="utf-8") for path in sorted(static)),
        "docs": "\n".join(path.read_text(encoding="utf-8") for path in pages),
        "help": "\n".join(help_texts(marchwarden)),
        "snapshots": "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("snapshots/*")),
    }


@pytest.mark.parametrize("place", ["src", "static", "docs", "help", "snapshots"])
def test_texts_use_plain_words(place: str):
    text = texts()[place]
    found = UNCLEAR.findall(text)
    rate = 1000 * len(found) / len(re.findall(r"\w+", text))
    assert rate <= MOST_PER_1000_WORDS, sorted(found)


@pytest.mark.parametrize("place", ["src", "static", "docs", "help", "snapshots"])
def test_replaced_phrases_do_not_return(place: str):
    text = " ".join(texts()[place].split()).casefold()
    assert [phrase for phrase in REPLACED if phrase.casefold() in text] == []
