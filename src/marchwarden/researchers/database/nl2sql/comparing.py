"""The numbers, dates and patterns of a question: what they are compared with. Reads on where a draft stands."""

from typing import Final

from marchwarden.researchers.database.nl2sql.draft import Draft
from marchwarden.researchers.database.nl2sql.lexicon import Cue, Sign
from marchwarden.researchers.database.nl2sql.mentions import Dated, Noun, Number, Told, is_cue
from marchwarden.researchers.database.nl2sql.sketch import Test

_PAIR: Final = 2
_BEFORE_A_PATTERN: Final = frozenset({"the", "a", "letter", "letters", "word"})
_UNTIL: Final = ("to", "and", "through", "until")


def comparison(draft: Draft, told: Told) -> None:
    """Words like `from` and `over` compare only with a number or a date; `larger than Texas` is beyond us."""
    if any(isinstance(draft.beside(step), Number | Dated) for step in (1, 2, 3)):
        draft.pending.comparison = told.cue
    elif told.text.casefold().endswith("than"):
        draft.leave(told.text)
    else:
        draft.close()


def number(draft: Draft, said: Number) -> None:
    pending = draft.pending
    if pending.comparison:
        pending.numbers += (said.number,)
        if pending.comparison.sign is Sign.BETWEEN and len(pending.numbers) < _PAIR:
            return
        if not isinstance(draft.beside(1), Noun):
            compare(draft, draft.noun_before, counted=False)
    elif is_cue(draft.beside(-1), Sign.TOP) or is_cue(draft.beside(1), Sign.EXTREME, Sign.FREQUENT):
        pending.limit = int(said.number)
    elif isinstance(draft.beside(-1), Noun) and draft.noun_before is not None:
        draft.sketch.tests.append(Test(draft.noun_before, "=", (said.number,)))
    else:
        draft.leave(said.text)


def compare(draft: Draft, slot: int | None, *, counted: bool) -> None:
    """Compare what a slot stands for, or how many there are of it, with the numbers met."""
    cue, numbers = draft.pending.comparison, draft.pending.numbers
    assert cue is not None
    draft.pending.comparison, draft.pending.numbers = None, ()
    if cue.hint and slot is not None and not counted and not draft.nature.is_measure(draft.sketch.slots[slot]):
        slot = draft.implied(cue.hint, draft.sketch.slots[slot].text, slot)
    if slot is None or len(numbers) != (_PAIR if cue.sign is Sign.BETWEEN else 1):
        draft.leave(cue.text)
        return
    sign = "BETWEEN" if cue.sign is Sign.BETWEEN else cue.text
    draft.sketch.tests.append(Test(slot, sign, numbers, counted=counted))


def dated(draft: Draft, said: Dated) -> None:
    if _is_number(draft, said):
        number(draft, Number(said.text, float(said.text)))
        return
    cue, ending = draft.pending.comparison, _ends_a_span(draft)
    slot = draft.sketch.tests[-1].slot if ending else _slot(draft, said)
    sign = "<=" if ending else _sign(cue)
    draft.pending.comparison = cue if cue and cue.sign is Sign.BETWEEN and not ending else None
    draft.sketch.tests.append(Test(slot, sign, span=said.span))
    draft.close()


def _is_number(draft: Draft, said: Dated) -> bool:
    """`More than 2000 people` names no year."""
    before = draft.beside(-1)
    than = isinstance(before, Told) and before.text.casefold().endswith("than")
    counted = than or isinstance(draft.beside(1), Noun)
    return said.text.isdigit() and draft.pending.comparison is not None and counted


def _ends_a_span(draft: Draft) -> bool:
    tests = draft.sketch.tests
    return bool(tests) and tests[-1].span is not None and tests[-1].sign == ">=" and draft.said_before(*_UNTIL)


def _sign(cue: Cue | None) -> str:
    if cue is None:
        return "="
    return ">=" if cue.sign is Sign.BETWEEN else cue.text


def _slot(draft: Draft, said: Dated) -> int:
    """The moment named before, like `hired in 2003`, else any there is."""
    before = draft.noun_before
    if before is not None and draft.nature.is_moment(draft.sketch.slots[before]):
        return before
    return draft.slot(said.text, draft.meanings.moments())


def pattern(draft: Draft, told: Told) -> None:
    """`Whose name starts with the letter J`."""
    at = draft.at + 1
    while at < len(draft.found) and draft.found[at].text.casefold() in _BEFORE_A_PATTERN:
        at += 1
    if at >= len(draft.found) or draft.noun_before is None:
        draft.leave(told.text)
        return
    text = told.cue.text.format(draft.found[at].text)
    draft.sketch.tests.append(Test(draft.noun_before, "LIKE", pattern=text))
    draft.at = at
