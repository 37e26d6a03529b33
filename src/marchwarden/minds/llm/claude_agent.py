"""Call Claude through its agent SDK, for users with a subscription but no API key. One request, no tools.

The SDK is an extra and is imported on first use. It runs the Claude Code program, which adds its own text to a request:
the usage it reports is charged, and `frame_tokens` reserves room for that text. `claude_answer` reads the answer.
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, cast

from anyio import to_thread

from marchwarden.errors import InvalidInput
from marchwarden.minds.llm.claude_answer import Answer, permanent_failure
from marchwarden.minds.llm.model import Completion, ModelFailed, Request

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Message

INSTALL: Final = "pip install 'marchwarden[claude-agent]'"
FRAME_TOKENS: Final = 600
"""Upper bound for the text that the program adds: its name and version, the folder, the platform, the model, the date.

Measured with Claude Code 2.1.327 on Linux: 1,103 characters, which is 250 to 330 tokens, and at most 510 by `estimate`.
The rest is for longer paths and names. `tests/minds/llm/test_claude_program.py` measures it again.
"""
ONE_REQUEST_USD: Final = 1e-6
"""The program stops when its requests cost more than this, which is after the first one.

Without it, the program repeats or continues requests on its own: it sends three more if an answer is cut.
"""
STOPPED: Final = "the Claude program stopped without an answer; MARCHWARDEN_LOG_LEVEL=DEBUG shows what it wrote"
REQUEST_TIME_SHARE: Final = 0.7
"""Share of the time limit for the request, so that the program ends in time by itself. The SDK needs 5 s to stop it."""
CANNOT_START: Final = "the Claude program could not be started: reinstall it, or correct MARCHWARDEN_CLAUDE"
PASSED_PREFIXES: Final = ("ANTHROPIC_", "CLAUDE_")
_ENVIRONMENT: Final[Mapping[str, str]] = {
    # Requests without use here: to name the session, for telemetry, retries, a second try without streaming.
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    # A prompt is used once, so writing it to the provider's cache only costs more.
    "DISABLE_PROMPT_CACHING": "1",
    "MAX_THINKING_TOKENS": "0",
    # Documents may contain `@/path`. The program would read that file and send it. `verbatim_prompts` also prevents it.
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
}

_log: Final = logging.getLogger(__name__)


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
        """Run the program once, in an empty folder: the caller's files stay out of reach even if tools were enabled."""
        with TemporaryDirectory(prefix="marchwarden-", ignore_cleanup_errors=True) as folder:
            options = self._options(request, max_tokens, seconds, folder)
            answer = await _run(request.prompt_with_schema, options)
        return answer.completion()

    def _options(self, request: Request, max_tokens: int, seconds: float, folder: str) -> "ClaudeAgentOptions":
        from claude_agent_sdk import ClaudeAgentOptions

        return ClaudeAgentOptions(
            system_prompt=request.instructions,
            tools=[],
            allowed_tools=[],
            skills=[],
            mcp_servers={},
            strict_mcp_config=True,
            setting_sources=[],
            permission_mode="dontAsk",
            verbatim_prompts=True,
            max_turns=1,
            max_budget_usd=ONE_REQUEST_USD,
            model=self.model or None,
            cli_path=self.program or None,
            cwd=folder,
            stderr=_log_stderr,
            # A saved session would keep the prompt, and with it the text of documents, in the home folder.
            extra_args={"no-session-persistence": None, "safe-mode": None},
            env={
                **self.environ,
                **_ENVIRONMENT,
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
                "API_TIMEOUT_MS": str(int(seconds * REQUEST_TIME_SHARE * 1_000)),
            },
        )


def build_agent(spec: str, environ: Mapping[str, str]) -> ClaudeAgentModel:
    """Build the model for `claude-agent` or `claude-agent:MODEL`. MARCHWARDEN_CLAUDE overrides the SDK's program."""
    if find_spec("claude_agent_sdk") is None:
        raise InvalidInput(f"the model {spec} needs the claude-agent extra: {INSTALL}")
    passed = {name: value for name, value in environ.items() if name.startswith(PASSED_PREFIXES)}
    return ClaudeAgentModel(spec, spec.partition(":")[2], environ.get("MARCHWARDEN_CLAUDE", ""), passed)


async def _run(prompt: str, options: "ClaudeAgentOptions") -> Answer:
    """Run the program and collect its messages. It exits with an error after a result that reports one."""
    from claude_agent_sdk import ClaudeSDKError, CLIConnectionError, query

    answer = Answer()
    try:
        async with aclosing(cast("AsyncGenerator[Message]", query(prompt=prompt, options=options))) as messages:
            async for message in messages:
                answer.add(message)
    except ClaudeSDKError as error:
        _log.debug("the Claude program failed", exc_info=True)
        if not answer.started and isinstance(error, CLIConnectionError):
            raise permanent_failure(CANNOT_START) from error
        if answer.result is None:
            raise ModelFailed(STOPPED, billed=True) from error
    return answer


def _log_stderr(line: str) -> None:
    _log.debug("the Claude program wrote to stderr: %s", line)
