"""Every error Marchwarden raises on purpose.

MarchwardenError
├── InvalidInput            the caller can mend it: one line, exit code 2
│   ├── UnknownTrace        no trace of that id here
│   └── MalformedTrace      the trace's lines cannot be read as a run
│       └── TraceHeld       somebody else is writing it: wait for them
├── SourceError             something outside failed: becomes a gap of its category
│   ├── NoAnswer            a researcher gave a PI no result
│   ├── QueryFailed         a statement was refused, or failed, or took too long (researchers.database)
│   ├── Interrupted         another try may mend it (fetching)
│   └── Unreadable          bytes that give no text (extraction)
├── MindError               a mind could not think: the extractive mind takes over
│   └── TooLittleLeft       the thought does not fit what may still be spent
├── StorageError            the disk refused: the run goes on, its trace says it is incomplete
│   ├── ArchiveDamaged      archived bytes are missing or are not what their hash says
│   └── IndexDamaged        the files researcher's index must be built again (researchers.files)
├── ModelFailed             a model gave no answer: a thought tries again or fails (minds.llm)
├── ReplayDiverged          a rerun needed something the trace does not hold
├── Busy                    no place for another run now: says in how many seconds to come again (wire)
└── ResearcherUnavailable   a remote researcher died, hung, or broke the contract
"""

from marchwarden.contract import GapCategory


class MarchwardenError(Exception):
    """The root of the tree. Its text is one line a person can act on."""


class InvalidInput(MarchwardenError):
    """What was asked cannot be done as asked."""


class UnknownTrace(InvalidInput):
    """There is no trace of that id in the trace folder."""


class MalformedTrace(InvalidInput):
    """The trace is not a chain of whole lines that starts a run."""


class TraceHeld(MalformedTrace):
    """Another process writes this trace; it lets go when it is done or dead."""


class SourceError(MarchwardenError):
    """A search or a fetch failed for a reason outside; `category` says what the caller can do about it."""

    def __init__(self, detail: str, category: GapCategory = GapCategory.ACCESS_DENIED) -> None:
        super().__init__(detail)
        self.detail = detail
        self.category = category


class NoAnswer(SourceError):
    """A researcher that was dispatched gave no result. `tokens` is what it may have spent all the same.

    `called_off`: not its fault, its answer was no longer needed.
    """

    def __init__(self, detail: str, tokens: int = 0, *, called_off: bool = False) -> None:
        super().__init__(detail)
        self.tokens = tokens
        self.called_off = called_off


class MindError(MarchwardenError):
    """A mind failed to plan, read or conclude. `tokens` is what the failure cost all the same."""

    def __init__(self, detail: str, tokens: int = 0, exchange: bytes | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.tokens = tokens
        self.exchange = exchange


class TooLittleLeft(MindError):
    """What is left does not pay for the thought or for another try at it: something stays undone for the budget."""


class StorageError(MarchwardenError):
    """The disk did not take what it was given."""


class ArchiveDamaged(StorageError):
    """Archived bytes are missing, or no longer have their hash."""


class ReplayDiverged(MarchwardenError):
    """A rerun asked for a step that the trace does not hold."""


class Busy(MarchwardenError):
    """There is no place for this call now, or no allowance for it; in `seconds` there may be."""

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(f"{reason}: try again in {seconds} seconds")
        self.seconds = seconds


class ResearcherUnavailable(MarchwardenError):
    """A remote researcher cannot be used: dead, silent, too large an answer, or not speaking the contract."""
