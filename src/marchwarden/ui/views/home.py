"""The front page: the form, what is under way, what was answered last."""

from collections import Counter
from collections.abc import Sequence

from marchwarden.audit.catalog import RunSummary
from marchwarden.ui.ask_form import Form, InputField
from marchwarden.ui.html import element, link
from marchwarden.ui.jobs import Job
from marchwarden.ui.views.form import form
from marchwarden.ui.views.frame import document, heading
from marchwarden.ui.views.jobs import cards
from marchwarden.ui.views.runs import items


def front(
    filled: Form,
    fields: Sequence[InputField],
    names: Sequence[str],
    going: Sequence[Job],
    latest: Sequence[RunSummary],
    wrong: str,
    notice: str,
) -> str:
    twins = Counter(each.key for each in latest if each.finished)
    last = element(
        "section",
        element("h2", "Latest runs"),
        items(latest, twins),
        element("p", link("All runs", "/runs")),
        aria_label="Latest runs",
    )
    return document(
        "Ask",
        heading("Ask", "Every claim of the answer leads to a verbatim excerpt of something really read."),
        cards(going),
        form(filled, fields, names, wrong, notice),
        last if latest else None,
        current="/",
    )
