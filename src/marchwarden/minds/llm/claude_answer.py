"""Read the messages of the Claude program: the answer, what it cost, and why there is none.

Imports the SDK on first use. Never matches on the program's prose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from marchwarden.core.notebook import Usage
from marchwarden.minds.llm.model import Completion, ModelFailed, Stop

if TYPE_CHECKING:
    from claude_agent_sdk import AssistantMessage, Message, ResultMessage

OUT_OF_BUDGET: Final = "error_max_budget_usd"
"""How the program ends after our limit of one request. The answer is complete."""
REFUSED: Final = "model_refusal"
"""The messages of the program about a refusal start with this. Its result then names no reason to stop."""
TOO_MANY: Final = 429
SERVER_ERRORS: Final = 500
LOG_IN: Final = "run `claude` and then `/login`, or set CLAUDE_CODE_OAUTH_TOKEN or ANTHROPIC_API_KEY"
_PERMANENT: Final[Mapping[str, str]] = {
    "authentication_failed": f"Claude is not logged in, or rejected the login or API key: {LOG_IN}",
    "oauth_org_not_allowed": "your organization does not allow Claude Code with this login: use another account",
    "model_not_found": "Claude has no such model, or your plan does not include it: choose another with --model",
    "billing_error": "the Claude account has no credit left: add credit, or choose another model with --model",
}
_PERMANENT_STATUS: Final[Mapping[int, str]] = {
    401: "authentication_failed",
    402: "billing_error",
    403: "authentication_failed",
    404: "model_not_found",
}
_USAGE: Final = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MODEL_USAGE: Final = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
_STOPS: Final[Mapping[str, Stop]] = {
    "": "complete",
    "end_turn": "complete",
    "stop_sequence": "complete",
    "max_tokens": "cut",
    "refusal": "refused",
}


@dataclass
class Answer:
    """The messages of one run of the program so far."""

    result: "ResultMessage | None" = None
    problem: str = ""
    started: bool = False
    refused: bool = False
    _texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, message: "Message") -> None:
        from claude_agent_sdk import AssistantMessage, ResultMessage, SystemMessage

        self.started = True
        match message:
            case AssistantMessage():
                self._add_text(message)
            case ResultMessage():
                self.result = message
            case SystemMessage():
                self.refused = self.refused or str(message.subtype).startswith(REFUSED)

    def _add_text(self, message: "AssistantMessage") -> None:
        from claude_agent_sdk import TextBlock

        if message.error:
            # The program's own words about an error, not the model's.
            self.problem = message.error
            return
        texts = self._texts.setdefault(message.message_id or "", [])
        texts.extend(block.text for block in message.content if isinstance(block, TextBlock) and block.text)

    @property
    def text(self) -> str:
        """The text of the last message of the model. Earlier messages are attempts that the program gave up."""
        return "".join(next(reversed(self._texts.values()), []))

    def completion(self) -> Completion:
        """Return the answer and its cost. Raises `ModelFailed` if there is none."""
        if self.result is None:
            raise ModelFailed("the Claude program gave no answer", billed=True, garbled=True)
        if self.problem or (self.result.is_error and self.result.subtype != OUT_OF_BUDGET):
            raise self._failure(self.result)
        if self.result.subtype == OUT_OF_BUDGET and not (self.refused or self.result.stop_reason):
            # The count ends where the answer breaks off, so it is too low.
            raise ModelFailed("the connection to Claude was lost", billed=True)
        stop = "refused" if self.refused else _STOPS.get(self.result.stop_reason or "", "unknown")
        return Completion(self.text or str(self.result.result or ""), stop, _usage(self.result))

    def _failure(self, result: "ResultMessage") -> ModelFailed:
        status = result.api_error_status or 0
        permanent = _PERMANENT.get(self.problem) or _PERMANENT.get(_PERMANENT_STATUS.get(status, ""))
        if permanent:
            return permanent_failure(f"{permanent} ({status})" if status else permanent)
        retry = status == TOO_MANY or status >= SERVER_ERRORS
        reason = status or self.problem or result.terminal_reason or result.subtype
        # A response with an error status is free. Without one, the connection broke and the answer may be on the bill.
        billed = not status or _usage(result) is not None
        return ModelFailed(f"the Claude program reports an error ({reason})", retry=retry, billed=billed)


def permanent_failure(detail: str) -> ModelFailed:
    """Return the failure of a request that cannot succeed until the user acts. It is neither retried nor billed."""
    return ModelFailed(detail, permanent=True)


def _usage(result: "ResultMessage") -> Usage | None:
    """Return the tokens of all requests to all models, or those of the conversation. None if nothing is reported."""
    totals = [_count(each, _MODEL_USAGE) for each in (result.model_usage or {}).values()]
    usage = sum(totals, Usage()) if totals else _count(result.usage or {}, _USAGE)
    return usage if usage.tokens else None


def _count(counted: Mapping[str, object], names: Sequence[str]) -> Usage:
    values = [counted.get(name) for name in names]
    return Usage(*(value if isinstance(value, int) and value > 0 else 0 for value in values))
