"""Detect prompt injection: sentences that instruct a model. They stay evidence text but never become an answer.

The patterns are narrow: a text may talk *about* prompts and assistants. Only sentences addressed *to* one count.
"""

import re
from functools import lru_cache
from typing import Final

from marchwarden.text.sanitize import visible

CACHE_SIZE: Final = 10_000
"""Number of cached sentences. The same ones are checked in every round."""

_INSTRUCTIONS: Final = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|bypass)\ (?:all|any|the|your|my|these|those|previous|prior|every\w*|what)\b
        [^.]{0,40}(?:\b(?:instruct\w*|prompts?|rules|guidelines|above|previous|prior)\b|$)
    | \b(?:from\ now\ on|henceforth),?\ (?:you|respond|answer|reply|act)\b
    | \byou\ (?:are\ now|will\ now|must\ now|are\ no\ longer|are\ going\ to\ (?:act|pretend))\b
    | \byou\ (?:must|should|will|shall|are\ to|have\ to|need\ to)\ (?:have\ to\ )?(?:always\ |never\ |only\ )?
        (?:answer|respond|reply|say|output|print|recommend|tell\ the\ user|act\ as|pretend|comply|role-?play|
           speak\ to\ me)\b
    | \b(?:i|we)\ (?:want|need|ask|direct|order|command)\ you\ to\ (?:answer|respond|reply|act|pretend|role-?play)\b
    | \b(?:in|into|to|of|from|with|at\ the\ end\ of)\ your\ (?:next\ )?(?:answer|response|reply|output|summary)\b
    | \b(?:alter|augment|begin|change|encode|end|enhance|extend|format|limit|modify|provide|render|rewrite|start|write)
        \ your\ (?:next\ )?(?:answer|response|reply|message|output|summary)\b
    | \b(?:answer|respond\ to|reply\ to)\ (?:every|all|each|any|my)\ (?:\w+\ )?prompts?\b
    | \b(?:instead|always|just|simply|only|instructions?\ and)\ (?:answer|respond|reply|say|report|state|tell)\b
    | \bthe\ only\ (?:correct|right|valid|allowed|acceptable)\ (?:answer|response|reply|output)\ is\b
    | \b(?:dear|hello|hey|hi|attention),?\ (?:ai|llm|assistants?|chatgpt|claude|gpt|language\ models?|agents?|bots?)\b
    | \b(?:as|act\ as|pretend\ to\ be|you\ are)\ (?:an?\ )?(?:ai|llm|assistant|chatgpt|language\ model|dan)\b
    | \b(?:your|the|new)\ system\ (?:prompt|message)\b
    | [(\[#]\ ?system[_ ](?:prompt|message)\b
    | </?(?:system|information|instructions?|assistant|user)>
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A topic before a colon ("The main span: answer that ...") does not make an instruction a statement.
_IMPERATIVE: Final = re.compile(
    r"(?:^|[:;]\s)\W*(?:please\s+|now\s+|important:?\s+|todo:?\s+)*(?:"
    r"(?:answer|respond|reply|say|state|tell|conclude|output|print|repeat|reveal)\s+"
    r"(?:that|only|with|as|yes|no|the user|your)\b"
    r"|act (?:as|like)\b"
    r"|(?:assume|adopt|take on) the (?:persona|role|identity) of\b"
    r"|(?:send|fetch|visit|open|go to|download|click)\b.*\bhttps?:)",
    re.IGNORECASE,
)


@lru_cache(maxsize=CACHE_SIZE)
def is_injection(text: str) -> bool:
    """Whether a sentence tells its reader what to answer or do instead of stating something.

    Invisible characters do not count: a model and a reader see through them.
    """
    text = visible(text)
    return _INSTRUCTIONS.search(text) is not None or _IMPERATIVE.search(text) is not None
