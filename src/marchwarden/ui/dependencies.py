"""House: what the page is lent by whoever starts it: the store, the prices, and how researchers come about."""

from collections.abc import Callable
from dataclasses import dataclass

from marchwarden.audit.prices import Prices
from marchwarden.audit.replay import Rebuild
from marchwarden.loop.recorded import Recorded
from marchwarden.protocols import Researcher
from marchwarden.storage.record import Opening
from marchwarden.storage.store import Store
from marchwarden.ui.ask_form import Wish


@dataclass(frozen=True)
class House:
    """`build` makes who answers a wish, `again` who goes on with an earlier run, `rebuild` who repeats one.

    `names` are those who can be asked besides the readers of files and databases; `notice` is told beside the form.
    """

    store: Store
    prices: Prices
    build: Callable[[Wish], Researcher]
    again: Callable[[Opening], Recorded]
    rebuild: Rebuild
    names: tuple[str, ...] = ()
    notice: str = ""
