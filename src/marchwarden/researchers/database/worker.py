"""The process that speaks to the database: `python -m marchwarden.researchers.database.worker`. The third wall.

Reads one job from standard input, answers it on standard output, and is gone. It can write no file, has only so much
memory, and dies of its alarm; whoever started it kills it besides.
"""

import json
import math
import os
import resource
import signal
import sys
import time
from dataclasses import asdict
from typing import Final

from marchwarden.researchers.database.cells import kept
from marchwarden.researchers.database.engines import Opened, opened
from marchwarden.researchers.database.jobs import Engine, Errand, Job, Limits, Outcome, Reason, Refusal, Refused, Target
from marchwarden.researchers.database.models import Schema
from marchwarden.researchers.database.sampling import Sampler

GRACE_SECONDS: Final = 1.0
SHARE_FOR_SAMPLES: Final = 0.7
_LONGEST_DETAIL: Final = 300


def answered(job: Job) -> Outcome:
    try:
        return _answered(job)
    except Refused as refused:
        return Outcome(refusal=Refusal(_told(refused.detail, job.target), refused.reason))
    except MemoryError:
        return Outcome(refusal=Refusal("it needs too much memory", Reason.TOO_MUCH))
    except ImportError as error:
        missing = f"its driver is not installed ({error.name}): pip install 'marchwarden[database]'"
        return Outcome(refusal=Refusal(missing, Reason.UNREACHABLE))
    except OSError as error:
        return Outcome(refusal=Refusal(f"it cannot be opened ({type(error).__name__})", Reason.UNREACHABLE))


def _answered(job: Job) -> Outcome:
    database = opened(job.target, job.limits.seconds, job.limits.memory)
    try:
        if job.errand is Errand.SCHEMA:
            return Outcome(schema=_schema(database, job.limits), notices=database.notices)
        sql = _checked(job.sql, database)
        if job.errand is Errand.CHECK:
            return Outcome(sql=sql)
        # One row more than wanted tells whether there are more.
        columns, rows = database.rows(sql, job.limits.rows + 1, job.limits.seconds)
        return Outcome(sql=sql, rows=kept(columns, rows, job.limits.rows, job.limits.size))
    finally:
        database.close()


def _checked(sql: str, database: Opened) -> str:
    # Half of what starting this process takes, which a look at the schema does without.
    from marchwarden.researchers.database.sql_guard import checked  # noqa: PLC0415 - see above

    return checked(sql, database.dialect, database.relations())


def _schema(database: Opened, limits: Limits) -> Schema:
    deadline = time.monotonic() + limits.schema_seconds * SHARE_FOR_SAMPLES
    sampler = Sampler(database, database.quoted, deadline)
    return Schema(database.dialect, tuple(sampler.sampled(table) for table in database.tables()))


def _told(detail: str, target: Target) -> str:
    """On one line, and without the password, whoever repeated it."""
    hidden = detail.replace(target.password, "***") if target.password else detail
    return " ".join(hidden.split())[:_LONGEST_DETAIL]


def _job(request: bytes) -> Job:
    """Believed as it is: it comes from the process that started this one."""
    said = json.loads(request)
    target = Target(Engine(said["target"]["engine"]), said["target"]["address"], said["target"]["password"])
    return Job(Errand(said["errand"]), target, Limits(**said["limits"]), said["sql"])


def _confine(limits: Limits, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    processor = math.ceil(seconds + GRACE_SECONDS) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
    # The alarm's default action ends the process wherever it is, in an engine's code too.
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)


def main() -> None:
    job = _job(sys.stdin.buffer.read())
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A driver that prints must not speak on the answers' pipe.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _confine(job.limits, job.limits.schema_seconds if job.errand is Errand.SCHEMA else job.limits.seconds)
    answers.write(json.dumps(asdict(answered(job)), ensure_ascii=True).encode())
    answers.flush()


if __name__ == "__main__":
    main()
