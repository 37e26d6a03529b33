"""Objects and functions that the browser interface gets from the command that starts it."""

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
    """The store, the prices, and how to build researchers.

    `build` returns the researcher for a form, `build_from_trace` the one to resume a run with, and `rebuild_offline`
    the one to repeat a run with. `fields` are the inputs that researchers can read, `names` the researchers that need
    no input. `notice` is shown next to the form.
    """

    store: Store
    prices: Prices
    build: Callable[[AskForm], Researcher]
    build_from_trace: Callable[[RunHeader], RecordedResearcher]
    rebuild_offline: Rebuild
    read_inputs: ReadInputs = lambda _kind, _settings: Inputs()
    fields: tuple[InputField, ...] = ()
    names: tuple[str, ...] = ()
    notice: str = ""
