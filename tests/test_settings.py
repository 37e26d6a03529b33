from pathlib import Path

import pytest

from marchwarden.errors import InvalidInput
from marchwarden.settings import Settings, parsed_dotenv


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
def test_a_dotenv_line_is_understood_or_passed_over(line, expected):
    assert parsed_dotenv(f"\n{line}\n\n") == expected


def test_the_environment_wins_over_dotenv_and_both_over_the_defaults():
    settings = Settings.of({"MARCHWARDEN_HOME": "/h", "A": "1"}, "MARCHWARDEN_HOME=/other\nMARCHWARDEN_TRACE_DIR=/t")
    assert (settings.trace_dir, settings.index_dir) == (Path("/t"), Path("/h/index"))
    assert Settings.of({}).trace_dir == Path.home() / ".marchwarden" / "traces"


def test_keys_reach_a_child_and_nothing_else_does_and_no_key_is_ever_shown():
    settings = Settings.of({"TAVILY_API_KEY": "tvly-secret", "OTHER": "x", "MARCHWARDEN_HOME": "/h"})
    assert settings.for_child(Path("/t")) == {
        "TAVILY_API_KEY": "tvly-secret",
        "MARCHWARDEN_HOME": "/h",
        "MARCHWARDEN_TRACE_DIR": "/t",
    }
    assert "secret" not in repr(settings)


def test_a_secret_is_named_and_must_be_there():
    settings = Settings.of({"TOKEN": "t", "EMPTY": ""})
    assert settings.secret(None) is None
    assert settings.secret("TOKEN") == "t"
    for name in ("EMPTY", "MISSING"):
        with pytest.raises(InvalidInput, match=name):
            settings.secret(name)
