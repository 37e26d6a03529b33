"""The form a question is asked with, filled in as it was left."""

from collections.abc import Sequence
from typing import Final

from marchwarden.contract import DEPTH_PRESETS, MAX_CONTEXT, MAX_QUESTION, Depth
from marchwarden.reports.html import Content, Markup
from marchwarden.ui.ask_form import Form, InputField
from marchwarden.ui.html import element

_HURRY: Final = {
    Depth.SHALLOW: "a first look",
    Depth.BALANCED: "the usual",
    Depth.DEEP: "thorough",
}


def form(filled: Form, fields: Sequence[InputField], names: Sequence[str], wrong: str = "", notice: str = "") -> Markup:
    """The whole form; `wrong` is what must be mended first."""
    return element(
        "form",
        element("p", wrong, class_="message bad", role="alert", id="wrong") if wrong else None,
        element("label", "Question", for_="question", class_="big"),
        element(
            "textarea",
            _value(filled, "question"),
            id="question",
            name="question",
            rows=2,
            maxlength=MAX_QUESTION,
            required=True,
            autofocus=True,
            aria_describedby="wrong" if wrong else None,
            placeholder="When was the bridge opened, and by whom?",
        ),
        _depths(filled),
        element("div", *(_lines(filled, field) for field in fields), class_="pair"),
        _researchers(filled, names),
        _more(filled),
        element(
            "p",
            element("button", "Ask", type="submit", class_="primary"),
            element("span", notice, class_="note") if notice else None,
            class_="send",
        ),
        method="post",
        action="/ask",
        class_="ask",
    )


def _depths(filled: Form) -> Markup:
    chosen = _value(filled, "depth") or Depth.BALANCED.value
    options = [_depth(depth, is_chosen=depth == chosen) for depth in Depth]
    return element("fieldset", element("legend", "Depth"), element("div", *options, class_="choices"))


def _depth(depth: Depth, *, is_chosen: bool) -> Markup:
    preset = DEPTH_PRESETS[depth]
    told = f"{preset['token_budget']:,} tokens, {preset['max_sources']} sources"
    words = element("span", element("strong", depth.value), f" {_HURRY[depth]}", element("small", told))
    radio = element("input", type="radio", name="depth", value=depth.value, checked=is_chosen)
    return element("label", radio, words, class_="choice")


def _lines(filled: Form, field: InputField) -> Markup:
    area = element(
        "textarea",
        _value(filled, field.name),
        id=field.name,
        name=field.name,
        rows=2,
        placeholder=field.example,
        spellcheck="false",
    )
    return _field(field.name, field.label, area, field.hint)


def _researchers(filled: Form, names: Sequence[str]) -> Markup:
    ticked = set(filled.get("researcher", ()))
    boxes = [
        element(
            "label",
            element("input", type="checkbox", name="researcher", value=name, checked=name in ticked),
            element("span", name),
            class_="tick",
        )
        for name in names
    ]
    hint = "Nobody ticked: whoever reads what is given above; with nothing given, the web and arXiv."
    return element("fieldset", element("legend", "Also ask"), *boxes, element("p", hint, class_="note"), class_="ticks")


def _more(filled: Form) -> Markup:
    names = ("budget", "source_filter", "mind", "context")
    known = element("textarea", _value(filled, "context"), id="context", name="context", rows=2, maxlength=MAX_CONTEXT)
    return element(
        "details",
        element("summary", "Budget, sites, mind, what is known already"),
        element(
            "div",
            _field("budget", "Budget in tokens", _input(filled, "budget", "as the depth says", "numeric"), ""),
            _field("source_filter", "Only these sites", _input(filled, "source_filter", ".gov,.edu"), ""),
            _field("mind", "Mind", _input(filled, "mind", "extractive, or provider:model"), ""),
            class_="three",
        ),
        _field("context", "Known already", known, "It is not looked for again."),
        open=any(_value(filled, name) for name in names),
        class_="more",
    )


def _input(filled: Form, name: str, example: str, mode: str | None = None) -> Markup:
    return element(
        "input", type="text", id=name, name=name, value=_value(filled, name), placeholder=example, inputmode=mode
    )


def _field(name: str, called: str, entry: Markup, hint: Content) -> Markup:
    note = element("p", hint, class_="note") if hint else None
    return element("div", element("label", called, for_=name), entry, note, class_="field")


def _value(filled: Form, name: str) -> str:
    return next(iter(filled.get(name, ())), "")
