import pytest

from marchwarden.text.secrets import ConfiguredKeys, has_credentials

KEYS = ConfiguredKeys.from_environ({"TAVILY_API_KEY": " tvly-World-Key1 ", "PGPASSWORD": "pass+word/1"})

NAMES = (
    "apiKey",
    "api-key",
    "X-API-Key",
    "openai_api_key",
    "tavilyApiKey",
    "AccessKeyId",
    "secret_key",
    "client_secret",
    "access.token",
    "oauth_token",
    "refresh_token",
    "id_token",
    "session_token",
    "user-token",
    "sas_token",
    "jwt",
    "password",
    "passphrase",
    "Authorization",
    "bearer",
    "credential",
    "hmac",
    "X-Goog-Signature",
)


@pytest.mark.parametrize(
    "text",
    [
        "tvly-World-Key1",
        "https://senn.example/?k=TVLY-world-key1#x",
        "https://tvly-world-key1.senn.example/",
        "%74vly-World%2DKey1",
        "%2574vly-World%252DKey1",
        "tvly-\u200bWorld-\u00adKey1",
        "password: pass+word/1",
        "?p=pass%2Bword%2F1",
    ],
)
def test_a_configured_key_is_found_however_it_is_written(text: str) -> None:
    assert KEYS.found_in("nothing", text)


def test_other_text_contains_no_key() -> None:
    assert not KEYS.found_in("", "tvly-World-Key2", "100 % of the world")
    assert not ConfiguredKeys().found_in("tvly-World-Key1")
    assert "tvly" not in repr(KEYS)


def test_only_long_values_of_variables_that_hold_keys_count() -> None:
    environ = {"GIT_AUTHOR_NAME": "Ada Moorhouse", "OPENAI_API_KEY": "k", "SSH_AUTH_SOCK": "/tmp/agent.1", "TOKEN": ""}
    assert ConfiguredKeys.from_environ(environ) == ConfiguredKeys()


@pytest.mark.parametrize(
    "address",
    [
        "https://senn.example/a?api_key=x",
        "https://senn.example/a?b=1&apikey=x",
        "https://senn.example/a?b=1;Access-Token=x",
        "https://senn.example/a?%61pi_key=x",
        "https://senn.example/a?password=x",
        "https://senn.example/a?X-Amz-Signature=x&X-Amz-Date=1",
        "https://senn.example/a?sv=2024&sig=2c%2Bab12345678901234567%3D",
        "https://senn.example/a?token=a1b2c3d4-0000-4000-8000-123456789abc",
        "https://senn.example/a?key=AIzaSyD1234567890abcdefghij",
        "https://senn.example/a?url=https://dorn.example/b?api_key=x",
        "https://senn.example/a?url=https%3A%2F%2Fdorn.example%2Fb%3Fapi_key%3Dx",
        "https://ada@senn.example/",
        "https://ada:x@senn.example/",
        *(f"https://senn.example/a?b=1&{name}=x" for name in NAMES),
        "https://senn.example/a#access_token=x&state=1",
        "https://senn.example/a?token=abcd-efgh",
        "https://senn.example/a?key=SECRET1234",
        "https://senn.example/a;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9?b=1",
        "https://senn.example/a?code=4/0AX4XfWh1234567890abcdef",
        "https://senn.example/a?hub.signature=0123456789abcdef0123456789abcdef",
        "https://senn.example/a?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Expires=1",
        "https://senn.example/a?q=sk-ant-api03-abcdefgh-ijk",
        "https://senn.example/tvly-abcdefgh1234/a",
        "https://senn.example/a?x=%67hp_abcdefghij0123456789",
        "https://senn.example/a?t=eyJhbGciOiJI.eyJzdWIiOiIx.abc",
    ],
)
def test_credentials_in_an_address_are_recognized(address: str) -> None:
    assert has_credentials(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://senn.example/api_key=x",
        "https://senn.example/a?key=introduction-to-bridges-and-tunnels",
        "https://senn.example/a?token=2&signature=",
        "https://senn.example/a?monkey=0a1b2c3d4e5f60718293",
        "https://senn.example/a?id=0a1b2c3d4e5f60718293",
        "https://senn.example/a?api_key=",
        "https://senn.example/a?code=introduction&sid=2&session_id=14",
        "https://senn.example/risk-test-of-bridges/disk-live-report-2024",
        "https://senn.example/a?q=primary+key&keys=x&tokens=y&author=z&keyword=k&category=c",
        "https://senn.example/a#section-key-tokens",
        "https://[",
    ],
)
def test_ordinary_addresses_have_no_credentials(address: str) -> None:
    assert not has_credentials(address)
