"""Punctuation of sentences in all scripts, for character classes."""

from typing import Final

from marchwarden.text.scripts import LOWER, UPPER

STRONG: Final = "。！？｡।॥؟۔።။។᙮"
"""Ends of sentences that are never part of an abbreviation, and that no space needs to follow."""
ENDS: Final = f".!…{STRONG}"
QUESTION_MARKS: Final = "?？؟;"
CLOSING: Final = "\"'”’“»›)\\]*_`」』）】》〉"
"""Characters that may follow the final punctuation mark of a sentence."""
PAUSES: Final = ";:,，、；：،؛"
UNCASED_LETTER: Final = rf"[^\W\d_{UPPER}{LOWER}]"
"""A letter of a script without capitals."""
