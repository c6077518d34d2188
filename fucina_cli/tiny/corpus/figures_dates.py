"""Documents about dates and times: formats, days of the week, months, times of day, durations."""

from __future__ import annotations

import random
from datetime import date, timedelta

from fucina_cli.tiny.corpus.document import Chat, Text
from fucina_cli.tiny.corpus.manner import Item, chat_of, compact, pick

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_HOURS = (
    "twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven",
)  # fmt: skip
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TO_ISO = (
    "Write {d} as an ISO date", "Convert {d} to ISO format", "Give {d} in ISO format",
    "Format {d} as YYYY-MM-DD", "Turn {d} into an ISO date", "Write the date {d} in ISO 8601",
    "Rewrite {d} as yyyy-mm-dd", "Show {d} as an ISO date", "Express {d} as an ISO date",
    "Change {d} to year-month-day", "Put {d} in the form YYYY-MM-DD", "ISO date for {d}",
    "Normalize the date {d}", "Convert this date to ISO: {d}", "Give me the ISO date of {d}",
)  # fmt: skip
_ASK_ISO = (
    "What is {d} in ISO format", "What is {d} as an ISO date", "How do I write {d} in ISO format",
    "What is the ISO date for {d}", "How is {d} written as YYYY-MM-DD",
)  # fmt: skip
_TO_WORDS = (
    "Write {i} in words", "Write {i} as a normal date", "Turn {i} into words", "Spell out {i}",
    "Write {i} with the name of the month", "Convert {i} to a long date", "Read the date {i}",
    "Write the date {i} in English", "Write out {i}", "Give {i} as day, month and year in words",
)  # fmt: skip
_TO_OBJECT = (
    "Give {d} as JSON with year, month and day", "Write {d} as JSON with year, month and day",
    "Split {d} into year, month and day as JSON", "Convert {d} to JSON with year, month, day",
    "Parse the date {d} into JSON (year, month, day)", "JSON with year, month and day of {d}",
    'Write {d} as {{"year":...,"month":...,"day":...}}', "Parse {d} as JSON",
    "Return the date {d} as a JSON object", "Turn {d} into a JSON object with year, month and day",
)  # fmt: skip
_SENTENCES = (
    "The meeting is on {d}.", "We arrive on {d}.", "The shop opens on {d}.", "My exam is on {d}.",
    "The parcel was sent on {d}.", "Our trip starts on {d}.", "The course ends on {d}.",
    "The concert takes place on {d}.", "The bill is due on {d}.", "She was born on {d}.",
)  # fmt: skip
_FIND_DATE = (
    "Find the date in this text and write it in ISO format: {s}", "Give the date as ISO: {s}",
    "Extract the date in ISO format: {s}", "Which date is named here, in ISO format? {s}",
    "Extract the date as YYYY-MM-DD.\n{s}", "{s} Give the date in ISO format",
    "{s}\nExtract the date in ISO format",
)  # fmt: skip
_DAY_ASKS = (
    ("What day comes after {d}", 1), ("Which day follows {d}", 1), ("What day is after {d}", 1),
    ("Which day is the day after {d}", 1), ("If today is {d}, what day is tomorrow", 1),
    ("Today is {d}. What day is tomorrow", 1), ("What is the next day after {d}", 1),
    ("What day comes before {d}", -1), ("Which day is before {d}", -1),
    ("If today is {d}, what day was yesterday", -1), ("Today is {d}. What day was yesterday", -1),
    ("What day is two days after {d}", 2), ("Which day is three days after {d}", 3),
    ("Today is {d}. What day is it in two days", 2), ("Which day is two days before {d}", -2),
)  # fmt: skip
_MONTH_ASKS = (
    ("Which month comes after {m}", 1), ("What month follows {m}", 1), ("What comes after {m}", 1),
    ("What is the month after {m}", 1), ("Which month comes before {m}", -1),
    ("What is the month before {m}", -1), ("Which month is before {m}", -1),
)  # fmt: skip
_PARTS = (("in the morning", 0), ("in the afternoon", 12), ("in the evening", 12))
_TIME_ASKS = (
    "Write {t} as a 24-hour time", "Convert {t} to 24-hour format", "Give {t} as HH:MM",
    "Write {t} in digits", "Format {t} as HH:MM", "Turn {t} into a 24-hour time",
    "Write the time {t} in numbers", "Change {t} to 24-hour time", "Express {t} as hh:mm",
)  # fmt: skip
_TIME_QUESTIONS = (
    "What is {t} in 24-hour time",
    "How do I write {t} as HH:MM",
    "What is {t} as HH:MM",
)
_ORDINALS = ("st", "nd", "rd")


def ordinal(number: int) -> str:
    """`number` with its ending: "3rd"."""
    last = number % 10
    ending = _ORDINALS[last - 1] if 1 <= last <= 3 and number not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def some_date(rng: random.Random) -> date:
    """A date between 1980 and 2039, mostly in the 2020s."""
    year = rng.randint(2020, 2031) if rng.random() < 0.75 else rng.randint(1980, 2039)
    month = rng.randint(1, 12)
    return date(year, month, rng.randint(1, _LENGTHS[month - 1]))


