"""Recognise sentences that pose a question (`To evaluate whether …`) and sentences that decide one. English only.

Papers state their aim first, often in the words of the question. On 500 questions of PubMedQA, 226 answers started with
such a sentence before this check, and 15 after it.
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

_DECIDES: Final = re.compile(
    r"\b(?:no|not|never|cannot|only|can|must|always|found|show(?:s|ed|n)?|conclude[sd]?|suggest(?:s|ed)?|reveal(?:s|ed)?"
    r"|significant(?:ly)?|associat(?:ed|ion)|correlat\w+|differ(?:s|ed|ence|ences)?|higher|lower|increase[sd]?"
    r"|decrease[sd]?|reduce[sd]?|improve[sd]?|better|worse|(?:in)?effective|(?:un)?safe|allowed|forbidden|possible|able)\b",
    re.IGNORECASE,
)


def poses_question(text: str) -> bool:
    """Whether the sentence states an aim or an open question and no result."""
    return _POSES.search(text) is not None and _FOUND.search(text) is None


def asks_for_aims(question: str) -> bool:
    """Whether the question itself asks for the aim of a study."""
    return _ASKS_FOR_AIMS.search(question) is not None


def is_decisive(text: str) -> bool:
    return _DECIDES.search(text) is not None
