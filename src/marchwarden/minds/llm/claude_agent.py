"""Call Claude through its agent SDK, for users with a subscription but no API key. One turn, no tools.

The SDK is an extra and is imported on first use. It adds its own text to a request and has no exact token limit:
its reported usage is charged, and `frame_tokens` reserves room for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from marchwarden.core.notebook import Usage
from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.model import Completion, ModelFailed, Request, Stop

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

INSTALL: Final = "pip install 'marchwarden[claude-agent]'"
FRAME_TOKENS: Final = 1_500
TOO_MANY: Final = 429
SERVER_ERRORS: Final = 500
_STOPS: Final[Mapping[str, Stop]] = {
    "": "complete",
    "end_turn": "complete",
    "stop_sequence": "complete",
    "max_tokens": "cut",
    "refusal": "refused",
}


@dataclass(frozen=True)
class ClaudeAgentModel:
    """A Claude model. An empty `model` means the subscription's default, an empty `program` that of the SDK."""

    model_id: str
    model: str = ""
    program: str = ""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    frame_tokens: int = FRAME_TOKENS
    repeats_shape: bool = False

    async def ready(self) -> None:
        await to_thread.run_sync(import_module, "claude_agent_sdk")

    async def complete(self, request: Request, max_tokens: int, seconds: float) -> Completion:
        from claude_agent_sdk import ClaudeSDKError, ResultMessage, query

        # Run in an empty folder, so that the caller's files are out of reach even if tools were enabled.
        with TemporaryDirectory(prefix="marchwarden-") as folder:
            result: ResultMessage | None = None
            try:
                async for message in query(
                    prompt=request.prompt_with_schema, options=self._options(request, max_tokens, folder)
                ):
                    result = message if isinstance(message, ResultMessage) else result
            except ClaudeSDKError as error:
                if result is None:
                    raise ModelFailed("the Claude program failed; is it logged in?", billed=True) from error
        if result is None:
            raise ModelFailed("the Claude program gave no answer", billed=True, garbled=True)
        return _completion(result)

    def _options(self, request: Request, max_tokens: int, folder: str) -> "ClaudeAgentOptions":
        from claude_agent_sdk import ClaudeAgentOptions

        return ClaudeAgentOptions(
            system_prompt=request.instructions,
            tools=[],
            allowed_tools=[],
            mcp_servers={},
            strict_mcp_config=True,
            setting_sources=[],
            permission_mode="dontAsk",
            max_turns=1,
            model=self.model or None,
            cli_path=self.program or None,
            cwd=folder,
            env={**self.environ, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens), "MAX_THINKING_TOKENS": "0"},
        )


def build_agent(spec: str, environ: Mapping[str, str]) -> ClaudeAgentModel:
    """Build the model for `claude-agent` or `claude-agent:MODEL`. MARCHWARDEN_CLAUDE overrides the SDK's program."""
    if find_spec("claude_agent_sdk") is None:
        raise InvalidInput(f"the model {spec} needs the claude-agent extra: {INSTALL}")
    return ClaudeAgentModel(spec, spec.partition(":")[2], environ.get("MARCHWARDEN_CLAUDE", ""))


def _completion(result: "ResultMessage") -> Completion:
    if result.is_error:
        status = result.api_error_status or 0
        raise ModelFailed(
            f"the Claude program reports an error ({status or result.subtype})",
            retry=status == TOO_MANY or status >= SERVER_ERRORS,
            billed=_usage(result) is not None,
        )
    stop = _STOPS.get(result.stop_reason or "", "unknown")
    return Completion(result.result or "", stop, _usage(result))


def _usage(result: "ResultMessage") -> Usage | None:
    counted = result.usage or {}

    def count(name: str) -> int:
        value = counted.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    usage = Usage(
        input=count("input_tokens"),
        output=count("output_tokens"),
        cache_read=count("cache_read_input_tokens"),
        cache_write=count("cache_creation_input_tokens"),
    )
    return usage if usage.tokens else None
