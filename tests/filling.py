"""One run with a limited file size, as on a full disk. `python -m tests.filling FOLDER BYTES`."""

import resource
import sys
from pathlib import Path

import anyio

from tests.investigating import QUESTION, an_investigator


def main() -> None:
    investigator = an_investigator(Path(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    result = anyio.run(investigator.research, QUESTION)
    print(" ".join(result.answer.split()), result.trace_complete)


if __name__ == "__main__":
    main()
