from pathlib import Path

import pytest

from marchwarden.errors import InvalidInput
from marchwarden.settings import Settings, parse_dotenv


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A=1", {"A": "1"}),
        ("export A = two words # why", {"A": "two words"}),
        ("A='one # two' # three", {"A": "one # two"}),
        ('A="x=y"', {"A": "x=y"}),
        ("A=", {"A": ""}),
        ("A=a#b", {"A": "a#b"}),
        ("# A=1", {}),
        ("no pair", {}),
        ("1A=2", {}),
    ],
)
def test_dotenv_lines_are_parsed_or_ignored(line, expected):
    assert parse_dotenv(f"\n{line}\n\n") == expected


def test_environment_takes_precedence_over_dotenv_and_defaults():
    settings = Settings.from_environ(
        {"MARCHWARDEN_HOME": "/h", "A": "1"}, "MARCHWARDEN_HOME=/other\nMARCHWARDEN_TRACE_DIR=/t"
    )
    assert (settings.trace_dir, settings.index_dir) == (Path("/t"), Path("/h/index"))
    assert Settings.from_environ({}).trace_dir == Path.home() / ".marchwarden" / "traces"


def test_only_known_variables_reach_a_child_and_keys_are_not_in_repr():
    settings = Settings.from_environ({"TAVILY_API_KEY": "tvly-secret", "OTHER": "x", "MARCHWARDEN_HOME": "/h"})
    assert settings.child_environ(Path("/t")) == {
        "TAVILY_API_KEY": "tvly-secret",
        "MARCHWARDEN_HOME": "/h",
        "MARCHWARDEN_TRACE_DIR": "/t",
    }
    assert "secret" not in repr(settings)


def test_secret_returns_the_variable_or_rejects_a_missing_one():
    settings = Settings.from_environ({"TOKEN": "t", "EMPTY": ""})
    assert settings.secret(None) is None
    assert settings.secret("TOKEN") == "t"
    for name in ("EMPTY", "MISSING"):
        with pytest.raises(InvalidInput, match=name):
            settings.secret(name)
