"""Parse comparisons: the numbers, dates and patterns of a question, and what they are compared with."""

from typing import Final

from marchwarden.researchers.database.nl2sql.draft import QueryDraft
from marchwarden.researchers.database.nl2sql.lexicon import Cue, CueKind
from marchwarden.researchers.database.nl2sql.mentions import CueMention, DateMention, Noun, Number, is_cue
from marchwarden.researchers.database.nl2sql.sketch import SlotComparison

_PAIR: Final = 2
_BEFORE_A_PATTERN: Final = frozenset({"the", "a", "letter", "letters", "word"})
_UNTIL: Final = ("to", "and", "through", "until")


def read_comparison(draft: QueryDraft, mention: CueMention) -> None:
    """Words like `from` and `over` compare only with a number or a date. `larger than Texas` is not supported."""
    if any(isinstance(draft.neighbor(step), Number | DateMention) for step in (1, 2, 3)):
        draft.pending.comparison = mention.cue
    elif mention.text.casefold().endswith("than"):
        draft.reject(mention.text)
    else:
        draft.close()


def read_number(draft: QueryDraft, mention: Number) -> None:
    pending = draft.pending
    if pending.comparison:
        pending.numbers += (mention.number,)
        if pending.comparison.kind is CueKind.BETWEEN and len(pending.numbers) < _PAIR:
            return
        if not isinstance(draft.neighbor(1), Noun):
            add_comparison(draft, draft.noun_before, counted=False)
    elif is_cue(draft.neighbor(-1), CueKind.TOP) or is_cue(draft.neighbor(1), CueKind.EXTREME, CueKind.FREQUENT):
        pending.limit = int(mention.number)
    elif isinstance(draft.neighbor(-1), Noun) and draft.noun_before is not None:
        draft.sketch.comparisons.append(SlotComparison(draft.noun_before, "=", (mention.number,)))
    else:
        draft.reject(mention.text)


def add_comparison(draft: QueryDraft, slot: int | None, *, counted: bool) -> None:
    """Compare a slot, or its count if `counted`, with the pending numbers."""
    cue, numbers = draft.pending.comparison, draft.pending.numbers
    assert cue is not None
    draft.pending.comparison, draft.pending.numbers = None, ()
    if cue.hint and slot is not None and not counted and not draft.classifier.is_measure(draft.sketch.slots[slot]):
        slot = draft.add_implied_measure(cue.hint, draft.sketch.slots[slot].text, slot)
    if slot is None or len(numbers) != (_PAIR if cue.kind is CueKind.BETWEEN else 1):
        draft.reject(cue.text)
        return
    operator = "BETWEEN" if cue.kind is CueKind.BETWEEN else cue.text
    draft.sketch.comparisons.append(SlotComparison(slot, operator, numbers, counted=counted))


def read_date(draft: QueryDraft, mention: DateMention) -> None:
    if _is_number(draft, mention):
        read_number(draft, Number(mention.text, float(mention.text)))
        return
    cue, ending = draft.pending.comparison, _ends_span(draft)
    slot = draft.sketch.comparisons[-1].slot if ending else _date_slot(draft, mention)
    operator = "<=" if ending else _operator(cue)
    draft.pending.comparison = cue if cue and cue.kind is CueKind.BETWEEN and not ending else None
    draft.sketch.comparisons.append(SlotComparison(slot, operator, span=mention.span))
    draft.close()


def _is_number(draft: QueryDraft, mention: DateMention) -> bool:
    """Whether a year is only a number: `more than 2000 people`."""
    before = draft.neighbor(-1)
    than = isinstance(before, CueMention) and before.text.casefold().endswith("than")
    counted = than or isinstance(draft.neighbor(1), Noun)
    return mention.text.isdigit() and draft.pending.comparison is not None and counted


def _ends_span(draft: QueryDraft) -> bool:
    last = draft.sketch.comparisons[-1] if draft.sketch.comparisons else None
    return last is not None and last.span is not None and last.operator == ">=" and draft.preceded_by(*_UNTIL)


def _operator(cue: Cue | None) -> str:
    if cue is None:
        return "="
    return ">=" if cue.kind is CueKind.BETWEEN else cue.text


def _date_slot(draft: QueryDraft, mention: DateMention) -> int:
    """The date named just before, as in `hired in 2003`, else any date column."""
    before = draft.noun_before
    if before is not None and draft.classifier.is_date(draft.sketch.slots[before]):
        return before
    return draft.add_slot(mention.text, draft.meanings.date_columns())


def read_pattern(draft: QueryDraft, mention: CueMention) -> None:
    """Parse `whose name starts with the letter J`."""
    at = draft.at + 1
    while at < len(draft.mentions) and draft.mentions[at].text.casefold() in _BEFORE_A_PATTERN:
        at += 1
    if at >= len(draft.mentions) or draft.noun_before is None:
        draft.reject(mention.text)
        return
    text = mention.cue.text.format(draft.mentions[at].text)
    draft.sketch.comparisons.append(SlotComparison(draft.noun_before, "LIKE", pattern=text))
    draft.at = at
