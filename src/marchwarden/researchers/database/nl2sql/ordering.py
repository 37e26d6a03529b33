"""Superlatives and orders: by what things are compared with each other. Reads on where a draft stands."""

from dataclasses import replace

from marchwarden.researchers.database.nl2sql.draft import Draft
from marchwarden.researchers.database.nl2sql.lexicon import Cue, Fold, Sign
from marchwarden.researchers.database.nl2sql.mentions import Noun, Number, Other, Told
from marchwarden.researchers.database.nl2sql.sketch import Order, Wish


def top(draft: Draft, told: Told) -> None:
    """`top 5`; `first` and `last` without a number are the earliest and the latest."""
    text, numbered = told.text.casefold(), isinstance(draft.beside(1), Number)
    if numbered and text != "last":
        draft.pending.top = replace(told.cue, descending=text != "bottom")
    elif numbered or text not in {"first", "last"}:
        draft.leave(told.text)
    elif not (draft.pending.ordering or draft.sketch.order):
        draft.pending.extreme = Cue(Sign.EXTREME, text, hint="late", descending=text == "last")


def by(draft: Draft, _told: Told) -> None:
    """`by country` groups a sum, `by area` orders the largest, `written by` merely joins."""
    before, shown = draft.beside(-1), draft.sketch.shown
    joins = isinstance(before, Other) and before.known and before.text.endswith(("ed", "en"))
    if draft.pending.top or draft.sketch.order is not None:
        draft.pending.ordering = not joins
    elif shown and shown[0].fold and not joins:
        draft.pending.each = True
    draft.close()


def direction(draft: Draft, told: Told) -> None:
    sketch, descending = draft.sketch, told.cue.descending
    if sketch.order is not None:
        sketch.order = replace(sketch.order, descending=descending, only_extreme=False)
    elif sketch.shown:
        sketch.order = Order(sketch.shown[-1], descending)
    draft.pending.ordering = isinstance(draft.beside(1), Noun)


def ordered(draft: Draft, noun: Noun, slot: int) -> None:
    """The noun after `ordered by`, or after the `by` of a superlative."""
    pending, kept = draft.pending, draft.sketch.order
    descending = kept.descending if kept else bool(pending.top and pending.top.descending)
    if pending.extreme:
        descending, pending.extreme = pending.extreme.descending, None
    limit = (kept.limit if kept else None) or pending.limit
    only_extreme = kept is not None and kept.only_extreme
    draft.sketch.order = Order(draft.wish(noun, slot), descending, limit, only_extreme)
    pending.ordering, pending.limit = False, None


def superlative(draft: Draft, noun: Noun, slot: int) -> None:
    """The most common of a kind, the highest of a measure, the most of a thing, or the largest thing."""
    pending, sketch = draft.pending, draft.sketch
    if sketch.order is not None:
        sketch.outer, sketch.order = sketch.order, None
    measure = draft.nature.is_measure(noun) or draft.nature.is_moment(noun)
    if pending.frequent:
        sketch.slots[slot] = replace(sketch.slots[slot], said=pending.frequent.text)
        _take_order(draft, Wish(slot, Fold.COUNT, rows=True), pending.frequent)
        draft.show(Wish(slot))
    elif pending.extreme and measure:
        _highest(draft, noun, slot, pending.extreme)
    elif pending.extreme and (Fold.COUNT in pending.folds or not pending.extreme.hint):
        _take_order(draft, Wish(slot, Fold.COUNT), pending.extreme)
        pending.folds.clear()
    elif pending.extreme:
        implied = draft.implied(pending.extreme.hint, noun.text, slot)
        if implied is not None:
            draft.sketch.slots[slot] = replace(draft.sketch.slots[slot], said=pending.extreme.text)
            _take_order(draft, Wish(implied), pending.extreme)
        pending.extreme = None
        draft.show(draft.wish(noun, slot))


def _highest(draft: Draft, noun: Noun, slot: int, cue: Cue) -> None:
    """`The highest price` is shown where nothing else is asked for; else things are ordered by it."""
    alone = draft.open and not draft.sketch.shown and not isinstance(draft.beside(1), Noun)
    if alone and not draft.pending.limit:
        draft.pending.extreme = None
        draft.pending.folds.clear()
        draft.show(Wish(slot, Fold.HIGHEST if cue.descending else Fold.LOWEST))
    else:
        _take_order(draft, draft.wish(noun, slot), cue)


def _take_order(draft: Draft, wish: Wish, cue: Cue) -> None:
    limit = draft.pending.limit
    draft.sketch.order = Order(wish, cue.descending, limit, only_extreme=limit is None, said=cue.text)
    draft.pending.limit = draft.pending.extreme = draft.pending.frequent = None


def late_superlative(draft: Draft) -> None:
    """`Which river is the longest?`, `Who was hired last?`, `Which invoice has the highest total?`"""
    cue, slots, before = draft.pending.extreme, draft.sketch.slots, draft.noun_before
    if cue is None or not draft.sketch.shown:
        return
    thing = draft.sketch.shown[0].slot
    if cue.hint == "late" and before is not None and draft.nature.is_moment(slots[before]):
        measure: int | None = before
    else:
        named = Fold.SUM in draft.pending.folds
        measure = draft.implied("money" if named else cue.hint, slots[thing].text, thing)
        if named and measure is not None:
            slots[measure] = replace(slots[measure], text="total", implied=False)
        else:
            slots[thing] = replace(slots[thing], said=cue.text)
    if measure is not None:
        _take_order(draft, Wish(measure), cue)
    draft.pending.folds.clear()
