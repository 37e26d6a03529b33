"""Phrases on access walls, as patterns over normalized text: lower case, `could not` for `couldn't`."""

import re
from typing import Final

_NEGATIONS: Final = ((re.compile(r"\bcan(?:'t|not)\b"), "can not"), (re.compile(r"n't\b"), " not"))
_CONTRACTIONS: Final = (("'re", " are"), ("'m", " am"))


def normalize(text: str) -> str:
    """Normalize text for the patterns in this module."""
    text = text.lower().replace("’", "'")
    for pattern, whole in _NEGATIONS:
        text = pattern.sub(whole, text)
    for short, whole in _CONTRACTIONS:
        text = text.replace(short, whole)
    return text


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases))


HUMAN: Final = _any_of(
    r"(?:verify|confirm|prove|check|checking|make sure|ensure)\b.{0,40}\bare (?:a |an )?"
    r"(?:human|not a (?:ro)?bot|real person)",
    r"(?:i am|are you|you are) (?:not )?a (?:ro)?bot\b",
    r"checking your browser before",
    r"checking if the site connection is secure",
    r"needs to review the security of your connection",
    r"unusual (?:traffic|activity) from your",
    r"complete the (?:captcha|security check|challenge)",
    r"(?:enter|type|solve) the (?:characters|captcha|letters)",
    r"enable javascript and cookies to continue",
    r"pardon our interruption",
    r"^just a moment",
    r"^attention required!",
)
MISSING_TITLE: Final = _any_of(
    r"^\W*(?:error\s*)?404\b",
    r"\b404\b.{0,20}\bnot found",
    r"\b(?:page|file|document|article|site|content|url)\b.{0,25}\bnot (?:be )?found\b",
    r"^\W*not found\b",
    r"\bseite (?:wurde )?nicht gefunden|\bpage (?:introuvable|non trouvée)|\bpágina no encontrada|\bpagina non trovata",
    r"\b(?:page|article|content) (?:no longer (?:exists|available)|(?:is )?(?:missing|unavailable))",
)
MISSING: Final = _any_of(
    r"(?:page|article|file|document|content|url|address)\b.{0,60}\b(?:not (?:be )?found|(?:does|did) not exist|"
    r"no longer (?:exists|available)|has been (?:removed|deleted)|may have (?:been )?(?:moved|removed))",
    r"we (?:could|can) not find (?:the|that|this|your) (?:page|article)",
    r"nothing (?:was found|here)\b.{0,40}\blocation",
)
FORBIDDEN_TITLE: Final = _any_of(
    r"^\W*(?:error\s*)?(?:401|403)\b",
    r"^\W*(?:access (?:denied|to this page has been denied)|forbidden|unauthorized)\b",
)
SUBSCRIBE: Final = _any_of(
    r"(?:subscribe|sign up|register|log ?in|sign ?in|join)\b[^.!?]{0,60}\bto (?:continue|keep|finish) reading",
    r"(?:to|and) (?:continue|keep) reading\b[^.!?]{0,60}\b(?:subscri|sign|log ?in|register|account|membership)",
    r"(?:read|access|unlock|view)\b[^.!?]{0,40}\b(?:full|entire|whole|rest of (?:the|this)|complete|this)\b[^.!?]{0,20}"
    r"\b(?:article|story|text|content)\b[^.!?]{0,60}\b(?:subscri|sign ?in|log ?in|member|purchase|buy|pay)",
    r"(?:subscribe|become a (?:member|subscriber)|purchase|buy|pay)\b[^.!?]{0,60}\b(?:read|access|unlock|view)\b"
    r"[^.!?]{0,30}\b(?:article|story|content|rest)",
    r"(?:article|story|content|page) is (?:only )?(?:available |reserved |exclusive(?:ly)? )?(?:only )?(?:for|to) "
    r"(?:our )?(?:paying |registered )?(?:subscribers|members)",
    r"(?:subscribers?|members?)[ -]only (?:article|content|story)",
    r"(?:reached|used|exceeded|read) (?:all )?(?:of )?your\b[^.!?]{0,30}\bfree (?:articles?|stories|views)",
    r"(?:no|0) free articles (?:left|remaining)",
)
BREAKS_OFF: Final = re.compile(r"(?:\.\.\.|…|\[…\]|\[\.\.\.\])\s*$")
LOG_IN: Final = _any_of(
    r"(?:you (?:must|need to|have to)|please) (?:be logged in|log ?in|sign ?in|be signed in)\b"
    r"(?! to (?:comment|leave|post|reply|vote))",
    r"(?:log|sign) ?in (?:to|with)\b[^.!?]{0,40}\b(?:account|continue|see|view|access|proceed)",
    r"(?:forgot|forgotten|lost)(?: your)? (?:password|username)",
    r"\b(?:login|log-?in|sign-?in|authentication) (?:is )?required",
)
LOG_IN_TITLE: Final = _any_of(r"^\W*(?:log ?-?in|sign ?-?in|log ?on|anmelden|connexion|iniciar sesión)\b")
CONSENT: Final = _any_of(
    r"(?:accept|agree|consent|allow|manage)\b[^.!?]{0,40}\b(?:cookies|tracking|all)\b",
    r"before you continue",
    r"we value your privacy",
    r"we (?:and our|use)\b[^.!?]{0,40}\b(?:cookies|partners)\b",
    r"cookie (?:settings|preferences|policy)|privacy (?:choices|settings)",
)
MUST_CONSENT: Final = _any_of(
    r"(?:accept|agree|consent|enable|allow)\b[^.!?]{0,60}\b(?:to (?:continue|proceed|enter|access|read|view|use))\b",
    r"to (?:continue|proceed|read|access|view|use)\b[^.!?]{0,80}\b(?:accept|agree|consent|enable|allow)\b[^.!?]{0,40}\b"
    r"(?:cookies|tracking|terms)",
    r"before you continue",
    r"we value your privacy",
)
SCRIPTS: Final = _any_of(
    r"(?:enable|turn on|activate|requires?|without|need)\b[^.!?]{0,30}\bjavascript\b",
    r"javascript (?:is|must be|needs to be|has been)\b[^.!?]{0,20}\b(?:required|enabled|disabled|not)",
)
