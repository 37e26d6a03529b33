"""`SPEC` of the RSS researcher."""

from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.core.inputs import Inputs
from marchwarden.researchers.spec import BuildContext, InputOption, ResearcherSpec, SourceDescription

if TYPE_CHECKING:
    from marchwarden.loop.investigator import Investigator
    from marchwarden.settings import Settings


def describe(inputs: Inputs, _settings: "Settings") -> SourceDescription:
    return {"feeds": [str(Path(feed).absolute()) for feed in inputs["feeds"]]}


def build(inputs: Inputs, context: BuildContext) -> "Investigator":
    return from_trace(describe(inputs, context.settings), context)


def from_trace(description: SourceDescription, context: BuildContext) -> "Investigator":
    from marchwarden.loop.investigator import Investigator
    from marchwarden.minds.extractive import ExtractiveMind
    from tests.researchers.toy_rss.source import FeedSource

    source = FeedSource(SPEC.trace_inputs(description)["feeds"])
    return Investigator(source, context.mind, store=context.store, fallback=ExtractiveMind(), name=SPEC.kind)


SPEC = ResearcherSpec(
    kind="rss",
    purpose="Answers from RSS files.",
    inputs=(
        InputOption(
            name="feeds",
            flag="--feed",
            metavar="PATH",
            help="RSS file to answer from; repeatable.",
            label="Feeds to read",
            is_path=True,
            must_exist=True,
        ),
    ),
    describe=describe,
    build=build,
    from_trace=from_trace,
)
