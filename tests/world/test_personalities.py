"""Every personality behaves as named with any form."""

import json
from typing import Any

import pytest

from tests.world.model_client import (
    INJECTION,
    PROMPT,
    SCHEMA,
    SENTENCES,
    SERVICES,
    SYSTEM,
    Claim,
    Query,
    SampleForm,
    answer_text,
    bill_of,
    call_model,
    filled_form,
    stop_reason,
)
from tests.world.model_options import ModelOptions
from tests.world.model_services import KEYS
from tests.world.personalities import INVENTED, INVENTED_IDS, NONSENSE, REPEATED
from tests.world.world import World


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("personality", ["competent", "lazy", "hostile", "obedient", "repeating", "nonsensical"])
def test_every_answering_personality_fills_in_the_form(world: World, personality: str, service: str) -> None:
    assert filled_form(world, personality, service).queries


def test_competent_cites_and_repeats_the_best_sentences(world: World) -> None:
    form = filled_form(world, "competent")
    assert [each.evidence for each in form.findings] == ["p1.s1", "p2.s2"]
    assert form.findings[0].stance == "supports" and form.satisfied
    assert form.claims[0] == Claim(text=SENTENCES["p1.s1"], evidence=["p1.s1"])
    assert SENTENCES["p2.s2"] in form.claims[1].text and form.claims[1].evidence == ["p2.s2"]
    assert form.queries[0].text == "Alder Bridge opened"


def test_lazy_fills_in_only_required_fields(world: World) -> None:
    empty_query = Query(text="", aspect=0)
    assert filled_form(world, "lazy") == SampleForm(
        queries=[empty_query], findings=[], claims=[], gaps=[], note="", satisfied=False
    )


def test_hostile_invents_evidence_and_leaks_secrets(world: World) -> None:
    claims = filled_form(world, "hostile").claims
    texts = [claim.text for claim in claims]
    pointed = {each for claim in claims for each in claim.evidence}
    assert set(INVENTED) < set(texts)
    assert any(SYSTEM in text for text in texts) and any(KEYS["anthropic"] in text for text in texts)
    assert set(INVENTED_IDS) <= pointed and set(SENTENCES) <= pointed
    assert "The Alder Bridge was opened on 77 May 7777 by Maud Ferris. Quux said so." in texts


def test_obedient_follows_injected_instructions(world: World) -> None:
    form = filled_form(world, "obedient")
    assert [each.text for each in form.queries] == [INJECTION]
    assert form.claims == [Claim(text=INJECTION, evidence=["p2.s1"])]


def test_repeating_repeats_and_nonsensical_is_nonsense(world: World) -> None:
    claims = filled_form(world, "repeating").claims
    assert len(claims) == REPEATED and all(claim == claims[0] for claim in claims)
    assert {claim.text for claim in filled_form(world, "nonsensical").claims} == {NONSENSE}


@pytest.mark.parametrize("service", SERVICES)
def test_rambling_stops_at_the_token_limit_with_invalid_json(world: World, service: str) -> None:
    response = call_model(world, service, ModelOptions("rambling"), limit=900)
    assert bill_of(response).output == 900 and stop_reason(response) in ("max_tokens", "length")
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer_text(response))


def test_refusing_uses_the_refusal_format_of_each_service(world: World) -> None:
    claude, other = (call_model(world, service, ModelOptions("refusing")) for service in SERVICES)
    assert stop_reason(claude) == "refusal"
    message: Any = other.json()["choices"]
    assert (message[0]["message"]["content"], bool(message[0]["message"]["refusal"])) == (None, True)


def test_schema_in_the_prompt_is_found_and_chatty_wraps_its_json(world: World) -> None:
    prompt = f"{PROMPT}\n\nAnswer in JSON, {{like}} this schema: {json.dumps(SCHEMA)}"
    text = answer_text(call_model(world, "openai", ModelOptions("chatty"), schema=None, prompt=prompt))
    assert text.startswith("Sure!") and "```json\n{" in text
    plain = answer_text(call_model(world, "openai", schema=None, prompt=prompt))
    assert SampleForm.model_validate_json(plain) == filled_form(world, "competent", "openai")