def long_date(day: date) -> str:
    """The date as "5 March 2027"."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def any_date(rng: random.Random, day: date) -> str:
    """The date in one of many formats, all with the name of the month or year first."""
    name, number = MONTHS[day.month - 1], day.day
    draw = int(rng.random() * 13)
    if draw < 3:
        return long_date(day)
    if draw < 5:
        return f"{name} {number}, {day.year}"
    forms = (
        f"{number} {name[:3]} {day.year}",
        f"{name[:3]} {number}, {day.year}",
        f"{ordinal(number)} {name} {day.year}",
        f"the {ordinal(number)} of {name} {day.year}",
        f"{day.year}/{day.month:02d}/{number:02d}",
        f"{number}. {name} {day.year}",
        f"{name} {ordinal(number)}, {day.year}",
        f"{number}-{name[:3]}-{day.year}",
    )
    return forms[draw - 5]


def chat(rng: random.Random) -> Chat:
    """A chat about dates or times."""
    draw = rng.random()
    if draw < 0.3:
        return chat_of(rng, _iso(rng))
    if draw < 0.4:
        return chat_of(rng, _found(rng))
    if draw < 0.5:
        return chat_of(rng, _words(rng))
    if draw < 0.6:
        return chat_of(rng, _object(rng))
    if draw < 0.78:
        return chat_of(rng, _neighbour(rng))
    if draw < 0.92:
        return chat_of(rng, _time(rng))
    return chat_of(rng, _duration(rng))


def _fields(day: date) -> dict[str, object]:
    return {"year": day.year, "month": day.month, "day": day.day}


def _iso(rng: random.Random) -> Item:
    day = some_date(rng)
    said, iso = any_date(rng, day), day.isoformat()
    command = rng.random() < 0.75
    ask = pick(rng, _TO_ISO if command else _ASK_ISO).format(d=said)
    about = f"The date is {said}. In ISO format that is {iso}."
    return Item(ask, iso, iso, about, "date", ("date", "iso"), {}, command, ask.startswith("ISO"))


def _found(rng: random.Random) -> Item:
    day = some_date(rng)
    said, iso = any_date(rng, day), day.isoformat()
    ask = pick(rng, _FIND_DATE).format(s=pick(rng, _SENTENCES).format(d=said))
    raw = ask.startswith(("The ", "We ", "My ", "Our ", "She ", "Which "))
    ask = ask + "." if raw and ask[-1] not in ".?" else ask.removesuffix("." if not raw else "")
    about = f"The text names {said}. In ISO format that is {iso}."
    return Item(ask, iso, iso, about, "date", ("date", "day"), {}, True, raw)


def _words(rng: random.Random) -> Item:
    day = some_date(rng)
    iso, said = day.isoformat(), long_date(day)
    ask = pick(rng, _TO_WORDS).format(i=iso)
    about = f"The date is {iso}. In words that is {said}."
    return Item(ask, said, said, about, "date", ("date", "text"), {}, True)


def _object(rng: random.Random) -> Item:
    day = some_date(rng)
    said = any_date(rng, day) if rng.random() < 0.7 else day.isoformat()
    ask = pick(rng, _TO_OBJECT).format(d=said)
    fields = _fields(day)
    about = f"The date is {said}. The year is {day.year}, the month {day.month}, the day {day.day}."
    return Item(ask, compact(fields), fields, about, "JSON object", ("date",), {}, True)


def _neighbour(rng: random.Random) -> Item:
    if rng.random() < 0.3:
        return _next_date(rng)
    if rng.random() < 0.7:
        names: tuple[str, ...] = DAYS
        (ask, step), kind = pick(rng, _DAY_ASKS), "day"
    else:
        names = MONTHS
        (ask, step), kind = pick(rng, _MONTH_ASKS), "month"
    at = int(rng.random() * len(names))
    start, found = names[at], names[(at + step) % len(names)]
    relation = _relation(step)
    return Item(
        ask.format(d=start, m=start),
        f"{found} is {relation} {start}.",
        found,
        f"The user asks for a {kind}. {found} is {relation} {start}.",
        kind,
        (kind, "answer"),
    )


def _relation(step: int) -> str:
    count = {1: "", 2: "two days ", 3: "three days "}[abs(step)]
    return count + ("after" if step > 0 else "before")


def _next_date(rng: random.Random) -> Item:
    day = some_date(rng)
    step = pick(rng, (1, 1, -1))
    found = day + timedelta(days=step)
    word = "after" if step > 0 else "before"
    asks = (
        "What is the date of the day {w} {d}",
        "Which date comes {w} {d}",
        "What date is the day {w} {d}",
    )
    ask = pick(rng, asks).format(w=word, d=day.isoformat())
    about = f"The user asks for the day {word} {day.isoformat()}. It is {found.isoformat()}."
    return Item(ask, found.isoformat(), found.isoformat(), about, "date", ("date", "answer"))


def _spoken_time(rng: random.Random) -> tuple[str, str]:
    """A time of day in words or with am and pm, and as HH:MM."""
    hour = rng.randint(1, 11)
    if rng.random() < 0.4:
        minute = pick(rng, (0, 0, 15, 30, 45, 10, 20, 40, 50, 5))
        half = pick(
            rng, (("am", 0), ("pm", 12), (" am", 0), (" pm", 12), (" a.m.", 0), (" p.m.", 12))
        )
        said = f"{hour}{half[0]}" if minute == 0 else f"{hour}:{minute:02d}{half[0]}"
        return said, f"{hour + half[1]:02d}:{minute:02d}"
    part, add = pick(rng, _PARTS)
    forms = (
        ("{h} o'clock", 0, 0), ("half past {h}", 0, 30), ("quarter past {h}", 0, 15),
        ("quarter to {h}", -1, 45), ("ten past {h}", 0, 10), ("twenty to {h}", -1, 40),
        ("twenty past {h}", 0, 20), ("ten to {h}", -1, 50), ("five past {h}", 0, 5),
    )  # fmt: skip
    form, shift, minute = pick(rng, forms)
    hour = rng.randint(2, 5) if add and "noon" in part else hour
    hour = rng.randint(6, 11) if "evening" in part else hour
    return f"{form.format(h=_HOURS[hour])} {part}", f"{hour + add + shift:02d}:{minute:02d}"


def _time(rng: random.Random) -> Item:
    said, clock = _spoken_time(rng)
    command = rng.random() < 0.75
    ask = pick(rng, _TIME_ASKS if command else _TIME_QUESTIONS).format(t=said)
    hours, minutes = map(int, clock.split(":"))
    about = f"The time is {said.rstrip('.')}. That is {clock}."
    full = {"hour": hours, "minute": minutes}
    return Item(ask, clock, clock, about, "time", ("time", "clock"), full, command)


def _duration(rng: random.Random) -> Item:
    draw = rng.random()
    if draw < 0.3:
        hours, count = rng.randint(1, 10), 60
        units = ("hour", "minutes")
    elif draw < 0.5:
        hours, count = rng.randint(1, 10), 7
        units = ("week", "days")
    elif draw < 0.7:
        hours, count = rng.randint(1, 5), 24
        units = ("day", "hours")
    else:
        return _span(rng)
    amount = f"{hours} {units[0]}{'s' if hours > 1 else ''}"
    total = hours * count
    verb = "are" if hours > 1 else "is"
    asks = ("How many {u} are {x}", "How many {u} are in {x}", "{x} {v} how many {u}")
    ask = pick(rng, asks).format(u=units[1], x=amount, v=verb)
    told = f"{high_verb(amount, hours)} {total} {units[1]}"
    return Item(ask, f"{told}.", total, f"The user asks about {amount}. {told}.", "number",
                (units[1], "answer", "result"))  # fmt: skip


def high_verb(amount: str, count: int) -> str:
    """`amount` as the subject of a sentence, with its verb."""
    return f"{amount} {'are' if count > 1 else 'is'}"


def _span(rng: random.Random) -> Item:
    start = rng.randint(0, 20)
    hours = rng.randint(1, 23 - start)
    minute = pick(rng, (0, 0, 30, 15))
    first, last = f"{start:02d}:{minute:02d}", f"{start + hours:02d}:{minute:02d}"
    asks = (
        "How many hours is it from {a} to {b}", "How long is it from {a} to {b}",
        "How long is a meeting from {a} to {b}", "How many hours are between {a} and {b}",
        "A film runs from {a} to {b}. How long is it",
        "A train leaves at {a} and arrives at {b}. How many hours is that",
    )  # fmt: skip
    told = f"{first} to {last} is {hours} hour{'s' if hours > 1 else ''}"
    about = f"The user asks how long it is. From {told}."
    keys = ("hours", "answer", "duration")
    full = {"start": first, "end": last, "hours": hours}
    return Item(pick(rng, asks).format(a=first, b=last), f"From {told}.", hours, about,
                "number", keys, full)  # fmt: skip


def text(rng: random.Random) -> Text:
    """A plain text about dates or times."""
    day = some_date(rng)
    said, iso = any_date(rng, day), day.isoformat()
    draw = rng.random()
    if draw < 0.4:
        return Text(f"Date: {said}\nISO:", f" {iso}")
    if draw < 0.6:
        return Text(f"ISO: {iso}\nDate:", f" {long_date(day)}")
    if draw < 0.75:
        return Text(f"Input: {said}\nJSON:", " " + compact(_fields(day)))
    if draw < 0.9:
        spoken, clock = _spoken_time(rng)
        return Text(f"Time: {spoken}\n24-hour:", f" {clock}")
    at = int(rng.random() * 7)
    return Text(f"The day after {DAYS[at]} is", f" {DAYS[(at + 1) % 7]}.")
