"""House: what the page is lent by whoever starts it: the store, the prices, and how researchers come about."""

from collections.abc import Callable
from dataclasses import dataclass

from marchwarden.audit.prices import Prices
from marchwarden.audit.replay import Rebuild
from marchwarden.core.inputs import Inputs
from marchwarden.loop.recorded import RecordedResearcher
from marchwarden.protocols import Researcher
from marchwarden.storage.record import RunHeader
from marchwarden.storage.store import Store
from marchwarden.ui.ask_form import AskForm, InputField, ReadInputs


@dataclass(frozen=True)
class UiDependencies:
    """`build` makes who answers a wish, `again` who goes on with an earlier run, `rebuild` who repeats one.

    `fields` are what researchers can be given to read, `names` the researchers that need nothing to read. `notice` is
    shown next to the form.
    """

    store: Store
    prices: Prices
    build: Callable[[AskForm], Researcher]
    again: Callable[[RunHeader], RecordedResearcher]
    rebuild: Rebuild
    read_inputs: ReadInputs = lambda _kind, _described: Inputs()
    fields: tuple[InputField, ...] = ()
    names: tuple[str, ...] = ()
    notice: str = ""
