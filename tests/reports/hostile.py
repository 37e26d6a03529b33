"""A collection of attacks on pages, and a run that contains them in every field."""

import os
from collections.abc import Sequence

from marchwarden.contract import DiscoveryEvent, Dispatch, Gap, GapCategory, OpenQuestion
from tests.reports.payloads import payloads
from tests.reports.samples import SampleCitation, SampleRun
from tests.researchers.web import test_injection
from tests.researchers.web.test_injection import ATTACKS, CORPUS, MARKUP

NOBODY = "http://127.0.0.1:9"
IN_A_RUN = 260


def attacks() -> list[str]:
    """Two thousand payloads that try to run, load or navigate, instructions to models, and an optional corpus."""
    orders = [text.replace("site://trap", NOBODY) for text in (*ATTACKS.values(), *MARKUP.values())]
    corpus = test_injection.payloads() if CORPUS in os.environ else []
    return [each for each in (*payloads(2000), *orders, *corpus) if each.strip()]


def some_attacks() -> list[str]:
    """Every seventh attack, which covers all escapes and actions. All of them if MARCHWARDEN_EVERY_ATTACK is set."""
    all_of_them = "MARCHWARDEN_EVERY_ATTACK" in os.environ or CORPUS in os.environ
    return attacks()[:: 1 if all_of_them else 7]


def batches(strings: Sequence[str], size: int = IN_A_RUN) -> list[Sequence[str]]:
    return [strings[at : at + size] for at in range(0, len(strings), size)]


def hostile(strings: Sequence[str]) -> SampleRun:
    """A run with these strings as its answer, titles, excerpts, file names, addresses and everything else."""
    spoken = [each for each in strings if each.strip()]
    return SampleRun(
        answer="\n\n".join(f"{each} [{number}]" for number, each in enumerate(spoken, 1)),
        cited=[
            SampleCitation(
                each if number % 3 else f"https://example.org/{number}/{each}",
                each[:500],
                each,
                before=each,
                after=each,
                researcher=spoken[0],
            )
            for number, each in enumerate(spoken)
        ],
        gaps=[Gap(topic=each, category=GapCategory.ACCESS_DENIED, detail=each) for each in spoken],
        discoveries=[
            DiscoveryEvent(type=each, suggested_researcher=each, query=each, reason=each, source_locator=each)
            for each in spoken
        ],
        questions=[OpenQuestion(question=each, context=each, priority=each, source_locator=each) for each in spoken],
        dispatches=[Dispatch(researcher=each, question=each, reason=each, outcome=each) for each in spoken],
        question=asked(spoken[0]),
        researcher=spoken[0],
        searches=spoken[:40],
    )


def asked(text: str) -> str:
    """Turn the string into a valid question: not too long and without NUL."""
    return text[:400].replace("\x00", "")
