"""Words and what they mean to any schema: other names for common things, and words that name nothing."""

from typing import Final

from marchwarden.text.words import STOP_WORDS

# What people call things that a column is named otherwise after; the likeliest name first.
_SYNONYMS: Final = """
    people:population person:population inhabitant:population citizen:population resident:population
    height:altitude,elevation elevation:altitude,height altitude:elevation,height
    neighbor:border neighbour:border adjacent:border adjoin:border surround:border cross:traverse
    amount:total,price,value sales:total,amount revenue:total,amount,price spending:total,amount cost:price
    town:city nation:country client:customer staff:employee worker:employee movie:film song:track score:rating
    surname:last-name telephone:phone zip:postal-code
"""
SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    word: tuple(meant.replace("-", " ").split(","))
    for word, _, meant in (entry.partition(":") for entry in _SYNONYMS.split())
}

# Countries that go by many names.
ALIASES: Final[tuple[frozenset[str], ...]] = (
    frozenset({"usa", "us", "u s", "u s a", "united states", "united states of america", "america"}),
    frozenset({"uk", "u k", "united kingdom", "great britain", "britain"}),
)

# Words of column names that say what sort of thing is written there, not of what.
ROLES: Final = frozenset(
    {"name", "id", "num", "number", "count", "no", "code", "date", "key", "title", "type", "value"}
)

# Words of names that name nothing by themselves: `last name` is not the last.
_NAMELESS: Final = "first last is has to by at in on of min max new old other"
NAMELESS: Final = frozenset(_NAMELESS.split())

# Words that join what a question speaks of without naming anything a schema would hold.
_LIGHT: Final = """
    located locate location live lives living lie lies lay flow flows flowing run runs running go goes pass passes
    belong belongs serve serves serving offer offers have has write wrote written writes publish published present
    presented receive received associated associate related relate corresponding respective respectively make made
    makes place placed contain contains contained include includes including exist exists there find found come comes
    work works working hold holds held own use used uses sell sold buy bought send sends sent issue issued happen
    happened occur occurred take taken took call called name named known know want wants need like see can could would
    please database data table record records entry entries result results row rows information info detail details
    list lists also along together different distinct unique various individual many much total overall whole entire
    all any both either only just kilometer kilometers kilometre kilometres meter meters metre metres mile miles square
    feet foot dollar dollars euro euros unit units word letter order ordered sorted let say said do did does he she
    they whose who whom got one ones thing things give given show shown return returned get start starts end ends time
    times measured expressed
"""
LIGHT: Final = STOP_WORDS | frozenset(_LIGHT.split())

_NUMBERS: Final = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS: Final[dict[str, int]] = {word: value for value, word in enumerate(_NUMBERS.split())} | {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}

_MONTHS: Final = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec"
)
MONTHS: Final[dict[str, int]] = {
    name: number for number, names in enumerate(_MONTHS.split("|"), start=1) for name in names.split()
}
