"""The child process that accesses the database: `python -m marchwarden.researchers.database.worker`.

Third layer of protection. Reads one job from stdin, writes the outcome to stdout and exits. It cannot write files, its
memory is limited, and an alarm ends it after its time limit. The parent kills it too.
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

from marchwarden.researchers.database.cells import to_result_rows
from marchwarden.researchers.database.engines import OpenDatabase, open_database
from marchwarden.researchers.database.jobs import (
    DatabaseJob,
    Engine,
    JobKind,
    JobOutcome,
    QueryLimits,
    QueryRefused,
    Reason,
    Refusal,
    Target,
)
from marchwarden.researchers.database.models import Schema
from marchwarden.researchers.database.sampling import Sampler

GRACE_SECONDS: Final = 1.0
SHARE_FOR_SAMPLES: Final = 0.7
_MAX_DETAIL_LENGTH: Final = 300


def execute_job(job: DatabaseJob) -> JobOutcome:
    try:
        return _execute(job)
    except QueryRefused as error:
        return JobOutcome(refusal=Refusal(_redact(error.detail, job.target), error.reason))
    except MemoryError:
        return JobOutcome(refusal=Refusal("the statement needs too much memory", Reason.TOO_MUCH))
    except ImportError as error:
        missing = f"the driver {error.name} is not installed: pip install 'marchwarden[database]'"
        return JobOutcome(refusal=Refusal(missing, Reason.UNREACHABLE))
    except OSError as error:
        return JobOutcome(
            refusal=Refusal(f"the database cannot be opened ({type(error).__name__})", Reason.UNREACHABLE)
        )


def _execute(job: DatabaseJob) -> JobOutcome:
    database = open_database(job.target, job.limits.seconds, job.limits.memory)
    try:
        if job.kind is JobKind.SCHEMA:
            return JobOutcome(schema=_read_schema(database, job.limits), notices=database.notices)
        sql = _check_sql(job.sql, database)
        if job.kind is JobKind.CHECK:
            return JobOutcome(sql=sql)
        # One extra row shows whether there are more.
        columns, rows = database.rows(sql, job.limits.rows + 1, job.limits.seconds)
        return JobOutcome(sql=sql, rows=to_result_rows(columns, rows, job.limits.rows, job.limits.size))
    finally:
        database.close()


def _check_sql(sql: str, database: OpenDatabase) -> str:
    # Importing the SQL parser takes half of the start-up time. Reading the schema does not need it.
    from marchwarden.researchers.database.sql_guard import check_sql  # noqa: PLC0415 - see above

    return check_sql(sql, database.dialect, database.relations())


def _read_schema(database: OpenDatabase, limits: QueryLimits) -> Schema:
    deadline = time.monotonic() + limits.schema_seconds * SHARE_FOR_SAMPLES
    sampler = Sampler(database, database.quote_name, deadline)
    return Schema(database.dialect, tuple(sampler.sample(table) for table in database.tables()))


def _redact(detail: str, target: Target) -> str:
    """Make a message one line and hide the password, in case a driver repeats it."""
    hidden = detail.replace(target.password, "***") if target.password else detail
    return " ".join(hidden.split())[:_MAX_DETAIL_LENGTH]


def _parse_job(request: bytes) -> DatabaseJob:
    """Parse a job without validation: it comes from the parent process."""
    fields = json.loads(request)
    target = Target(Engine(fields["target"]["engine"]), fields["target"]["address"], fields["target"]["password"])
    return DatabaseJob(JobKind(fields["kind"]), target, QueryLimits(**fields["limits"]), fields["sql"])


def _confine(limits: QueryLimits, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    cpu_seconds = math.ceil(seconds + GRACE_SECONDS) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    # The default action of the alarm ends the process even inside native code of an engine.
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)


def main() -> None:
    job = _parse_job(sys.stdin.buffer.read())
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # A driver that prints must not write to the output pipe.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _confine(job.limits, job.limits.schema_seconds if job.kind is JobKind.SCHEMA else job.limits.seconds)
    output.write(json.dumps(asdict(execute_job(job)), ensure_ascii=True).encode())
    output.flush()


if __name__ == "__main__":
    main()
