"""Sentences that pose a question instead of answering it: `To evaluate whether …`, `The aim of this study was …`.

Those who study something say first what they want to know, mostly in the very words of whoever asks. Knows English and
nothing of documents.
"""

import re
from typing import Final

_INQUIRE: Final = (
    r"(?:evaluat|examin|determin|investigat|assess|test|stud[iy]|explor|ask|clarif|compar|analy[sz]|address|describ"
    r"|document|identif|quantif|measur|elucidat|verif)\w*"
)
_AIM: Final = r"(?:aims?|purposes?|objectives?|goals?)"
_STUDY: Final = (
    r"(?:this|these|the|our) (?:\w+ )?"
    r"(?:stud(?:y|ies)|paper|work|article|review|analysis|research|trial|survey|report|experiments?|investigation)"
)
_TOPIC: Final = r"(?:whether|if|how|the (?:effects?|impact|role|relation\w*|association|influence))"
_OPEN: Final = r"(?:unclear|unknown|uncertain|controversial|debated|questions?|not (?:known|clear|certain))"
_POSES: Final = re.compile(
    "|".join(
        (
            rf"^(?:\W*\w+\W+)?to {_INQUIRE}\b",
            rf"\b{_AIM} of {_STUDY}\b",
            rf"^(?:our|the) (?:\w+ )?{_AIM} (?:is|are|was|were) to\b",
            rf"\b(?:we|{_STUDY}) (?:\w+ )?(?:aim\w*|sought|seeks?|set out|wanted|was (?:designed|undertaken)) to\b",
            rf"\b(?:we|{_STUDY}) (?:\w+ )?{_INQUIRE} {_TOPIC}\b",
            rf"\b{_INQUIRE} whether\b",
            rf"\b{_OPEN} (?:\w+ )?(?:whether|if|how)\b",
            rf"^whether\b.*\b{_OPEN}\b",
        )
    ),
    re.IGNORECASE,
)
_FOUND: Final = re.compile(
    r"\b(?:found|show(?:s|ed|n)?|conclude[sd]?|demonstrate[sd]?|suggest(?:s|ed)?|reveal(?:s|ed)?|observed|confirmed"
    r"|indicate[sd]?|significant(?:ly)?)\b",
    re.IGNORECASE,
)
_ASKS_FOR_AIMS: Final = re.compile(
    rf"\b(?:{_AIM}|hypothes[ie]s|unknown|unclear)\b|\b(?:study|paper|article|trial|research\w*|authors?)\b.*\b{_INQUIRE}",
    re.IGNORECASE,
)


def poses(text: str) -> bool:
    """Whether it says what was to be found out, and nothing of what was found."""
    return _POSES.search(text) is not None and _FOUND.search(text) is None


def asks_for_aims(question: str) -> bool:
    """Whether what others wanted to know is the very thing that is asked for."""
    return _ASKS_FOR_AIMS.search(question) is not None
