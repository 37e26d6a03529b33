"""Reads the mentions of a question from left to right and notes what each is wanted for. Chooses no meanings."""

from collections.abc import Callable, Sequence
from typing import Final

from marchwarden.researchers.database.nl2sql import comparing, ordering
from marchwarden.researchers.database.nl2sql.draft import BOUND, Draft
from marchwarden.researchers.database.nl2sql.lexicon import Fold, Sign
from marchwarden.researchers.database.nl2sql.meanings import Meanings
from marchwarden.researchers.database.nl2sql.mentions import Dated, Mention, Noun, Number, Other, Told, Value
from marchwarden.researchers.database.nl2sql.sketch import Bond, Sketch, Test
from marchwarden.researchers.database.nl2sql.thesaurus import LIGHT

_JOINING: Final = "and , ( the a an both all or also their its his her our as well with respective corresponding"
_LINKS: Final = frozenset(_JOINING.split())
_AGAIN: Final = frozenset({"what", "which", "their", "its", "his", "her"})


def sketched(found: Sequence[Mention], meanings: Meanings) -> Sketch:
    draft = Draft(found, meanings)
    while draft.at < len(found):
        match mention := found[draft.at]:
            case Told():
                _CUES[mention.cue.sign](draft, mention)
            case Noun():
                _noun(draft, mention)
            case Value():
                _value(draft, mention)
            case Number():
                comparing.number(draft, mention)
            case Dated():
                comparing.dated(draft, mention)
            case Other():
                _other(draft, mention)
        draft.at += 1
    _finish(draft)
    return draft.sketch


def _fold(draft: Draft, told: Told) -> None:
    draft.open = draft.open or draft.said_before("and", ",")
    if told.cue.fold:
        draft.pending.folds.append(told.cue.fold)


def _extreme(draft: Draft, told: Told) -> None:
    draft.pending.extreme = told.cue


def _frequent(draft: Draft, told: Told) -> None:
    draft.pending.frequent = told.cue


def _each(draft: Draft, _told: Told) -> None:
    draft.pending.each = True
    draft.close()


def _order(draft: Draft, _told: Told) -> None:
    draft.pending.ordering, draft.open = True, False


def _not(draft: Draft, _told: Told) -> None:
    draft.pending.negated = True


def _measure(draft: Draft, told: Told) -> None:
    draft.show_implied(told.text, draft.meanings.measures(told.cue.hint))


def _where(draft: Draft, told: Told) -> None:
    if draft.sketch.slots:
        draft.close()
    elif told.cue.sign is Sign.WHEN:
        draft.show_implied(told.text, draft.meanings.moments())
    else:
        draft.show_implied(told.text, draft.meanings.measures("where"))


def _command(draft: Draft, _told: Told) -> None:
    """A second sentence that says what to return says it better than the first."""
    draft.replacing = draft.open = bool(draft.sketch.shown) or draft.open


_CUES: Final[dict[Sign, Callable[[Draft, Told], None]]] = {
    Sign.FOLD: _fold,
    Sign.EXTREME: _extreme,
    Sign.FREQUENT: _frequent,
    Sign.TOP: ordering.top,
    Sign.EACH: _each,
    Sign.BY: ordering.by,
    Sign.ORDER: _order,
    Sign.DIRECTION: ordering.direction,
    Sign.COMPARISON: comparing.comparison,
    Sign.BETWEEN: comparing.comparison,
    Sign.PATTERN: comparing.pattern,
    Sign.NOT: _not,
    Sign.WHERE: _where,
    Sign.WHEN: _where,
    Sign.MEASURE: _measure,
    Sign.COMMAND: _command,
}


