"""A number with its noun, in the right form: 1 source, 2 sources, 1,200 queries."""


def pluralize(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
