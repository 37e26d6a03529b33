"""Every personality is what its name says, whatever form it is given."""

import json
from typing import Any

import pytest

from tests.world.model_asking import (
    ORDER,
    PROMPT,
    SCHEMA,
    SENTENCES,
    SERVICES,
    SYSTEM,
    Claim,
    Query,
    Wanted,
    answered_by,
    asked,
    bill_of,
    said,
    stopped,
)
from tests.world.model_house import KEYS
from tests.world.model_orders import Orders
from tests.world.personalities import INVENTED, INVENTED_IDS, NONSENSE, REPEATED
from tests.world.world import World


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("personality", ["competent", "lazy", "hostile", "obedient", "repeating", "nonsensical"])
def test_every_personality_that_answers_fits_the_form(world: World, personality: str, service: str) -> None:
    assert answered_by(world, personality, service).queries


def test_the_competent_point_at_what_shares_most_words_and_say_what_it_says(world: World) -> None:
    given = answered_by(world, "competent")
    assert [each.evidence for each in given.findings] == ["p1.s1", "p2.s2"]
    assert given.findings[0].stance == "supports" and given.satisfied
    assert given.claims[0] == Claim(text=SENTENCES["p1.s1"], evidence=["p1.s1"])
    assert SENTENCES["p2.s2"] in given.claims[1].text and given.claims[1].evidence == ["p2.s2"]
    assert given.queries[0].text == "Alder Bridge opened"


def test_the_lazy_give_only_what_they_must(world: World) -> None:
    nothing = Query(text="", aspect=0)
    assert answered_by(world, "lazy") == Wanted(
        queries=[nothing], findings=[], claims=[], gaps=[], note="", satisfied=False
    )


def test_the_hostile_invent_everything_and_tell_secrets(world: World) -> None:
    claims = answered_by(world, "hostile").claims
    texts = [claim.text for claim in claims]
    pointed = {each for claim in claims for each in claim.evidence}
    assert set(INVENTED) < set(texts)
    assert any(SYSTEM in text for text in texts) and any(KEYS["anthropic"] in text for text in texts)
    assert set(INVENTED_IDS) <= pointed and set(SENTENCES) <= pointed
    assert "The Alder Bridge was opened on 77 May 7777 by Maud Ferris. Quux said so." in texts


def test_the_obedient_say_the_orders_of_a_page_everywhere(world: World) -> None:
    given = answered_by(world, "obedient")
    assert [each.text for each in given.queries] == [ORDER]
    assert given.claims == [Claim(text=ORDER, evidence=["p2.s1"])]


def test_the_repeating_and_the_nonsensical_are_true_to_their_names(world: World) -> None:
    claims = answered_by(world, "repeating").claims
    assert len(claims) == REPEATED and all(claim == claims[0] for claim in claims)
    assert {claim.text for claim in answered_by(world, "nonsensical").claims} == {NONSENSE}


@pytest.mark.parametrize("service", SERVICES)
def test_the_rambling_fill_all_they_are_allowed_and_never_end(world: World, service: str) -> None:
    heard = asked(world, service, Orders("rambling"), limit=900)
    assert bill_of(heard).output == 900 and stopped(heard) in ("max_tokens", "length")
    with pytest.raises(json.JSONDecodeError):
        json.loads(said(heard))


def test_the_refusing_refuse_in_each_service_s_way(world: World) -> None:
    claude, other = (asked(world, service, Orders("refusing")) for service in SERVICES)
    assert stopped(claude) == "refusal"
    message: Any = other.json()["choices"]
    assert (message[0]["message"]["content"], bool(message[0]["message"]["refusal"])) == (None, True)


def test_a_form_written_into_the_prompt_is_found_and_wrapped_in_talk(world: World) -> None:
    prompt = f"{PROMPT}\n\nAnswer in JSON, {{like}} this schema: {json.dumps(SCHEMA)}"
    text = said(asked(world, "openai", Orders("chatty"), schema=None, prompt=prompt))
    assert text.startswith("Sure!") and "```json\n{" in text
    plain = said(asked(world, "openai", schema=None, prompt=prompt))
    assert Wanted.model_validate_json(plain) == answered_by(world, "competent", "openai")
