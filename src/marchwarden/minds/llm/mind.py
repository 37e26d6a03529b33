"""LanguageMind: a mind that asks a language model. It shows sentences with ids, and takes ids and words.

Spends no more than it is allowed, whatever the model does; what does not fit is not sent. Never fetches anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Claim, Draft, Notebook, Plan, Reading, Thought
from marchwarden.core.passages import Passage
from marchwarden.errors import MindError
from marchwarden.minds.llm.conversation import FEWEST_TOKENS, Conversation, Terms
from marchwarden.minds.llm.model import Model
from marchwarden.minds.llm.parse import Wording, claims_of, gaps_of, match_of, plan_of, questions_of, reading_of
from marchwarden.minds.llm.prompt import (
    for_conclusion,
    for_plan,
    for_reading,
    for_rewording,
    prompt_for,
    worth_concluding_from,
)
from marchwarden.minds.llm.schema import ConclusionShape, PlanShape, ReadingShape, RewordingShape, schema_of
from marchwarden.minds.llm.support import Support, withdrawn
from marchwarden.text.words import WordStemmer

T = TypeVar("T")
Item = TypeVar("Item")

CONCLUSION_TOKENS: Final = 6_000
"""Instructions and shape about 1 000, a dozen sentences with their sources 2 500, an answer and its repair the rest."""
LONGEST_PLAN: Final = 500
LONGEST_READING: Final = 1_000
LONGEST_CONCLUSION: Final = 1_600
WANTED_READING: Final = 500
WANTED_CONCLUSION: Final = 700
SHARE_OF_TIME_TO_PLAN: Final = 0.3
SHARE_OF_TIME_TO_READ: Final = 0.5


class LanguageMind:
    """Any `Model` behind the protocol of minds. Remembers nothing between calls."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._stems = WordStemmer()
        self._prompts = {task: prompt_for(task) for task in ("plan", "read", "conclude", "reword")}
        shapes = (PlanShape, ReadingShape, ConclusionShape, RewordingShape)
        told = [*(prompt.text for prompt in self._prompts.values()), *(str(schema_of(shape)) for shape in shapes)]
        self._wording = Wording(*told)

    @property
    def model_id(self) -> str:
        return self._model.model_id

    @property
    def conclusion_tokens(self) -> int:
        return CONCLUSION_TOKENS

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        talk = self._talk(left, LONGEST_PLAN, SHARE_OF_TIME_TO_PLAN)
        shape = await talk.ask(self._prompts["plan"], for_plan(notebook), PlanShape)
        return _thought(talk, plan_of(shape, notebook, self._wording, self._stems))

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        """Reads as many of the passages as fit, the best first. Nothing to read costs nothing."""
        if not passages:
            return Thought(Reading())
        talk = self._talk(left, LONGEST_READING, SHARE_OF_TIME_TO_READ)
        prompt = self._prompts["read"]

        def fits(shown: Sequence[Passage], answer: int) -> bool:
            return talk.fits(talk.request(prompt, for_reading(notebook, shown), ReadingShape), answer)

        shown = _as_many_as_fit(passages, fits, WANTED_READING)
        shape = await talk.ask(prompt, for_reading(notebook, shown), ReadingShape)
        reading = reading_of(shape, notebook, shown, self._wording)
        return _thought(talk, replace(reading, unread=tuple(each.id for each in passages[len(shown) :])))

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        """Claims from the best sentences found. With nothing read there is nothing to ask a model."""
        talk = self._talk(left, LONGEST_CONCLUSION)
        evidence = worth_concluding_from(notebook, self._stems)
        if not evidence:
            return Thought(Draft())
        prompt = self._prompts["conclude"]

        def fits(shown: Sequence[object], answer: int) -> bool:
            content = for_conclusion(notebook, evidence[: len(shown)])
            return talk.fits(talk.request(prompt, content, ConclusionShape), answer)

        shown = evidence[: len(_as_many_as_fit(evidence, fits, WANTED_CONCLUSION))]
        if len(shown) < len(evidence):
            talk.unsent.append(f"{len(evidence) - len(shown)} of {len(evidence)} sentences found")
        shape = await talk.ask(prompt, for_conclusion(notebook, shown), ConclusionShape)
        return _thought(talk, await self._draft(shape, notebook, talk, [each.sentence.id for each in shown]))

    async def _draft(
        self, shape: ConclusionShape, notebook: Notebook, talk: Conversation, shown: Sequence[str]
    ) -> Draft:
        support = Support(notebook, self._stems)
        claims = [support.pointed(claim, shown) for claim in claims_of(shape.claims, notebook, self._wording)]
        claims = await self._reworded(claims, notebook, support, talk)
        kept = [claim for claim in claims if support.usable(claim)]
        told = support.conflicts(shape.conflicts, self._wording)
        cited = [evidence for claim in kept for evidence in claim.evidence]
        overlooked = support.overlooked([*cited, *shown], told) if kept else ()
        return Draft(
            claims=tuple(kept),
            match=match_of(shape) if kept else 0.0,
            conflicts=(*told, *overlooked)[:3],
            gaps=(
                *gaps_of(shape, self._wording),
                *withdrawn([each for each in claims if each not in kept], notebook),
            ),
            open_questions=questions_of(shape, notebook, self._wording),
            left_undone=f"too few tokens were left to conclude with {' and '.join(talk.unsent)}" if talk.unsent else "",
        )

    async def _reworded(
        self, claims: list[Claim], notebook: Notebook, support: Support, talk: Conversation
    ) -> list[Claim]:
        """Claims that say more than their evidence go back once, if the repair is not used up and still fits."""
        objected = [
            (number, claim, objections)
            for number, claim in enumerate(claims, 1)
            if (objections := support.objections(claim))
        ]
        content = for_rewording(notebook, objected)
        prompt = self._prompts["reword"]
        if not objected or not talk.may_repair:
            return claims
        if not talk.fits(talk.request(prompt, content, RewordingShape), FEWEST_TOKENS):
            talk.unsent.append("a second look at its claims")
            return claims
        talk.may_repair = False
        try:
            shape = await talk.ask(prompt, content, RewordingShape)
        except MindError:
            # What it cost is booked with the rest; grounding drops what stays unsupported.
            return claims
        return self._replaced(claims, shape, [number for number, _, _ in objected])

    def _replaced(self, claims: Sequence[Claim], shape: RewordingShape, objected: Sequence[int]) -> list[Claim]:
        words = {each.claim: self._wording.plain(each.text) for each in shape.claims if each.claim in objected}
        reworded = [replace(claim, text=words.get(number, claim.text)) for number, claim in enumerate(claims, 1)]
        return [claim for claim in reworded if claim.text]

    def _talk(self, left: Allowance, longest_answer: int, share_of_time: float = 1.0) -> Conversation:
        return Conversation(self._model, Terms(left.tokens, left.seconds * share_of_time, longest_answer, left.seconds))


def _thought(talk: Conversation, value: T) -> Thought[T]:
    usage = talk.usage
    return Thought(value, usage.tokens, talk.exchange(), usage)


def _as_many_as_fit(
    items: Sequence[Item], fits: Callable[[Sequence[Item], int], bool], answer_tokens: int
) -> Sequence[Item]:
    """The longest beginning that leaves room for a good answer; at least one item, whatever room that leaves."""
    fewest, most = 1, len(items)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if fits(items[:middle], answer_tokens):
            fewest = middle
        else:
            most = middle - 1
    return items[:fewest]
