"""Compare the bound with the counts of real tokenizers (Claude 2, cl100k and o200k)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.minds.llm.estimate import tokens_at_least, tokens_at_most

COUNTED = [
    (
        (
            "The Alder Bridge was opened in 1931 by the engineer Maud Ferris, who had designed it for the county "
            "after the flood of 1926 carried the old wooden crossing away."
        ),
        39,
    ),
    (
        (
            "Die Donaudampfschifffahrtsgesellschaft beschloss 1923 trotz erheblicher Vermögensverluste "
            "die Überprüfung sämtlicher Brückenbauwerke."
        ),
        46,
    ),
    ("该桥于一九二三年开通，由市长主持仪式，许多市民参加了庆典活动。", 37),
    ("Мост был открыт в 1923 году мэром города в присутствии многочисленных зрителей.", 39),
    ("افتتح الجسر في عام 1923 بحضور رئيس البلدية وعدد كبير من المتفرجين.", 55),
    (
        (
            "def left(self) -> Allowance:\n"
            "    return Allowance(tokens=max(self.limits.token_budget - self.tokens_used, 0), sources=2)\n"
        ),
        39,
    ),
    ('{"findings":[{"evidence":"p3.s2","relevance":0.95,"aspect":1,"stance":"supports"}],"satisfied":false}', 34),
    (
        (
            "2-(4-isobutylphenyl)propanoic acid, tetrahydrocannabinol, "
            "methylenedioxymethamphetamine and N-acetyl-p-aminophenol"
        ),
        42,
    ),
    ("qzxv jkwqp vbxzt mfgkq wpxzj hgqkv zzxqj bnmvx qwzkj xvbqz", 34),
    ("3141592653 5897932384 6264338327 9502884197 1693993751", 24),
    ("THE BRIDGE WAS OPENED BY THE MAYOR OF ALDERTOWN IN THE PRESENCE OF NUMEROUS SPECTATORS", 27),
    ("!?#$%^&*()_+-={}[]|:;<>,./~` -- == ++ << >> && || ## @@", 27),
    ("🎉🚀 wow 😀👍🏽 great 🌉🌁", 21),
]


@pytest.mark.parametrize("text, counted", COUNTED)
def test_bound_is_at_least_the_highest_tokenizer_count(text: str, counted: int) -> None:
    assert tokens_at_most(text) >= counted


def test_english_prose_is_overestimated_at_most_twofold() -> None:
    prose, counted = COUNTED[0]
    assert tokens_at_most(prose * 20) <= 2 * counted * 20


@given(st.text(max_size=500))
def test_bound_is_between_zero_and_the_number_of_bytes(text: str) -> None:
    assert 0 <= tokens_at_most(text) <= len(text.encode("utf-8", "surrogatepass"))


@given(st.text(max_size=200), st.text(max_size=200))
def test_bound_never_shrinks_with_more_text(one: str, other: str) -> None:
    assert tokens_at_most(one + " " + other) >= tokens_at_most(one)


@pytest.mark.parametrize("text, counted", COUNTED)
def test_lower_bound_is_at_most_the_highest_tokenizer_count(text: str, counted: int) -> None:
    assert tokens_at_least(text) <= counted


def test_english_prose_is_underestimated_at_most_by_half() -> None:
    prose, counted = COUNTED[0]
    assert tokens_at_least(prose) >= 0.5 * counted


@given(st.text(max_size=500))
def test_lower_bound_is_not_above_the_upper_bound(text: str) -> None:
    assert 0 <= tokens_at_least(text) <= tokens_at_most(text)
