"""Sentences that give orders to whoever reads by machine. They are data like all else, but never an answer.

Cautious: a text may well speak *about* prompts and assistants. Only what speaks *to* one is meant.
"""

import re
from typing import Final

_ORDERS: Final = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\ (?:all|any|the|your|my|these|those|previous|prior|every\w*|what)\b
        [^.]{0,40}(?:\b(?:instruct\w*|prompts?|rules|guidelines|above|previous|prior)\b|$)
    | \b(?:from\ now\ on|henceforth),?\ (?:you|respond|answer|reply|act)\b
    | \byou\ (?:are\ now|will\ now|must\ now|are\ no\ longer|are\ going\ to\ (?:act|pretend))\b
    | \byou\ (?:must|should|will|shall|have\ to|need\ to)\ (?:always\ |never\ |only\ )?
        (?:answer|respond|reply|say|output|print|recommend|tell\ the\ user|act\ as|pretend|comply)\b
    | \b(?:in|into|to|of|with|at\ the\ end\ of)\ your\ (?:next\ )?(?:answer|response|reply|output|summary)\b
    | \b(?:instead|always|just|simply|only|instructions?\ and)\ (?:answer|respond|reply|say|report|state|tell)\b
    | \b(?:dear|hello|hey|hi|attention),?\ (?:ai|llm|assistants?|chatgpt|claude|gpt|language\ models?|agents?|bots?)\b
    | \b(?:as|act\ as|pretend\ to\ be|you\ are)\ (?:an?\ )?(?:ai|llm|assistant|chatgpt|language\ model|dan)\b
    | \b(?:your|the|new)\ system\ (?:prompt|message)\b
    | </?(?:system|information|instructions?|assistant|user)>
    """,
    re.IGNORECASE | re.VERBOSE,
)
_IMPERATIVE: Final = re.compile(
    r"^\W*(?:please\s+|now\s+|important:?\s+|todo:?\s+)*(?:"
    r"(?:answer|respond|reply|say|state|tell|conclude|output|print|repeat|reveal)\s+"
    r"(?:that|only|with|as|yes|no|the user|your)\b"
    r"|(?:send|fetch|visit|open|go to|download|click)\b.*\bhttps?:)",
    re.IGNORECASE,
)


def is_order(text: str) -> bool:
    """Whether a sentence tells its reader what to answer or to do, instead of stating something."""
    return _ORDERS.search(text) is not None or _IMPERATIVE.match(text) is not None
