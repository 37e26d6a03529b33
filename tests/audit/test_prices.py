import pytest

from marchwarden.audit.prices import Prices
from marchwarden.core.notebook import Usage
from marchwarden.errors import InvalidInput


def test_a_listed_model_has_a_price_and_an_unknown_one_has_none(tmp_path):
    prices = Prices.load(tmp_path / "none.toml")
    assert prices.dollars("anthropic:claude-sonnet-4-6", Usage(1_000_000, 1_000_000)) == 18.0
    assert prices.dollars("extractive-v2", Usage(5000)) == 0.0
    assert prices.dollars("openai:somebody-else", Usage(5000)) is None


def test_cached_tokens_have_their_own_price(tmp_path):
    prices = Prices.load(tmp_path / "none.toml")
    usage = Usage(input=0, output=0, cache_read=1_000_000, cache_write=1_000_000)
    assert prices.dollars("anthropic:claude-sonnet-4-6", usage) == pytest.approx(0.3 + 3.75)


def test_user_entries_and_longer_matches_take_precedence(tmp_path):
    own = tmp_path / "prices.toml"
    own.write_text('["local*"]\ninput = 1\noutput = 1\n["local-7b"]\ninput = 2\noutput = 2\n')
    prices = Prices.load(own)
    assert prices.dollars("openai:local-7b", Usage(1_000_000)) == 2.0
    assert prices.dollars("openai:local-9b", Usage(1_000_000)) == 1.0


@pytest.mark.parametrize("text", ["[", '["m"]\ninput = "much"\noutput = 1\n', '["m"]\ninput = 1\n'])
def test_an_invalid_table_is_rejected_with_its_path(tmp_path, text):
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(InvalidInput, match=r"prices\.toml"):
        Prices.load(own)
