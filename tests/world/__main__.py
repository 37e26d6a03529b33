"""`python -m tests.world`: the world by hand, until Ctrl-C. Bait and trouble may be asked for by name."""

import argparse
import shlex
import signal

from tests.world.model_orders import Orders
from tests.world.pages import QUESTION
from tests.world.world import World


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--bait", action="append", default=[], help="a page or fault to put on top of every search")
    parser.add_argument("--trouble", default="", help="how every search fails: 401, 432, hang, invalid-json, ...")
    parser.add_argument("--personality", default="competent", help="how the models answer: lazy, hostile, ...")
    parser.add_argument("--model-trouble", default="", help="how every model fails: 529-hour, invalid-json, ...")
    parser.add_argument("--list", action="store_true", help="print the names of pages and faults, and stop")
    asked = parser.parse_args()
    # Blocked before the world's thread exists, so that it is this thread that hears of the end.
    stops = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    with World() as world:
        if asked.list:
            print("pages: ", " ".join(world.pages))
            print("faults:", " ".join(world.faults))
            print("personalities:", " ".join(world.models.personalities))
            print("model troubles:", " ".join(world.models.faults))
            return
        for name, value in world.environ(asked.bait, asked.trouble).items():
            print(f"export {name}={shlex.quote(value)}")
        print(f"\n# without keys, instead of the Tavily lines:\n# export MARCHWARDEN_SEARXNG_URL={world.searxng_url()}")
        print(f"# export MARCHWARDEN_WIKIPEDIA_URL={world.wikipedia_url()}")
        orders = Orders(asked.personality, asked.model_trouble)
        for service in ("anthropic", "openai"):
            print(f"\n# to think with the world's {service} models:")
            for name, value in world.models.environ(service, orders).items():
                print(f"# export {name}={shlex.quote(value)}")
        print(f"\nmarchwarden ask {shlex.quote(QUESTION)} --researcher web\n\n# Ctrl-C stops the world", flush=True)
        signal.sigwait(stops)


if __name__ == "__main__":
    main()
