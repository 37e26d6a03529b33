"""Parse the mentions of a question from left to right into a sketch. Does not choose between meanings."""

from collections.abc import Callable, Sequence
from typing import Final

from marchwarden.researchers.database.nl2sql import comparing, ordering
from marchwarden.researchers.database.nl2sql.draft import STRONG_LINK, QueryDraft
from marchwarden.researchers.database.nl2sql.lexicon import Aggregate, CueKind
from marchwarden.researchers.database.nl2sql.meanings import MeaningIndex
from marchwarden.researchers.database.nl2sql.mentions import (
    CueMention,
    DateMention,
    Mention,
    Noun,
    Number,
    OtherWord,
    Value,
)
from marchwarden.researchers.database.nl2sql.sketch import Sketch, SlotComparison, SlotLink
from marchwarden.researchers.database.nl2sql.thesaurus import load_thesaurus

_LIST_WORDS: Final = "and , ( the a an both all or also their its his her our as well with respective corresponding"
_CONNECTING: Final = frozenset(_LIST_WORDS.split())
_RESTARTING: Final = frozenset({"what", "which", "their", "its", "his", "her"})


def sketch_question(found: Sequence[Mention], meanings: MeaningIndex) -> Sketch:
    draft = QueryDraft(found, meanings)
    while draft.at < len(found):
        match mention := found[draft.at]:
            case CueMention():
                _CUES[mention.cue.kind](draft, mention)
            case Noun():
                _noun(draft, mention)
            case Value():
                _value(draft, mention)
            case Number():
                comparing.read_number(draft, mention)
            case DateMention():
                comparing.read_date(draft, mention)
            case OtherWord():
                _other(draft, mention)
        draft.at += 1
    _finish(draft)
    return draft.sketch


def _aggregate(draft: QueryDraft, mention: CueMention) -> None:
    draft.open = draft.open or draft.preceded_by("and", ",")
    if mention.cue.aggregate:
        draft.pending.aggregates.append(mention.cue.aggregate)


def _extreme(draft: QueryDraft, mention: CueMention) -> None:
    draft.pending.extreme = mention.cue


def _frequent(draft: QueryDraft, mention: CueMention) -> None:
    draft.pending.frequent = mention.cue


def _each(draft: QueryDraft, _mention: CueMention) -> None:
    draft.pending.each = True
    draft.close()


def _order(draft: QueryDraft, _mention: CueMention) -> None:
    draft.pending.ordering, draft.open = True, False


def _not(draft: QueryDraft, _mention: CueMention) -> None:
    draft.pending.negated = True


def _measure(draft: QueryDraft, mention: CueMention) -> None:
    draft.show_implied(mention.text, draft.meanings.measures(mention.cue.hint))


def _where(draft: QueryDraft, mention: CueMention) -> None:
    if draft.sketch.slots:
        draft.close()
    elif mention.cue.kind is CueKind.WHEN:
        draft.show_implied(mention.text, draft.meanings.date_columns())
    else:
        draft.show_implied(mention.text, draft.meanings.measures("where"))


def _command(draft: QueryDraft, _mention: CueMention) -> None:
    """A second sentence that says what to return replaces what the first one shows."""
    draft.replacing = draft.open = bool(draft.sketch.shown) or draft.open


_CUES: Final[dict[CueKind, Callable[[QueryDraft, CueMention], None]]] = {
    CueKind.AGGREGATE: _aggregate,
    CueKind.EXTREME: _extreme,
    CueKind.FREQUENT: _frequent,
    CueKind.TOP: ordering.read_top,
    CueKind.EACH: _each,
    CueKind.BY: ordering.read_by,
    CueKind.ORDER: _order,
    CueKind.DIRECTION: ordering.read_direction,
    CueKind.COMPARISON: comparing.read_comparison,
    CueKind.BETWEEN: comparing.read_comparison,
    CueKind.PATTERN: comparing.read_pattern,
    CueKind.NOT: _not,
    CueKind.WHERE: _where,
    CueKind.WHEN: _where,
    CueKind.MEASURE: _measure,
    CueKind.COMMAND: _command,
}


