"""Run the test world until Ctrl-C: `python -m tests.world`. Pages and faults can be selected by name."""

import argparse
import shlex
import signal

from tests.world.model_options import ModelOptions
from tests.world.model_services import KEYS
from tests.world.pages import QUESTION
from tests.world.world import World


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--bait", action="append", default=[], help="page or fault to return first for every search")
    parser.add_argument("--trouble", default="", help="fault of every search: 401, 432, hang, invalid-json, ...")
    parser.add_argument("--personality", default="competent", help="behaviour of the models: lazy, hostile, ...")
    parser.add_argument("--model-trouble", default="", help="fault of every model call: 529-hour, invalid-json, ...")
    parser.add_argument("--list", action="store_true", help="print the names of pages and faults and exit")
    arguments = parser.parse_args()
    # Blocked before the world starts its thread, so that this thread receives the signal.
    stops = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    with World() as world:
        if arguments.list:
            print("pages: ", " ".join(world.pages))
            print("faults:", " ".join(world.faults))
            print("personalities:", " ".join(world.models.personalities))
            print("model troubles:", " ".join(world.models.faults))
            return
        for name, value in world.environ(arguments.bait, arguments.trouble).items():
            print(f"export {name}={shlex.quote(value)}")
        print(f"\n# without keys, instead of the Tavily lines:\n# export MARCHWARDEN_SEARXNG_URL={world.searxng_url()}")
        print(f"# export MARCHWARDEN_WIKIPEDIA_URL={world.wikipedia_url()}")
        options = ModelOptions(arguments.personality, arguments.model_trouble)
        for service in KEYS:
            print(f"\n# to use the world's {service} models:")
            for name, value in world.models.environ(service, options).items():
                print(f"# export {name}={shlex.quote(value)}")
        print(f"\nmarchwarden ask {shlex.quote(QUESTION)} --researcher web\n\n# Ctrl-C stops the world", flush=True)
        signal.sigwait(stops)


if __name__ == "__main__":
    main()