def _noun(draft: Draft, noun: Noun) -> None:
    nature = draft.nature
    tells = isinstance(draft.beside(-1), Noun) or noun.text.casefold() in LIGHT
    if tells and nature.is_mere_verb(noun) and not draft.pending.extreme:
        _other(draft, Other(noun.text, known=True))
        return
    slot = draft.slot(noun.text, noun.meanings)
    if nature.is_relation(noun):
        _relate(draft, noun)
    elif _is_modifier(draft, noun) and nature.is_truth(noun):
        draft.sketch.tests.append(Test(slot, "=", truth=not draft.pending.negated))
        draft.pending.negated = False
    elif _is_modifier(draft, noun):
        draft.sketch.bonds.append(Bond(slot, slot + 1, BOUND))
        draft.modifiers.add(slot)
    elif not nature.is_verb(noun) or noun.meanings[0].column:
        _take_up(draft, noun, slot)
        draft.noun_before = slot if slot not in draft.sketch.missing else None


def _relate(draft: Draft, noun: Noun) -> None:
    """States that border states that border a state are beyond us."""
    if draft.related:
        draft.leave(noun.text)
    draft.related = True


def _is_modifier(draft: Draft, noun: Noun) -> bool:
    """`customer name` is about names; but `highest rated restaurant` is a restaurant."""
    after, nature = draft.beside(1), draft.nature
    if not isinstance(after, Noun) or not nature.is_head(after) or nature.is_verb(noun):
        return False
    return not (draft.pending.extreme and nature.is_measure(noun) and not nature.is_measure(after))


def _take_up(draft: Draft, noun: Noun, slot: int) -> None:
    """Give a noun to the cue that waits for one, else show it, else let it merely be spoken of."""
    pending, sketch = draft.pending, draft.sketch
    told_true = draft.nature.is_truth(noun)
    if pending.each:
        sketch.groups.append(slot)
        after = draft.beside(1)
        pending.each = isinstance(after, Other) and after.text == "and"
    elif pending.comparison and pending.numbers:
        comparing.compare(draft, slot, counted=not draft.nature.is_measure(noun))
    elif pending.ordering:
        ordering.ordered(draft, noun, slot)
    elif pending.negated and not told_true and (sketch.shown or not draft.open):
        sketch.missing.append(slot)
        pending.negated = False
    elif pending.extreme or pending.frequent:
        ordering.superlative(draft, noun, slot)
    elif pending.folds or draft.open:
        draft.show(draft.wish(noun, slot))
    elif told_true:
        sketch.tests.append(Test(slot, "=", truth=not pending.negated))
        pending.negated = False


def _value(draft: Draft, value: Value) -> None:
    sketch = draft.sketch
    if not value.meanings or draft.pending.comparison:
        draft.leave(value.text)
    if value.noun and draft.nature.is_relation(value.noun):
        _relate(draft, value.noun)
    elif value.noun and draft.open and not sketch.shown:
        _noun(draft, value.noun)
    slot = draft.slot(value.text, value.meanings)
    if value.noun:
        sketch.named.append(slot)
    if isinstance(draft.beside(-1), Value):
        sketch.crowded.append(slot - 1)
    (sketch.excluded if draft.pending.negated else sketch.values).append(slot)
    draft.pending.negated = False
    sketch.either |= draft.said_before("or")
    draft.close()


def _other(draft: Draft, other: Other) -> None:
    if not other.known:
        draft.leave(other.text)
    draft.sketch.passed_over += other.perhaps
    if other.text in _AGAIN and draft.said_before("and"):
        draft.open = True
    elif other.text not in _LINKS and not draft.replacing:
        draft.close()


def _finish(draft: Draft) -> None:
    pending, sketch = draft.pending, draft.sketch
    if pending.comparison and pending.numbers:
        comparing.compare(draft, draft.noun_before, counted=False)
    ordering.late_superlative(draft)
    if Fold.COUNT in pending.folds and sketch.order:
        sketch.shown.append(sketch.order.wish)
    elif pending.folds and sketch.shown and sketch.shown[-1].fold is None:
        last = sketch.slots[sketch.shown[-1].slot]
        if draft.nature.is_measure(last):
            sketch.shown[-1] = draft.wish(Noun(last.text, last.meanings), sketch.shown[-1].slot)
    if pending.negated:
        draft.leave("not")
    sketch.leftovers.extend(draft.idle())
