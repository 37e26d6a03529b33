"""All errors that Marchwarden raises on purpose.

MarchwardenError
├── InvalidInput            the caller can fix it: one line, exit code 2
│   ├── UnknownTrace        no trace with this id
│   ├── MalformedTrace      the lines of the trace are not a valid run
│   └── TraceHeld           another process is writing the trace: wait for it
├── SourceError             something outside failed: becomes a gap of its category
│   ├── NoAnswer            a dispatched researcher returned no result
│   ├── QueryFailed         a statement was refused, failed or timed out (researchers.database)
│   ├── TransientError      a retry may succeed (fetching)
│   └── Unreadable          bytes that yield no text (extraction)
├── MindError               a mind failed: the extractive mind takes over
│   └── TooLittleLeft       the call does not fit into the remaining budget
├── StorageError            writing failed: the run continues, its trace is marked incomplete
│   ├── ArchiveDamaged      archived bytes are missing or do not match their hash
│   └── IndexDamaged        the index of the files researcher must be rebuilt (researchers.files)
├── ModelFailed             a model returned no answer: the call is retried or fails (minds.llm)
├── ReplayDiverged          a rerun needed a step that is not in the trace
├── Busy                    no capacity for another run: retry after the given seconds (mcp)
└── ResearcherUnavailable   a remote researcher crashed, timed out or violated the contract
"""

from marchwarden.contract import GapCategory


class MarchwardenError(Exception):
    """Base of all errors. The message is one line that tells the user what to do."""


class InvalidInput(MarchwardenError):
    """The request is invalid."""


class UnknownTrace(InvalidInput):
    """The trace folder has no trace with this id."""


class MalformedTrace(InvalidInput):
    """The trace is not a chain of complete lines that starts a run."""


class TraceHeld(InvalidInput):
    """Another process is writing this trace. It releases the trace when it finishes or dies."""


class SourceError(MarchwardenError):
    """A search or fetch failed for an external reason. `category` becomes the category of the gap."""

    def __init__(self, detail: str, category: GapCategory = GapCategory.ACCESS_DENIED) -> None:
        super().__init__(detail)
        self.detail = detail
        self.category = category


class NoAnswer(SourceError):
    """A dispatched researcher returned no result. `tokens` is what it may have spent nevertheless.

    `called_off` means that it was cancelled because its answer was no longer needed.
    """

    def __init__(self, detail: str, tokens: int = 0, *, called_off: bool = False) -> None:
        super().__init__(detail)
        self.tokens = tokens
        self.called_off = called_off


class MindError(MarchwardenError):
    """A mind failed to plan, read or conclude. `tokens` is what the failed call cost.

    `permanent` means that every further call would fail as well, for example because the API key was rejected.
    """

    def __init__(self, detail: str, tokens: int = 0, exchange: bytes | None = None, *, permanent: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.tokens = tokens
        self.exchange = exchange
        self.permanent = permanent


class TooLittleLeft(MindError):
    """The remaining budget is too small for the call or for a retry."""


class StorageError(MarchwardenError):
    """Reading or writing storage failed."""


class ArchiveDamaged(StorageError):
    """Archived bytes are missing or do not match their hash."""


class ReplayDiverged(MarchwardenError):
    """A rerun needed a step that is not in the trace."""


class Busy(MarchwardenError):
    """The server has no capacity or quota for this call. A retry after `seconds` may succeed."""

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(f"{reason}: try again in {seconds} seconds")
        self.seconds = seconds


class ResearcherUnavailable(MarchwardenError):
    """A remote researcher crashed, timed out, sent too large an answer or violated the contract."""
