"""Read calendars (.ics): one section for each event, with recurrence in words. Recurring events are never expanded."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted, Unreadable
from marchwarden.extraction.facts import add_facts
from marchwarden.text.sanitize import pluralize, printable

MAX_EVENTS: Final = 20_000
_MAX_EXCEPTIONS: Final = 20

_FOLD: Final = re.compile(r"\n[ \t]")
_LINE: Final = re.compile(
    r"(?P<name>[A-Za-z0-9-]{1,60})(?P<parameters>(?:;[^:;\"\n]*(?:\"[^\"\n]*\"[^:;\"\n]*)*)*):(?P<value>.*)"
)
_PARAMETER: Final = re.compile(r";([A-Za-z0-9-]{1,60})=(?:\"([^\"]*)\"|([^;\"]*))")
_ESCAPE: Final = re.compile(r"\\([\\;,nN])")
_TIME: Final = re.compile(r"(\d{8})(?:T(\d{6})(Z?))?")
_MONTH: Final = re.compile(r"0?[1-9]|1[0-2]")
_DURATION: Final = re.compile(r"P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:\d{1,4}S)?)?")
_SECTIONS: Final = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry"}
_UNITS: Final = {"SECONDLY": "second", "MINUTELY": "minute", "HOURLY": "hour"}
_PERIODS: Final = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year", **_UNITS}
_DAYS: Final = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_ORDINALS: Final = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"}
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)


@dataclass(frozen=True)
class _Property:
    """A line of a calendar: its value and its parameters."""

    value: str
    parameters: Mapping[str, str]

    @property
    def text(self) -> str:
        return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], self.value).strip()


@dataclass
class _Component:
    """An event or task."""

    kind: str
    properties: dict[str, list[_Property]] = field(default_factory=dict)

    def first(self, name: str) -> _Property | None:
        return next(iter(self.properties.get(name, ())), None)

    def text(self, name: str) -> str:
        found = self.first(name)
        return found.text if found else ""


def read(characters: str) -> Extracted | None:
    """Read all events, marked `event=N`."""
    lines = _FOLD.sub("", printable(characters)).split("\n")
    builder = DocumentBuilder()
    title = ""
    number = 0
    for component in _components(lines):
        if component.kind == "VCALENDAR":
            title = component.text("X-WR-CALNAME") or component.text("NAME")
            continue
        number += 1
        if number > MAX_EVENTS:
            raise Unreadable(f"a calendar of more than {pluralize(MAX_EVENTS, 'event')}")
        builder.mark(f"event={number}")
        _add_component(builder, component)
    if not number:
        raise Unreadable("a calendar without events")
    return Extracted(
        text=builder.text, title=title, media_type="text/calendar", marks=builder.marks, blocks=builder.blocks
    )


def _components(lines: list[str]) -> Iterator[_Component]:
    """Yield events and tasks, and at the end the calendar itself. Alarms and time zones are skipped."""
    calendar = _Component("VCALENDAR")
    current, skipped = calendar, ""
    for line in lines:
        parsed = _LINE.fullmatch(line)
        if parsed is None:
            continue
        name, value = parsed["name"].upper(), parsed["value"]
        kind = value.strip().upper()
        if skipped:
            skipped = "" if name == "END" and kind == skipped else skipped
        elif name == "BEGIN" and kind in _SECTIONS:
            current = _Component(kind)
        elif name == "BEGIN" and kind != "VCALENDAR":
            skipped = kind
        elif name == "END" and kind in _SECTIONS:
            if current is not calendar:
                yield current
            current = calendar
        elif name not in {"BEGIN", "END"}:
            current.properties.setdefault(name, []).append(_Property(value, _parameters(parsed["parameters"])))
    yield calendar


def _parameters(text: str) -> dict[str, str]:
    return {match[1].upper(): match[2] or match[3] or "" for match in _PARAMETER.finditer(text)}


def _add_component(builder: DocumentBuilder, component: _Component) -> None:
    builder.heading(component.text("SUMMARY") or _SECTIONS[component.kind], 1)
    facts = {
        "When": _when(component),
        "Where": component.text("LOCATION"),
        "Due": _moment(component.first("DUE")),
        "Repeats": _recurrence(component),
        "Organizer": ", ".join(_people(component, "ORGANIZER")),
        "Attendees": ", ".join(_people(component, "ATTENDEE")),
        "Status": component.text("STATUS").capitalize(),
        "Categories": component.text("CATEGORIES"),
        "Link": component.text("URL"),
    }
    add_facts(builder, facts.items())
    for paragraph in component.text("DESCRIPTION").split("\n"):
        builder.paragraph(paragraph)
    for comment in component.properties.get("COMMENT", ()):
        builder.note(comment.text)


def _when(component: _Component) -> str:
    start, end = component.first("DTSTART"), component.first("DTEND")
    if start is None:
        return ""
    begin = _moment(start)
    if end is None:
        duration = _duration(component.text("DURATION"))
        return f"{begin}, for {duration}" if duration else begin
    return _range(begin, start, end)


def _range(begin: str, start: _Property, end: _Property) -> str:
    """The times of an event. The end of a whole-day event is the day after its last."""
    if "T" not in start.value and "T" not in end.value:
        first, last = _day(start.value), _day(end.value)
        if first and last and (last - first).days <= 1:
            return f"{begin}, all day"
        before = date.fromordinal(last.toordinal() - 1) if last and last.toordinal() > 1 else None
        return f"{begin} to {_date_text(before)}" if before else begin
    same_day = start.value[:8] == end.value[:8] and start.parameters.get("TZID") == end.parameters.get("TZID")
    finish = _TIME.fullmatch(end.value.strip())
    if same_day and finish and finish[2]:
        clock = f"{finish[2][:2]}:{finish[2][2:4]}"
        head, zone = _split_zone(begin)
        return f"{head} to {clock}{zone}"
    return f"{begin} to {_moment(end)}"


def _split_zone(moment: str) -> tuple[str, str]:
    head, separator, zone = moment.partition(" (")
    return head, separator + zone


def _moment(found: _Property | None) -> str:
    """A time such as `Tuesday, 3 June 2025, 14:00 (Europe/Berlin)`. Unchanged if it is in no known form."""
    if found is None:
        return ""
    parsed = _TIME.fullmatch(found.value.strip())
    day = _day(found.value)
    if parsed is None or day is None:
        return found.text
    if not parsed[2]:
        return _date_text(day)
    zone = "UTC" if parsed[3] else found.parameters.get("TZID", "")
    return f"{_date_text(day)}, {parsed[2][:2]}:{parsed[2][2:4]}{f' ({zone})' if zone else ''}"


def _day(value: str) -> date | None:
    try:
        return datetime.strptime(value.strip()[:8], "%Y%m%d").date()  # noqa: DTZ007 - only the date is used
    except ValueError:
        return None


def _date_text(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B} {day.year}"


def _duration(text: str) -> str:
    found = _DURATION.fullmatch(text)
    units = zip(found.groups() if found else (), ("week", "day", "hour", "minute"), strict=False)
    return " ".join(pluralize(int(number), unit) for number, unit in units if number and int(number))


def _people(component: _Component, name: str) -> Iterator[str]:
    """Yield people as `Ada Byron <ada@example.org>`, with their answer to an invitation."""
    for found in component.properties.get(name, ()):
        address = found.text.partition(":")[2] if found.text.lower().startswith("mailto:") else found.text
        person = found.parameters.get("CN", "")
        shown = f"{person} <{address}>" if person and address and person != address else person or address
        answer = found.parameters.get("PARTSTAT", "").lower()
        yield f"{shown} ({answer})" if answer in {"accepted", "declined", "tentative"} else shown


def _recurrence(component: _Component) -> str:
    rules = [_rule(found.value) for found in component.properties.get("RRULE", ())]
    text = "; ".join(rule for rule in rules if rule)
    dates = [
        _moment(_Property(value, found.parameters))
        for found in component.properties.get("EXDATE", ())[:_MAX_EXCEPTIONS]
        for value in found.value.split(",")[:_MAX_EXCEPTIONS]
    ]
    return f"{text}, except {'; '.join(dates)}" if text and dates else text


def _rule(value: str) -> str:
    """A recurrence rule in words: `every 2 weeks on Monday and Friday, until 3 June 2025`."""
    fields = dict(part.upper().partition("=")[::2] for part in value.split(";"))
    period = _PERIODS.get(fields.get("FREQ", ""))
    if period is None:
        return ""
    interval = fields.get("INTERVAL", "1")
    text = f"every {period}" if interval == "1" else f"every {interval} {period}s"
    days = [_weekday(day) for day in fields.get("BYDAY", "").split(",")[:14] if day]
    if days:
        text += f" on {_and(days)}"
    if numbers := fields.get("BYMONTHDAY"):
        text += f" on day {numbers.replace(',', ', ')} of the month"
    months = [_MONTHS[int(each) - 1] for each in fields.get("BYMONTH", "").split(",") if _MONTH.fullmatch(each)]
    if months:
        text += f" in {_and(months)}"
    if count := fields.get("COUNT"):
        text += f", {count} times"
    if until := fields.get("UNTIL"):
        text += f", until {_moment(_Property(until, {}))}"
    return text


def _weekday(code: str) -> str:
    """`MO` is Monday; `2MO` is the second Monday."""
    name = _DAYS.get(code[-2:], code)
    ordinal = _ORDINALS.get(code[:-2].lstrip("+"), "")
    return f"the {ordinal} {name}" if ordinal else name


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
