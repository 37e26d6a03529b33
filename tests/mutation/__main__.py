"""Try mutants of every kind of external input: `python -m tests.mutation SECONDS [SEED]`.

Each mutant is one complete research run. Prints a line for each kind and each finding, and exits with 1 if there is a
finding. `python -m tests.mutation --only BOUNDARY NUMBER [SEED]` repeats one mutant.
"""

import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.mutation.trials import SEED, Trial, run_one, run_part


def main() -> None:
    match sys.argv[1:]:
        case ["--only", name, number, *rest]:
            trials = run_one(name, int(number), int(rest[0]) if rest else SEED)
        case [seconds, *rest]:
            until, seed = time.monotonic() + float(seconds), int(rest[0]) if rest else SEED
            parts = os.cpu_count() or 1
            with ProcessPoolExecutor(parts, multiprocessing.get_context("spawn")) as pool:
                jobs = [pool.submit(run_part, seed, until, part, parts) for part in range(parts)]
                trials = [trial for job in jobs for trial in job.result()]
        case _:
            sys.exit(__doc__)
    report(trials)


def report(trials: list[Trial]) -> None:
    found = [trial for trial in trials if trial.problems]
    for trial in found:
        print(trial)
    unexpected = [trial for trial in trials if trial.is_unexpected]
    kinds = [
        (name, [each for each in trials if each.boundary == name]) for name in sorted({t.boundary for t in trials})
    ]
    print("kind                mutants  findings  unexpected errors caught")
    for name, tried in [*kinds, ("all", trials)]:
        ours = set(tried)
        print(f"{name:16} {len(tried):10} {len(ours.intersection(found)):9} {len(ours.intersection(unexpected)):25}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
