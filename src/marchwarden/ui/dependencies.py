"""House: what the page is lent by whoever starts it: the store, the prices, and how researchers come about."""

from collections.abc import Callable
from dataclasses import dataclass

from marchwarden.audit.prices import Prices
from marchwarden.audit.replay import Rebuild
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.protocols import Researcher
from marchwarden.storage.record import RunHeader
from marchwarden.storage.store import Store
from marchwarden.ui.ask_form import AskForm


@dataclass(frozen=True)
class UiDependencies:
    """`build` makes who answers a wish, `again` who goes on with an earlier run, `rebuild` who repeats one.

    `names` are those who can be asked besides the readers of files and databases; `notice` is told beside the form.
    """

    store: Store
    prices: Prices
    build: Callable[[AskForm], Researcher]
    again: Callable[[RunHeader], RecordedResearcher]
    rebuild: Rebuild
    names: tuple[str, ...] = ()
    notice: str = ""
