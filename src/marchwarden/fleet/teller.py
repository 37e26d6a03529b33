"""The teller: a process beside a worker that makes its calls to models, and outlives it until their answers are kept.

`python -m marchwarden.fleet.teller FOLDER` reads calls from stdin, a line each, and ends when that ends and the last
answer is kept.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
from anyio import to_thread
from pydantic import ValidationError

from marchwarden.errors import InvalidInput
from marchwarden.fleet.calls import CALL, OUTCOME, Call, Failure, Outcome
from marchwarden.minds.choosing import chosen_model
from marchwarden.minds.llm.model import Model, ModelFailed
from marchwarden.notes import Notes
from marchwarden.store import Store

AT_ONCE: Final = 1000


@dataclass
class Teller:
    """Makes calls. What it sends and what it hears is in the notes before anybody is told."""

    environ: Mapping[str, str]
    notes: Notes
    _models: dict[str, Model] = field(default_factory=dict)

    async def tell(self, call: Call) -> Outcome:
        self.notes.write(f"{call.slot}/sent", b"")
        outcome = await self._outcome(call)
        self.notes.write(f"{call.slot}/answered", OUTCOME.dump_json(outcome))
        return outcome

    async def _outcome(self, call: Call) -> Outcome:
        try:
            with anyio.fail_after(call.seconds):
                return Outcome(await self._model(call.model).complete(call.request, call.max_tokens, call.seconds))
        except TimeoutError:
            return Outcome(failure=Failure(f"no answer within {call.seconds:.1f} s", billed=True))
        except ModelFailed as error:
            return Outcome(failure=Failure(error.detail, error.retry, error.wait, error.billed, error.garbled))
        except InvalidInput as error:
            return Outcome(failure=Failure(str(error)))

    def _model(self, spec: str) -> Model:
        if spec not in self._models:
            model = chosen_model(spec, self.environ)
            if model is None:
                raise InvalidInput(f"{spec} is not a model to be called")
            self._models[spec] = model
        return self._models[spec]

    async def serve(self) -> None:
        """Every line is a call; the last one may be torn, and was then never made."""
        limiter = anyio.CapacityLimiter(AT_ONCE)
        async with anyio.create_task_group() as group:
            while line := await to_thread.run_sync(sys.stdin.buffer.readline, limiter=limiter):
                try:
                    call = CALL.validate_json(line)
                except ValidationError:
                    continue
                group.start_soon(self._answer, call)

    async def _answer(self, call: Call) -> None:
        outcome = await self.tell(call)
        line = f'{{"slot":"{call.slot}","outcome":{OUTCOME.dump_json(outcome).decode()}}}\n'
        # Whoever asked may be dead by now; the answer is kept.
        await to_thread.run_sync(partial(_write, line.encode()))


def _write(line: bytes) -> None:
    try:
        while line:
            line = line[os.write(sys.stdout.fileno(), line) :]
    except OSError:
        pass


def main() -> None:
    store = Store.at(sys.argv[1], os.environ)
    anyio.run(Teller(os.environ, store.notes).serve)


if __name__ == "__main__":
    main()