def _noun(draft: QueryDraft, noun: Noun) -> None:
    classifier = draft.classifier
    may_be_verb = isinstance(draft.neighbor(-1), Noun) or noun.text.casefold() in load_thesaurus().connecting
    if may_be_verb and classifier.is_plain_verb(noun) and not draft.pending.extreme:
        _other(draft, OtherWord(noun.text, known=True))
        return
    slot = draft.add_slot(noun.text, noun.meanings)
    if classifier.is_relation(noun):
        _relate(draft, noun)
    elif _is_modifier(draft, noun) and classifier.is_boolean(noun):
        draft.sketch.comparisons.append(SlotComparison(slot, "=", is_true=not draft.pending.negated))
        draft.pending.negated = False
    elif _is_modifier(draft, noun):
        draft.sketch.slot_links.append(SlotLink(slot, slot + 1, STRONG_LINK))
        draft.modifiers.add(slot)
    elif not classifier.is_verb(noun) or noun.meanings[0].column:
        _use_noun(draft, noun, slot)
        draft.noun_before = slot if slot not in draft.sketch.missing else None


def _relate(draft: QueryDraft, noun: Noun) -> None:
    """Note a relation. A second one is rejected: states that border states that border a state are not supported."""
    if draft.related:
        draft.reject(noun.text)
    draft.related = True


def _is_modifier(draft: QueryDraft, noun: Noun) -> bool:
    """Whether a noun modifies the next: `customer name` is a name, but `highest rated restaurant` is a restaurant."""
    after, classifier = draft.neighbor(1), draft.classifier
    if not isinstance(after, Noun) or not classifier.is_head(after) or classifier.is_verb(noun):
        return False
    return not (draft.pending.extreme and classifier.is_measure(noun) and not classifier.is_measure(after))


def _use_noun(draft: QueryDraft, noun: Noun, slot: int) -> None:
    """Pass a noun to the cue that waits for one, or else show it."""
    pending, sketch = draft.pending, draft.sketch
    is_boolean = draft.classifier.is_boolean(noun)
    if pending.each:
        sketch.groups.append(slot)
        after = draft.neighbor(1)
        pending.each = isinstance(after, OtherWord) and after.text == "and"
    elif pending.comparison and pending.numbers:
        comparing.add_comparison(draft, slot, counted=not draft.classifier.is_measure(noun))
    elif pending.ordering:
        ordering.set_order(draft, noun, slot)
    elif pending.negated and not is_boolean and (sketch.shown or not draft.open):
        sketch.missing.append(slot)
        pending.negated = False
    elif pending.extreme or pending.frequent:
        ordering.read_superlative(draft, noun, slot)
    elif pending.aggregates or draft.open:
        draft.show(draft.make_term(noun, slot))
    elif is_boolean:
        sketch.comparisons.append(SlotComparison(slot, "=", is_true=not pending.negated))
        pending.negated = False


def _value(draft: QueryDraft, value: Value) -> None:
    sketch = draft.sketch
    if not value.meanings or draft.pending.comparison:
        draft.reject(value.text)
    if value.noun and draft.classifier.is_relation(value.noun):
        _relate(draft, value.noun)
    elif value.noun and draft.open and not sketch.shown:
        _noun(draft, value.noun)
    slot = draft.add_slot(value.text, value.meanings)
    if value.noun:
        sketch.named.append(slot)
    if isinstance(draft.neighbor(-1), Value):
        sketch.crowded.append(slot - 1)
    (sketch.excluded if draft.pending.negated else sketch.values).append(slot)
    draft.pending.negated = False
    sketch.either |= draft.preceded_by("or")
    draft.close()


def _other(draft: QueryDraft, other: OtherWord) -> None:
    if not other.known:
        draft.reject(other.text)
    draft.sketch.skipped_words += other.uncertain
    if other.text in _RESTARTING and draft.preceded_by("and"):
        draft.open = True
    elif other.text not in _CONNECTING and not draft.replacing:
        draft.close()


def _finish(draft: QueryDraft) -> None:
    pending, sketch = draft.pending, draft.sketch
    if pending.comparison and pending.numbers:
        comparing.add_comparison(draft, draft.noun_before, counted=False)
    ordering.read_late_superlative(draft)
    if Aggregate.COUNT in pending.aggregates and sketch.order:
        sketch.shown.append(sketch.order.term)
    elif pending.aggregates and sketch.shown and sketch.shown[-1].aggregate is None:
        last = sketch.slots[sketch.shown[-1].slot]
        if draft.classifier.is_measure(last):
            sketch.shown[-1] = draft.make_term(Noun(last.text, last.meanings), sketch.shown[-1].slot)
    if pending.negated:
        draft.reject("not")
    sketch.unknown_words.extend(draft.unused_columns())
