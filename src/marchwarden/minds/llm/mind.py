"""LanguageMind: a mind that calls a language model. It shows sentences with ids and accepts ids and text.

It never spends more than its allowance: a request that does not fit is not sent. Does not access the network itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from marchwarden.core.budget import Allowance
from marchwarden.core.notebook import Claim, Draft, Notebook, Plan, Reading, Thought
from marchwarden.core.passages import Passage
from marchwarden.errors import MindError
from marchwarden.minds.llm.conversation import MIN_ANSWER_TOKENS, Conversation, ConversationLimits
from marchwarden.minds.llm.model import Model
from marchwarden.minds.llm.parse import (
    TextCleaner,
    parse_claims,
    parse_gaps,
    parse_match,
    parse_open_questions,
    parse_plan,
    parse_reading,
)
from marchwarden.minds.llm.prompt import (
    conclusion_content,
    load_prompt,
    plan_content,
    reading_content,
    rewording_content,
    select_evidence,
)
from marchwarden.minds.llm.schema import ConclusionShape, PlanShape, ReadingShape, RewordingShape, schema_of
from marchwarden.minds.llm.support import Support, gaps_for_withdrawn
from marchwarden.text.words import Stemmers

T = TypeVar("T")
Item = TypeVar("Item")

CONCLUSION_TOKENS: Final = 6_000
"""About 1,000 for instructions and schema, 2,500 for a dozen sentences with sources, the rest for answer and repair."""
MAX_PLAN_TOKENS: Final = 500
MAX_READING_TOKENS: Final = 1_000
MAX_CONCLUSION_TOKENS: Final = 1_600
WANTED_READING_TOKENS: Final = 500
WANTED_CONCLUSION_TOKENS: Final = 700
PLAN_TIME_SHARE: Final = 0.3
READING_TIME_SHARE: Final = 0.5


class LanguageMind:
    """Implements `Mind` with any `Model`. Keeps no state between calls."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._stemmers = Stemmers()
        self._prompts = {task: load_prompt(task) for task in ("plan", "read", "conclude", "reword")}
        shapes = (PlanShape, ReadingShape, ConclusionShape, RewordingShape)
        sent = [*(prompt.text for prompt in self._prompts.values()), *(str(schema_of(shape)) for shape in shapes)]
        self._cleaner = TextCleaner(*sent)

    @property
    def model_id(self) -> str:
        return self._model.model_id

    @property
    def conclusion_tokens(self) -> int:
        return CONCLUSION_TOKENS

    async def plan(self, notebook: Notebook, left: Allowance) -> Thought[Plan]:
        conversation = self._start_conversation(left, MAX_PLAN_TOKENS, PLAN_TIME_SHARE)
        shape = await conversation.ask(self._prompts["plan"], plan_content(notebook), PlanShape)
        return _build_thought(
            conversation, parse_plan(shape, notebook, self._cleaner, self._stemmers.for_text(notebook.question))
        )

    async def read(self, notebook: Notebook, passages: Sequence[Passage], left: Allowance) -> Thought[Reading]:
        """Read as many passages as fit, best first. Without passages the model is not called."""
        if not passages:
            return Thought(Reading())
        conversation = self._start_conversation(left, MAX_READING_TOKENS, READING_TIME_SHARE)
        prompt = self._prompts["read"]

        def fits(shown: Sequence[Passage], answer: int) -> bool:
            return conversation.fits(
                conversation.request(prompt, reading_content(notebook, shown), ReadingShape), answer
            )

        shown = _longest_fitting(passages, fits, WANTED_READING_TOKENS)
        shape = await conversation.ask(prompt, reading_content(notebook, shown), ReadingShape)
        reading = parse_reading(shape, notebook, shown, self._cleaner)
        return _build_thought(conversation, replace(reading, unread=tuple(each.id for each in passages[len(shown) :])))

    async def conclude(self, notebook: Notebook, left: Allowance) -> Thought[Draft]:
        """Draft claims from the best sentences found. Without evidence the model is not called."""
        conversation = self._start_conversation(left, MAX_CONCLUSION_TOKENS)
        evidence = select_evidence(notebook, self._stemmers.for_text(notebook.question))
        if not evidence:
            return Thought(Draft())
        prompt = self._prompts["conclude"]

        def fits(shown: Sequence[object], answer: int) -> bool:
            content = conclusion_content(notebook, evidence[: len(shown)])
            return conversation.fits(conversation.request(prompt, content, ConclusionShape), answer)

        shown = evidence[: len(_longest_fitting(evidence, fits, WANTED_CONCLUSION_TOKENS))]
        if len(shown) < len(evidence):
            conversation.unsent.append(f"{len(evidence) - len(shown)} of {len(evidence)} sentences found")
        shape = await conversation.ask(prompt, conclusion_content(notebook, shown), ConclusionShape)
        return _build_thought(
            conversation, await self._build_draft(shape, notebook, conversation, [each.sentence.id for each in shown])
        )

    async def _build_draft(
        self, shape: ConclusionShape, notebook: Notebook, conversation: Conversation, shown: Sequence[str]
    ) -> Draft:
        support = Support(notebook, self._stemmers.for_text(notebook.question))
        claims = [support.with_evidence(claim, shown) for claim in parse_claims(shape.claims, notebook, self._cleaner)]
        claims = await self._reword(claims, notebook, support, conversation)
        usable = [claim for claim in claims if support.is_usable(claim)]
        reported = support.conflicts(shape.conflicts, self._cleaner)
        cited = [evidence for claim in usable for evidence in claim.evidence]
        overlooked = support.find_overlooked([*cited, *shown], reported) if usable else ()
        return Draft(
            claims=tuple(usable),
            match=parse_match(shape) if usable else 0.0,
            conflicts=(*reported, *overlooked)[:3],
            gaps=(
                *parse_gaps(shape, self._cleaner),
                *gaps_for_withdrawn([each for each in claims if each not in usable], notebook),
            ),
            open_questions=parse_open_questions(shape, notebook, self._cleaner),
            left_undone=f"not enough tokens left for {' and '.join(conversation.unsent)}"
            if conversation.unsent
            else "",
        )

    async def _reword(
        self, claims: list[Claim], notebook: Notebook, support: Support, conversation: Conversation
    ) -> list[Claim]:
        """Send claims that say more than their evidence back once, if a repair is still available and fits."""
        objected = [
            (number, claim, objections)
            for number, claim in enumerate(claims, 1)
            if (objections := support.objections(claim))
        ]
        content = rewording_content(notebook, objected)
        prompt = self._prompts["reword"]
        if not objected or not conversation.may_repair:
            return claims
        if not conversation.fits(conversation.request(prompt, content, RewordingShape), MIN_ANSWER_TOKENS):
            conversation.unsent.append("a second look at the claims")
            return claims
        conversation.may_repair = False
        try:
            shape = await conversation.ask(prompt, content, RewordingShape)
        except MindError:
            # The conversation has charged the failed call; grounding drops claims that stay unsupported.
            return claims
        return self._replace_texts(claims, shape, [number for number, _, _ in objected])

    def _replace_texts(self, claims: Sequence[Claim], shape: RewordingShape, objected: Sequence[int]) -> list[Claim]:
        words = {each.claim: self._cleaner.clean(each.text) for each in shape.claims if each.claim in objected}
        reworded = [replace(claim, text=words.get(number, claim.text)) for number, claim in enumerate(claims, 1)]
        return [claim for claim in reworded if claim.text]

    def _start_conversation(self, left: Allowance, max_answer_tokens: int, share_of_time: float = 1.0) -> Conversation:
        return Conversation(
            self._model, ConversationLimits(left.tokens, left.seconds * share_of_time, max_answer_tokens, left.seconds)
        )


def _build_thought(conversation: Conversation, value: T) -> Thought[T]:
    usage = conversation.usage
    return Thought(value, usage.tokens, conversation.exchange(), usage)


def _longest_fitting(
    items: Sequence[Item], fits: Callable[[Sequence[Item], int], bool], answer_tokens: int
) -> Sequence[Item]:
    """Return the longest prefix that leaves room for a good answer, and at least one item in any case."""
    fewest, most = 1, len(items)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if fits(items[:middle], answer_tokens):
            fewest = middle
        else:
            most = middle - 1
    return items[:fewest]
