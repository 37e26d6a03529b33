"""The home page: the form to ask a question, the questions in progress and the latest runs."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from marchwarden.audit.catalog import RunSummary
from marchwarden.contract import DEPTH_PRESETS, MAX_CONTEXT, MAX_QUESTION, Depth
from marchwarden.reports.html import Content, Markup
from marchwarden.ui.ask_form import Form, InputField
from marchwarden.ui.html import element, link
from marchwarden.ui.jobs import ResearchJob
from marchwarden.ui.views.frame import document, heading
from marchwarden.ui.views.jobs import job_cards
from marchwarden.ui.views.runs import run_list

_DEPTH_TEXTS: Final = {
    Depth.SHALLOW: "quick look",
    Depth.BALANCED: "default",
    Depth.DEEP: "thorough",
}


def home_page(
    form: Form,
    fields: Sequence[InputField],
    names: Sequence[str],
    jobs: Sequence[ResearchJob],
    latest: Sequence[RunSummary],
    error: str,
    notice: str,
) -> str:
    repeats = Counter(each.key for each in latest if each.finished)
    latest_runs = element(
        "section",
        element("h2", "Latest runs"),
        run_list(latest, repeats),
        element("p", link("All runs", "/runs")),
        aria_label="Latest runs",
    )
    return document(
        "Ask",
        heading("Ask", "Every claim in the answer links to a verbatim quote from its source."),
        job_cards(jobs),
        ask_form(form, fields, names, error, notice),
        latest_runs if latest else None,
        current="/",
    )


def ask_form(
    form: Form, fields: Sequence[InputField], names: Sequence[str], error: str = "", notice: str = ""
) -> Markup:
    """Render the form with the given values. `error` says what to correct."""
    return element(
        "form",
        element("p", error, class_="message bad", role="alert", id="wrong") if error else None,
        element("label", "Question", for_="question", class_="big"),
        element(
            "textarea",
            _value(form, "question"),
            id="question",
            name="question",
            rows=2,
            maxlength=MAX_QUESTION,
            required=True,
            autofocus=True,
            aria_describedby="wrong" if error else None,
            placeholder="When was the bridge opened, and by whom?",
        ),
        _depths(form),
        element("div", *(_input_field(form, field) for field in fields), class_="pair"),
        _researchers(form, names),
        _more_options(form),
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


def _depths(form: Form) -> Markup:
    current = _value(form, "depth") or Depth.BALANCED.value
    options = [_depth(depth, is_current=depth == current) for depth in Depth]
    return element("fieldset", element("legend", "Depth"), element("div", *options, class_="choices"))


def _depth(depth: Depth, *, is_current: bool) -> Markup:
    preset = DEPTH_PRESETS[depth]
    limits = f"{preset['token_budget']:,} tokens, {preset['max_sources']} sources"
    label = element("span", element("strong", depth.value), f" {_DEPTH_TEXTS[depth]}", element("small", limits))
    radio = element("input", type="radio", name="depth", value=depth.value, checked=is_current)
    return element("label", radio, label, class_="choice")


def _input_field(form: Form, field: InputField) -> Markup:
    area = element(
        "textarea",
        _value(form, field.name),
        id=field.name,
        name=field.name,
        rows=2,
        placeholder=field.example,
        spellcheck="false",
    )
    return _labelled(field.name, field.label, area, field.hint)


def _researchers(form: Form, names: Sequence[str]) -> Markup:
    ticked = set(form.get("researcher", ()))
    boxes = [
        element(
            "label",
            element("input", type="checkbox", name="researcher", value=name, checked=name in ticked),
            element("span", name),
            class_="tick",
        )
        for name in names
    ]
    hint = "Leave empty to search only the files and databases above, or the web and arXiv if none are given."
    return element("fieldset", element("legend", "Also ask"), *boxes, element("p", hint, class_="note"), class_="ticks")


def _more_options(form: Form) -> Markup:
    names = ("budget", "source_filter", "mind", "context")
    context = element("textarea", _value(form, "context"), id="context", name="context", rows=2, maxlength=MAX_CONTEXT)
    return element(
        "details",
        element("summary", "More options"),
        element(
            "div",
            _labelled("budget", "Token budget", _input(form, "budget", "set by depth", "numeric")),
            _labelled("source_filter", "Only these sites", _input(form, "source_filter", ".gov,.edu")),
            _labelled("mind", "Model", _input(form, "mind", "extractive or provider:model")),
            class_="three",
        ),
        _labelled("context", "Context (optional)", context, "Background you already know."),
        open=any(_value(form, name) for name in names),
        class_="more",
    )


def _input(form: Form, name: str, example: str, mode: str | None = None) -> Markup:
    return element(
        "input", type="text", id=name, name=name, value=_value(form, name), placeholder=example, inputmode=mode
    )


def _labelled(name: str, label: str, entry: Markup, hint: Content = "") -> Markup:
    note = element("p", hint, class_="note") if hint else None
    return element("div", element("label", label, for_=name), entry, note, class_="field")


def _value(form: Form, name: str) -> str:
    return next(iter(form.get(name, ())), "")
