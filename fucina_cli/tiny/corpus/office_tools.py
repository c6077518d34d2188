"""Documents about tool calls in JSON and about calendar events."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date

from fucina_cli.tiny.corpus import office_values as values
from fucina_cli.tiny.corpus.document import Chat
from fucina_cli.tiny.corpus.figures_dates import any_date, long_date, some_date
from fucina_cli.tiny.corpus.manner import (
    command,
    compact,
    json_system,
    layout,
    pick,
    series,
    system,
)

_MEETINGS = (
    "Meeting", "Lunch", "Dinner", "Workshop", "Interview", "Budget review", "Team meeting", "Call",
    "Training", "Breakfast", "Dentist", "Yoga class", "Project kickoff", "Design review", "Concert",
    "Planning", "Demo", "Board meeting", "Haircut", "Birthday party", "Standup", "Doctor", "Lesson",
)  # fmt: skip
_LANGUAGES = ("Italian", "French", "German", "Spanish", "Portuguese", "Dutch", "Polish", "Japanese")
_PHRASES = ("good morning", "thank you", "see you tomorrow", "the door is open", "I am hungry",
            "where is the station", "good night", "the train is late",
            "happy birthday")  # fmt: skip
_CODES = ("EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "PLN", "CAD", "AUD")
_ROOMS = ("kitchen", "bedroom", "living room", "hall", "bathroom", "office", "garage", "cellar")
_SUBJECTS = ("the invoice", "the meeting", "lunch", "the report", "the contract", "holidays",
             "the new office", "the budget", "the printer", "the project")  # fmt: skip
_CHORES = ("call the bank", "water the plants", "buy milk", "pay the rent", "send the report",
           "feed the cat", "book a table", "take out the bins", "renew the passport")  # fmt: skip
_FAULTS = ("the printer is broken", "the lift is stuck", "the screen stays black",
           "the door is jammed",
           "the login fails", "the heating is off", "the network is slow")  # fmt: skip

_Args = Mapping[str, object]
_Call = tuple[str, _Args]


def _clock(rng: random.Random) -> str:
    return f"{rng.randint(7, 21):02d}:{pick(rng, ('00', '00', '30', '15', '45'))}"


def _create_event(rng: random.Random) -> _Call:
    title, day, start = pick(rng, _MEETINGS), some_date(rng), _clock(rng)
    asks = ("Create an event {t} on {d} at {s}", "Put {t} on {d} at {s} in my calendar",
            "Schedule {t} for {d} at {s}", "Add {t} to the calendar on {d}, {s}",
            "I have {t} on {d} at {s}, note it", "Plan {t} on {d} at {s}")  # fmt: skip
    ask = pick(rng, asks).format(t=f'"{title}"', d=any_date(rng, day), s=start)
    return ask, {"title": title, "date": day.isoformat(), "start": start}


def _send_email(rng: random.Random) -> _Call:
    name = values.full_name(rng)
    to, subject = values.email(rng, name), pick(rng, _SUBJECTS)
    asks = ("Send an e-mail to {a} about {s}", "Write to {a} about {s}", "E-mail {a} about {s}",
            "Send a mail about {s} to {a}", "Mail {a}, subject: {s}")  # fmt: skip
    return pick(rng, asks).format(a=to, s=subject), {"to": to, "subject": subject}


def _get_weather(rng: random.Random) -> _Call:
    city = values.city(rng)
    asks = ("What is the weather in {c}?", "How is the weather in {c}?", "Weather in {c}",
            "Does it rain in {c}?", "Tell me the weather in {c}", "Is it cold in {c}?",
            "Get the weather for {c}", "Check the weather in {c}")  # fmt: skip
    return pick(rng, asks).format(c=city), {"city": city}


def _search_files(rng: random.Random) -> _Call:
    query = values.word(rng) if rng.random() < 0.4 else pick(rng, values.GOODS)
    asks = ("Search my files for {q}", "Find files about {q}", "Look for files named {q}",
            "Which files contain {q}?", "Search for {q} in the files",
            "Where is the file {q}?")  # fmt: skip
    return pick(rng, asks).format(q=query), {"query": query}


def _set_reminder(rng: random.Random) -> _Call:
    chore, time = pick(rng, _CHORES), _clock(rng)
    asks = ("Remind me to {c} at {t}", "Set a reminder at {t} to {c}",
            "At {t} I must {c}, remind me",
            "Set a reminder to {c} at {t}", "Don't let me forget to {c} at {t}")  # fmt: skip
    return pick(rng, asks).format(c=chore, t=time), {"text": chore, "time": time}


def _convert_currency(rng: random.Random) -> _Call:
    amount, (start, end) = values.price(rng), rng.sample(_CODES, 2)
    asks = ("Convert {a} {f} to {t}", "How much is {a} {f} in {t}?", "Change {a} {f} into {t}",
            "What are {a} {f} in {t}?", "{a} {f} to {t}", "Exchange {a} {f} for {t}")  # fmt: skip
    args = {"amount": amount, "from": start, "to": end}
    return pick(rng, asks).format(a=amount, f=start, t=end), args


def _book_room(rng: random.Random) -> _Call:
    room, day, people = rng.randint(1, 400), some_date(rng), rng.randint(2, 40)
    asks = ("Book room {r} on {d} for {p} people", "Reserve room {r} for {p} people on {d}",
            "I need room {r} on {d} for {p} people",
            "Get room {r} for {p} people on {d}")  # fmt: skip
    ask = pick(rng, asks).format(r=room, d=any_date(rng, day), p=people)
    return ask, {"room": room, "date": day.isoformat(), "people": people}


def _create_ticket(rng: random.Random) -> _Call:
    fault, level = pick(rng, _FAULTS), pick(rng, ("low", "medium", "high"))
    asks = ("Open a ticket with {l} priority: {f}", "Create a {l} priority ticket: {f}",
            "File a ticket, {l} priority: {f}", "New ticket ({l}): {f}",
            "Report that {f}, {l} priority")  # fmt: skip
    return pick(rng, asks).format(l=level, f=fault), {"title": fault, "priority": level}


def _translate_text(rng: random.Random) -> _Call:
    phrase, language = pick(rng, _PHRASES), pick(rng, _LANGUAGES)
    asks = ('Translate "{p}" into {l}', 'Translate "{p}" to {l}', 'How do I say "{p}" in {l}?',
            'What is "{p}" in {l}?', 'Put "{p}" into {l}', 'Say "{p}" in {l}')  # fmt: skip
    return pick(rng, asks).format(p=phrase, l=language), {"text": phrase, "language": language}


def _play_music(rng: random.Random) -> _Call:
    title = values.title(rng)
    asks = ("Play {t}", 'Play the song "{t}"', "Put on {t}", "I want to hear {t}", "Start {t}",
            "Let me listen to {t}", "Play me {t}")  # fmt: skip
    return pick(rng, asks).format(t=title), {"title": title}


def _turn_on_light(rng: random.Random) -> _Call:
    room = pick(rng, _ROOMS)
    asks = ("Turn on the light in the {r}", "Light in the {r}", "Switch on the {r} light",
            "It is dark in the {r}", "Lights on in the {r}", "Turn the {r} light on")  # fmt: skip
    return pick(rng, asks).format(r=room), {"room": room}


def _set_temperature(rng: random.Random) -> _Call:
    room, degrees = pick(rng, _ROOMS), rng.randint(15, 26)
    asks = ("Set the {r} to {n} degrees", "Heat the {r} to {n} degrees", "{n} degrees in the {r}",
            "Make it {n} degrees in the {r}",
            "Change the temperature in the {r} to {n}")  # fmt: skip
    return pick(rng, asks).format(r=room, n=degrees), {"room": room, "degrees": degrees}


def _get_directions(rng: random.Random) -> _Call:
    start, end = values.city(rng), values.city(rng)
    asks = ("How do I get from {a} to {b}?", "Directions from {a} to {b}", "Route from {a} to {b}",
            "Show me the way from {a} to {b}", "I want to go from {a} to {b}",
            "Which way is it from {a} to {b}?")  # fmt: skip
    return pick(rng, asks).format(a=start, b=end), {"from": start, "to": end}


def _set_timer(rng: random.Random) -> _Call:
    minutes = rng.randint(2, 90)
    asks = ("Set a timer for {n} minutes", "Timer, {n} minutes", "Wake me in {n} minutes",
            "Start a {n} minute timer", "Count down {n} minutes")  # fmt: skip
    return pick(rng, asks).format(n=minutes), {"minutes": minutes}


def _add_contact(rng: random.Random) -> _Call:
    name, phone = values.full_name(rng), values.phone(rng)
    asks = ("Add {n} to my contacts, number {p}", "Save the number {p} for {n}",
            "New contact: {n}, {p}", "Store {n} with the phone number {p}")  # fmt: skip
    return pick(rng, asks).format(n=name, p=phone), {"name": name, "phone": phone}


def _delete_file(rng: random.Random) -> _Call:
    path = f"{values.word(rng)}.{pick(rng, ('txt', 'pdf', 'csv', 'png', 'md', 'json'))}"
    asks = (
        "Delete {p}",
        "Delete the file {p}",
        "Remove {p}",
        "Erase the file {p}",
        "Throw away {p}",
    )
    return pick(rng, asks).format(p=path), {"path": path}


#: Of each tool: what makes a call of it, and its arguments.
_TOOLS: Mapping[str, tuple[Callable[[random.Random], _Call], tuple[str, ...]]] = {
    "create_event": (_create_event, ("title", "date", "start")),
    "send_email": (_send_email, ("to", "subject")),
    "get_weather": (_get_weather, ("city",)),
    "search_files": (_search_files, ("query",)),
    "set_reminder": (_set_reminder, ("text", "time")),
    "convert_currency": (_convert_currency, ("amount", "from", "to")),
    "book_room": (_book_room, ("room", "date", "people")),
    "create_ticket": (_create_ticket, ("title", "priority")),
    "translate_text": (_translate_text, ("text", "language")),
    "play_music": (_play_music, ("title",)),
    "turn_on_light": (_turn_on_light, ("room",)),
    "set_temperature": (_set_temperature, ("room", "degrees")),
    "get_directions": (_get_directions, ("from", "to")),
    "set_timer": (_set_timer, ("minutes",)),
    "add_contact": (_add_contact, ("name", "phone")),
    "delete_file": (_delete_file, ("path",)),
}
_NAMES = tuple(_TOOLS)
_LISTINGS = (
    "You can call these tools: {l}. Answer with a tool call in JSON.",
    "Tools: {l}. Reply with a JSON tool call.",
    "Available tools: {l}. Call one of them: JSON with name and arguments.",
    "Choose a tool and answer as JSON with the keys name and arguments. Tools: {l}",
    "You have the functions {l}. Answer with a JSON function call.",
    "Use one of the tools {l}. Output JSON with name and arguments.",
)
_CALLS = (
    "Answer with a tool call in JSON.", "Reply with a JSON tool call.",
    "Give the tool call as JSON.",
    "As a tool call in JSON.", "JSON tool call only.", "Use a tool.", "Call the right tool.",
    "Answer as JSON with name and arguments.", 'Format: {"name":...,"arguments":{...}}',
    "Write the function call as JSON.", "Which tool call is that? Answer in JSON.",
)  # fmt: skip


def tool_chat(rng: random.Random) -> Chat:
    """A chat that is answered with a tool call."""
    name = pick(rng, _NAMES)
    ask, args = _TOOLS[name][0](rng)
    ask = ask if ask.endswith("?") else command(rng, ask)
    thoughts = f"The user needs the tool {name}. Its arguments are {series(tuple(args))}."
    reply, told = compact({"name": name, "arguments": args}), None
    draw = rng.random()
    if draw < 0.45:
        told = _listing(rng, name)
    elif draw < 0.65:
        ask = f"{_listing(rng, name)}\n{pick(rng, ('', 'User: ', 'Request: '))}{ask}"
    elif draw < 0.75:
        ask = f"{_closed(ask)} Use the tool {name}."
    elif draw < 0.8:
        return _tool_name(rng, name, ask)
    else:
        ask, told = f"{_closed(ask)} {pick(rng, _CALLS)}", json_system(rng)
    return Chat(ask, reply, thoughts, told)


def _closed(ask: str) -> str:
    return ask if ask[-1] in ".?!" else ask + "."


def _tool_name(rng: random.Random, name: str, ask: str) -> Chat:
    """Which tool it is, as a bare word."""
    names = _choice(rng, name)
    asks = ("Which tool fits: {l}? Request: {a}", "Choose one of {l} for: {a}", "{a}\nTool ({l}):",
            "Pick the tool for this request ({l}): {a}")  # fmt: skip
    user = pick(rng, asks).format(l=", ".join(names), a=ask)
    return Chat(user, name, f"The request fits the tool {name}.", system(rng))


def _choice(rng: random.Random, name: str) -> list[str]:
    names = [other for other in rng.sample(_NAMES, rng.randint(1, 4)) if other != name]
    names.insert(rng.randint(0, len(names)), name)
    return names


def _listing(rng: random.Random, name: str) -> str:
    """A text that names the tool and some others."""
    names = _choice(rng, name)
    draw = rng.random()
    if draw < 0.4:
        names = [f"{n}({', '.join(_TOOLS[n][1])})" for n in names]
    if draw > 0.85:
        return "Tools:\n" + "\n".join(f"- {n}" for n in names) + "\nAnswer with a JSON tool call."
    return pick(rng, _LISTINGS).format(l=", ".join(names))


_EVENT_ASKS = (
    "Extract the event as JSON with {k}", "Turn this into a calendar event in JSON: {k}",
    "Calendar event as JSON with {k}", "Give the event as JSON, keys {k}", "Event JSON with {k}",
    "Write a JSON event with {k}", "Parse the event into JSON with {k}",
    "Make a JSON event, keys {k}",
    "Convert this to an event with the JSON keys {k}", "Read the appointment, JSON with {k}",
)  # fmt: skip
_EVENT_SENTENCES = (
    "{t} with {p} on {d} from {s} to {e}.", "{t} on {d} from {s} to {e} with {p}.",
    "On {d} there is {t} with {p} from {s} to {e}.", "We have {t} on {d}, {s} to {e}, with {p}.",
    "Please plan {t} for {d} from {s} until {e}. {p} will come.", "{t}, {d}, {s}-{e}, with {p}.",
    "From {s} to {e} on {d}: {t} with {p}.", "{p} and I have {t} on {d} from {s} to {e}.",
)  # fmt: skip
_EVENT_TELL = (
    "Write this event as a sentence", "Say this in a sentence",
    "Describe this event in one sentence",
    "Turn the JSON into a sentence", "Put this event into words", "Summarize the event",
    "Read this event to me", "Tell me about this event in plain English",
)  # fmt: skip
_EVENT_KEYS = ("title", "date", "start", "end", "attendees")
_SYNONYMS = {
    "title": ("title", "event", "name", "summary"), "date": ("date", "day"),
    "start": ("start", "start_time", "begin", "from"), "end": ("end", "end_time", "until", "to"),
    "attendees": ("attendees", "people", "with", "participants", "guests"),
}  # fmt: skip


def event_chat(rng: random.Random) -> Chat:
    """A chat about a calendar event."""
    title, day = pick(rng, _MEETINGS), some_date(rng)
    hour, minutes = rng.randint(7, 20), pick(rng, ("00", "00", "30", "15"))
    start, end = f"{hour:02d}:{minutes}", f"{hour + rng.randint(1, 3):02d}:{minutes}"
    people = [values.first_name(rng) for _ in range(rng.randint(1, 3))]
    event: dict[str, object] = {
        "title": title, "date": day.isoformat(), "start": start, "end": end, "attendees": people,
    }  # fmt: skip
    if rng.random() < 0.3:
        return _event_sentence(rng, event, day, people)
    text = pick(rng, _EVENT_SENTENCES).format(
        t=title, d=any_date(rng, day), s=start, e=end, p=series(people)
    )
    keys = list(_EVENT_KEYS)
    draw = rng.random()
    if draw < 0.6:
        keys = [key for key in keys if rng.random() < 0.65] or ["title", "date"]
    if draw < 0.3:
        rng.shuffle(keys)
    plain = rng.random() < 0.65
    named = {key if plain else pick(rng, _SYNONYMS[key]): event[key] for key in keys}
    request = pick(rng, _EVENT_ASKS).format(k=series(tuple(named)))
    thoughts = f"The event is {title} on {day.isoformat()}. The keys are {series(tuple(named))}."
    return Chat(layout(rng, request, text), compact(named), thoughts, json_system(rng))


def _event_sentence(
    rng: random.Random, event: Mapping[str, object], day: date, people: list[str]
) -> Chat:
    shown = dict(event)
    with_people = rng.random() < 0.6
    if not with_people:
        del shown["attendees"]
    told = f"{event['title']} is on {long_date(day)} from {event['start']} to {event['end']}"
    told += f" with {series(people)}." if with_people else "."
    user = layout(rng, pick(rng, _EVENT_TELL), compact(shown))
    return Chat(
        user, told, f"The event is {event['title']}. The answer is a sentence.", system(rng)
    )
