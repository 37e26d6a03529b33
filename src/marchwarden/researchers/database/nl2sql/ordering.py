"""Parse superlatives and orders."""

from dataclasses import replace

from marchwarden.researchers.database.nl2sql.draft import QueryDraft
from marchwarden.researchers.database.nl2sql.lexicon import Aggregate, Cue, CueKind
from marchwarden.researchers.database.nl2sql.mentions import CueMention, Noun, Number, OtherWord
from marchwarden.researchers.database.nl2sql.sketch import Order, SketchTerm


def read_top(draft: QueryDraft, mention: CueMention) -> None:
    """Parse `top 5`. `first` and `last` without a number mean the earliest and the latest."""
    text, numbered = mention.text.casefold(), isinstance(draft.neighbor(1), Number)
    if numbered and text != "last":
        draft.pending.top = replace(mention.cue, descending=text != "bottom")
    elif numbered or text not in {"first", "last"}:
        draft.reject(mention.text)
    elif not (draft.pending.ordering or draft.sketch.order):
        draft.pending.extreme = Cue(CueKind.EXTREME, text, hint="late", descending=text == "last")


def read_by(draft: QueryDraft, _mention: CueMention) -> None:
    """Parse `by`: `by country` groups a sum, `by area` orders a superlative, `written by` only connects."""
    before, shown = draft.neighbor(-1), draft.sketch.shown
    joins = isinstance(before, OtherWord) and before.known and before.text.endswith(("ed", "en"))
    if draft.pending.top or draft.sketch.order is not None:
        draft.pending.ordering = not joins
    elif shown and shown[0].aggregate and not joins:
        draft.pending.each = True
    draft.close()


def read_direction(draft: QueryDraft, mention: CueMention) -> None:
    sketch, descending = draft.sketch, mention.cue.descending
    if sketch.order is not None:
        sketch.order = replace(sketch.order, descending=descending, only_extreme=False)
    elif sketch.shown:
        sketch.order = Order(sketch.shown[-1], descending)
    draft.pending.ordering = isinstance(draft.neighbor(1), Noun)


def set_order(draft: QueryDraft, noun: Noun, slot: int) -> None:
    """Order by the noun after `ordered by`, or after the `by` of a superlative."""
    pending, current = draft.pending, draft.sketch.order
    descending = current.descending if current else bool(pending.top and pending.top.descending)
    if pending.extreme:
        descending, pending.extreme = pending.extreme.descending, None
    limit = (current.limit if current else None) or pending.limit
    only_extreme = current is not None and current.only_extreme
    draft.sketch.order = Order(draft.make_term(noun, slot), descending, limit, only_extreme)
    pending.ordering, pending.limit = False, None


def read_superlative(draft: QueryDraft, noun: Noun, slot: int) -> None:
    """Apply a superlative to a noun: the most common value, the highest measure, the most rows or the largest row."""
    pending, sketch = draft.pending, draft.sketch
    if sketch.order is not None:
        sketch.outer, sketch.order = sketch.order, None
    measure = draft.classifier.is_measure(noun) or draft.classifier.is_date(noun)
    if pending.frequent:
        sketch.slots[slot] = replace(sketch.slots[slot], superlative=pending.frequent.text)
        _set_extreme_order(draft, SketchTerm(slot, Aggregate.COUNT, rows=True), pending.frequent)
        draft.show(SketchTerm(slot))
    elif pending.extreme and measure:
        _highest_value(draft, noun, slot, pending.extreme)
    elif pending.extreme and (Aggregate.COUNT in pending.aggregates or not pending.extreme.hint):
        _set_extreme_order(draft, SketchTerm(slot, Aggregate.COUNT), pending.extreme)
        pending.aggregates.clear()
    elif pending.extreme:
        implied = draft.add_implied_measure(pending.extreme.hint, noun.text, slot)
        if implied is not None:
            draft.sketch.slots[slot] = replace(draft.sketch.slots[slot], superlative=pending.extreme.text)
            _set_extreme_order(draft, SketchTerm(implied), pending.extreme)
        pending.extreme = None
        draft.show(draft.make_term(noun, slot))


def _highest_value(draft: QueryDraft, noun: Noun, slot: int, cue: Cue) -> None:
    """Show `the highest price` if the question asks for nothing else, otherwise order by it."""
    alone = draft.open and not draft.sketch.shown and not isinstance(draft.neighbor(1), Noun)
    if alone and not draft.pending.limit:
        draft.pending.extreme = None
        draft.pending.aggregates.clear()
        draft.show(SketchTerm(slot, Aggregate.HIGHEST if cue.descending else Aggregate.LOWEST))
    else:
        _set_extreme_order(draft, draft.make_term(noun, slot), cue)


def _set_extreme_order(draft: QueryDraft, term: SketchTerm, cue: Cue) -> None:
    limit = draft.pending.limit
    draft.sketch.order = Order(term, cue.descending, limit, only_extreme=limit is None, superlative=cue.text)
    draft.pending.limit = draft.pending.extreme = draft.pending.frequent = None


def read_late_superlative(draft: QueryDraft) -> None:
    """Parse a superlative at the end: `Which river is the longest?`, `Which invoice has the highest total?`"""
    cue, slots, before = draft.pending.extreme, draft.sketch.slots, draft.noun_before
    if cue is None or not draft.sketch.shown:
        return
    thing = draft.sketch.shown[0].slot
    if cue.hint == "late" and before is not None and draft.classifier.is_date(slots[before]):
        measure: int | None = before
    else:
        wants_total = Aggregate.SUM in draft.pending.aggregates
        measure = draft.add_implied_measure("money" if wants_total else cue.hint, slots[thing].text, thing)
        if wants_total and measure is not None:
            slots[measure] = replace(slots[measure], text="total", implied=False)
        else:
            slots[thing] = replace(slots[thing], superlative=cue.text)
    if measure is not None:
        _set_extreme_order(draft, SketchTerm(measure), cue)
    draft.pending.aggregates.clear()
