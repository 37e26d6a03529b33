import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.cli.environment import KEYS
from marchwarden.logs.redact import HIDDEN, Secrets

NAMES = [*(key.name for key in KEYS), "MY_TOKEN", "LIBRARY_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "npm_auth"]
SECRET = 's3"cr/et \\+%é&'


@pytest.mark.parametrize("name", NAMES)
def test_the_value_of_a_variable_that_holds_a_secret_is_hidden_however_it_is_written(name):
    secrets = Secrets({name: SECRET})
    for written in (SECRET, quote(SECRET, safe=""), quote(SECRET), quote_plus(SECRET), json.dumps(SECRET)[1:-1]):
        hidden = secrets.hidden(f"GET /?q=1&k={written}&x=2")
        assert written not in hidden
        assert hidden == f"GET /?q=1&k={HIDDEN}&x=2"


VALUES = st.text(st.characters(codec="utf-8"), min_size=6).map(str.strip).filter(lambda value: len(value) >= 6)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1), st.text())
def test_no_secret_survives_in_any_text(environ, around):
    hidden = Secrets(environ).hidden(around + around.join(environ.values()) + around)
    for value in environ.values():
        # What a secret and the mark for a hidden one have in common cannot be told from the mark.
        assert value not in hidden.replace(HIDDEN, "")


def test_a_key_of_ours_is_hidden_however_short_it_is():
    assert Secrets({"PGPASSWORD": "x"}).hidden("as x") == f"as {HIDDEN}"


def test_a_setting_that_only_sounds_secret_does_not_blot_out_the_log():
    assert Secrets({"KEYBOARD": "us", "TOKENS": "20000", "PGPASSWORD": " "}).hidden("us 20000") == "us 20000"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgresql://reader:hunter2@db/shop", "hunter2"),
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("[(b'authorization', b'Bearer abcdefgh')]", "abcdefgh"),
        ("x-api-key: abcdefgh", "abcdefgh"),
        ("https://host/?api_key=abcdefgh&x=1", "abcdefgh"),
        ("key sk-ant-api03-abcdefghijkl ends", "abcdefghijkl"),
        ("tvly-dev-abcdefghijkl", "abcdefghijkl"),
    ],
)
def test_what_looks_like_a_key_is_hidden_whoever_it_belongs_to(text, secret):
    assert secret not in Secrets({}).hidden(text)


def test_the_password_of_an_address_is_known_by_itself_afterwards():
    secrets = Secrets({"MARCHWARDEN_DB": "postgresql://reader:hunter2@db/shop"})
    assert secrets.hidden("role reader, password hunter2") == f"role reader, password {HIDDEN}"
