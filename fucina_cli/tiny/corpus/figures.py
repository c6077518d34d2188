"""Documents about numbers: short arithmetic, word problems, comparing, sorting, counting."""

from __future__ import annotations

import random

from fucina_cli.tiny.corpus import figures_dates
from fucina_cli.tiny.corpus.document import Chat, Document, Text
from fucina_cli.tiny.corpus.manner import Item, after_earlier, chat_of, compact, pick, series, split
from fucina_cli.tiny.corpus.office_values import GOODS, THINGS, first_name

_ONES: tuple[str, ...] = split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS: tuple[str, ...] = split("twenty thirty forty fifty sixty seventy eighty ninety")

#: Per operation: questions and commands, with {a} and {b}; and the names of the result.
_ASKS = {
    "+": (
        "What is {a} + {b}", "What is {a} plus {b}", "How much is {a} + {b}", "What's {a} + {b}",
        "What does {a} + {b} equal", "How much do {a} and {b} make",
        "What do you get for {a} + {b}",
        "What is the sum of {a} and {b}", "How much is {a} plus {b}", "What is {a} added to {b}",
        "{a} plus {b} is", "What number is {a} + {b}", "{a} + {b} is what",
    ),
    "-": (
        "What is {a} - {b}", "What is {a} minus {b}", "How much is {a} - {b}", "What's {a} - {b}",
        "What does {a} - {b} equal", "What is left of {a} without {b}", "{a} minus {b} is",
        "What is the difference between {a} and {b}", "How much is {a} minus {b}",
        "What do you get for {a} - {b}", "What number is {a} - {b}",
    ),
    "*": (
        "What is {a} * {b}", "What is {a} times {b}", "How much is {a} x {b}", "What's {a} x {b}",
        "What does {a} * {b} equal", "What is the product of {a} and {b}", "{a} times {b} is",
        "How much is {a} times {b}", "What is {a} multiplied by {b}", "What number is {a} x {b}",
    ),
}  # fmt: skip
_COMMANDS = {
    "+": (
        "Add {a} and {b}", "Compute {a} + {b}", "Calculate {a} plus {b}", "Work out {a} + {b}",
        "Tell me {a} + {b}", "Give me the sum of {a} and {b}", "Sum {a} and {b}", "Solve {a} + {b}",
        "Evaluate {a}+{b}", "Find the sum of {a} and {b}", "Add {b} to {a}", "Add up {a} and {b}",
    ),
    "-": (
        "Subtract {b} from {a}", "Compute {a} - {b}", "Calculate {a} minus {b}",
        "Work out {a} - {b}",
        "Tell me {a} - {b}", "Take {b} away from {a}", "Solve {a} - {b}", "Evaluate {a}-{b}",
        "Find the difference between {a} and {b}", "Take {b} from {a}",
    ),
    "*": (
        "Multiply {a} by {b}", "Compute {a} times {b}", "Calculate {a} * {b}", "Work out {a} x {b}",
        "Tell me {a} times {b}", "Multiply {a} and {b}", "Solve {a} * {b}", "Evaluate {a}*{b}",
        "Find the product of {a} and {b}", "Give me {a} times {b}",
    ),
}  # fmt: skip
_RAW = (
    "{a}{o}{b}=", "{a} {o} {b} =", "{a}{o}{b}", "{a} {o} {b}", "{a} {o} {b} = ?", "{a}{o}{b}?",
    "{a}{o}{b}=?", "{a} {o} {b}?", "({a} {o} {b})", "{a} {w} {b}", "{a} {w} {b}?",
    "calc {a} {o} {b}",
)  # fmt: skip
_WORDS = {"+": "plus", "-": "minus", "*": "times"}
_RESULTS = {"+": "sum", "-": "difference", "*": "product"}
_KEYS = ("result", "answer", "value")

#: (story with {n} {a} {b} {t} for the things, question, operation, verb of the answer)
_STORIES = (
    ("{n} has {a} {t} and buys {b} more.", "How many {t} does {n} have now", "+", "has"),
    ("{n} has {a} {t} and gets {b} more.", "How many {t} does {n} have", "+", "has"),
    ("{n} finds {a} {t} and then {b} more.", "How many {t} does {n} have in all", "+", "has"),
    ("{n} has {a} {t}. A friend gives {n} {b} more.", "How many {t} does {n} have", "+", "has"),
    ("{n} has {a} {t} and gives away {b}.", "How many {t} does {n} have left", "-", "has"),
    ("{n} had {a} {t} and lost {b}.", "How many {t} does {n} have now", "-", "has"),
    ("{n} has {a} {t} and sells {b} of them.", "How many {t} are left for {n}", "-", "has"),
    ("{n} packs {a} boxes with {b} {t} each.", "How many {t} does {n} pack", "*", "packs"),
    ("{n} buys {a} bags of {b} {t}.", "How many {t} does {n} buy", "*", "buys"),
)
_ROOMS = (
    ("A {p} has {a} seats. {b} seats are taken.", "How many seats are free", "-", "seats are free"),
    ("A {p} sold {a} tickets, then {b} more.", "How many tickets did it sell", "+", "were sold"),
    ("There are {a} people in the {p}, and {b} leave.", "How many stay", "-", "people stay"),
    ("There are {a} people in the {p}, and {b} come in.", "How many are there", "+", "are there"),
    ("A {p} has {a} rows of {b} seats.", "How many seats are there", "*", "seats are there"),
)
_PLACES = ("bus", "hall", "cinema", "theatre", "train", "room", "school", "boat", "museum", "cafe")

_GAPS = (" ", " ", " ", "\n")
_LARGER = ("larger", "bigger", "greater", "higher", "more")
_SMALLER = ("smaller", "less", "lower")
_SORTS = (
    "Sort {l}", "Sort the numbers {l}", "Order {l}", "Put {l} in order", "Arrange {l}",
    "Sort these numbers: {l}", "Rank {l}", "Put these in order: {l}",
)  # fmt: skip
_UP = (
    " from small to large",
    " in ascending order",
    ", smallest first",
    "",
    " upwards",
    " ascending",
)
_DOWN = (" from large to small", " in descending order", ", largest first", " downwards")
_ARRAY = (
    " as a JSON array",
    " as JSON",
    " in a JSON list",
    " and give a JSON array",
    " (JSON array)",
)
_COUNT = (
    "Count from {a} to {b}", "Write the numbers from {a} to {b}", "List the numbers {a} to {b}",
    "Give me the numbers from {a} up to {b}", "Count up from {a} to {b}",
    "Say the numbers {a} to {b}",
)  # fmt: skip
_HOW_MANY = (
    "How many items are in this list: {l}", "How many words are there: {l}",
    "How many things are in the list {l}", "Count the items: {l}", "How many are these: {l}",
    "Count the words: {l}", "How many entries does this list have: {l}",
)  # fmt: skip


def sample(rng: random.Random) -> Document:
    """One document about figures or dates."""
    if rng.random() < 0.08:
        return figures_dates.text(rng) if rng.random() < 0.5 else _text(rng)
    draw = rng.random()
    if draw < 0.05:
        return _follow_up(rng)
    return after_earlier(rng, _chat(rng), _chat)


def _chat(rng: random.Random) -> Chat:
    draw = rng.random()
    if draw < 0.4:
        return figures_dates.chat(rng)
    if draw < 0.65:
        return chat_of(rng, _sum(rng))
    if draw < 0.74:
        return chat_of(rng, _story(rng))
    if draw < 0.81:
        return chat_of(rng, _comparison(rng))
    if draw < 0.86:
        return chat_of(rng, _truth(rng))
    if draw < 0.92:
        return chat_of(rng, _sorting(rng))
    return chat_of(rng, _counting(rng))


def _operands(rng: random.Random, operation: str) -> tuple[int, int, int]:
    """Two numbers, and what comes out."""
    small = rng.random() < 0.5
    if operation == "*":
        a = rng.randint(1, 10)
        b = rng.randint(1, 10) if small or rng.random() < 0.5 else rng.randint(11, 99)
        if rng.random() < 0.5:
            a, b = b, a
        return a, b, a * b
    a, b = (rng.randint(0, 20 if small else 99) for _ in range(2))
    if operation == "-":
        return max(a, b), min(a, b), abs(a - b)
    return a, b, a + b


def _spelled(number: int) -> str:
    """`number`, below 100, in words."""
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def _asked(rng: random.Random, operation: str, a: int, b: int) -> tuple[str, bool, bool]:
    """A request for a result, whether it is a command, and whether it is raw."""
    draw = rng.random()
    first, second = str(a), str(b)
    if draw < 0.2:
        sign = pick(rng, ("*", "x")) if operation == "*" else operation
        said = pick(rng, _RAW)
        return said.format(a=first, b=second, o=sign, w=_WORDS[operation]), False, True
    if rng.random() < 0.1:
        first, second = _spelled(a), _spelled(b)
    command = draw < 0.5
    said = pick(rng, (_COMMANDS if command else _ASKS)[operation])
    return said.format(a=first, b=second), command, False


def _sum(rng: random.Random) -> Item:
    operation = pick(rng, "++--*")
    a, b, result = _operands(rng, operation)
    ask, command, raw = _asked(rng, operation, a, b)
    sentence = f"{a} {operation} {b} = {result}."
    name = _RESULTS[operation]
    full = {"a": a, "b": b, name: result}
    if rng.random() < 0.3:
        full = {"a": a, "b": b, "result": result}
    return Item(
        ask[:1].upper() + ask[1:] if not raw else ask,
        sentence,
        result,
        f"The user asks for {a} {operation} {b}. That is {result}.",
        pick(rng, ("number", "number", "result", "answer")),
        (*_KEYS, name),
        full,
        command,
        raw,
    )


def _story(rng: random.Random) -> Item:
    if rng.random() < 0.35:
        story, ask, operation, tail = pick(rng, _ROOMS)
        a, b, result = _operands(rng, operation)
        story = story.format(a=a, b=b, p=pick(rng, _PLACES))
        answer = f"{result} {tail}"
    else:
        story, ask, operation, verb = pick(rng, _STORIES)
        a, b, result = _operands(rng, operation)
        a, b, result = (a + 2, b + 2, result + 4) if operation == "+" else (a, b, result)
        name, thing = first_name(rng), pick(rng, THINGS)
        things = f"{thing}s"
        story = story.format(n=name, a=a, b=b, t=things)
        ask = ask.format(n=name, t=things)
        answer = f"{name} {verb} {result} {thing if result == 1 else things}"
    step = f"{a} {operation} {b} = {result}"
    return Item(
        f"{story}{pick(rng, _GAPS)}{ask}?",
        f"{step}, so {answer}.",
        result,
        f"The question is how many. {step}.",
        "number",
        (*_KEYS, "count", "total"),
        raw=True,
    )


def _two(rng: random.Random) -> tuple[int, int]:
    top = pick(rng, (10, 100, 100, 1000))
    a = rng.randint(0, top)
    b = rng.randint(0, top)
    return (a, b) if a != b else (a, b + 1)


def _comparison(rng: random.Random) -> Item:
    a, b = _two(rng)
    more = rng.random() < 0.6
    found = max(a, b) if more else min(a, b)
    other = a + b - found
    said = pick(rng, _LARGER[:4] if more else (_SMALLER[0], "lower"))
    draw = rng.random()
    if draw < 0.6:
        asks = ("Which is {w}, {a} or {b}", "Which number is {w}: {a} or {b}",
                "What is {w}, {a} or {b}",
                "Which is the {w} number, {a} or {b}", "{a} or {b}, which is {w}")  # fmt: skip
        ask, command = pick(rng, asks).format(w=said, a=a, b=b), False
    else:
        best = pick(rng, ("larger", "bigger") if more else ("smaller", "lower"))
        asks = ("Give me the {w} of {a} and {b}", "Compare {a} and {b} and tell me the {w} one",
                "Pick the {w} number: {a}, {b}", "Choose the {w} of {a} and {b}",
                "Tell me which is {w}, {a} or {b}")  # fmt: skip
        ask, command = pick(rng, asks).format(w=best, a=a, b=b), True
    key = "larger" if more else "smaller"
    return Item(
        ask,
        f"{found} is {key} than {other}.",
        found,
        f"The user compares {a} and {b}. {found} is {key} than {other}.",
        "number",
        (key, "answer", "result"),
        {"a": a, "b": b, key: found},
        command,
    )


def _truth(rng: random.Random) -> Item:
    if rng.random() < 0.3:
        return _parity(rng)
    a, b = _two(rng)
    more = rng.random() < 0.6
    true = a > b if more else a < b
    asked = pick(rng, _LARGER if more else _SMALLER)
    asks = ("Is {a} {w} than {b}", "Is {a} {w} than {b}", "Is it true that {a} is {w} than {b}",
            "Is the number {a} {w} than {b}", "Would you say {a} is {w} than {b}")  # fmt: skip
    ask = pick(rng, asks).format(a=a, b=b, w=asked)
    fact = f"{a} is {'' if true else 'not '}{asked} than {b}"
    return Item(
        ask,
        f"{'Yes' if true else 'No'}, {fact}.",
        true,
        f"The user compares {a} and {b}. {fact}.",
        "boolean",
        ("answer", "result", "true", "correct"),
        {"a": a, "b": b, "answer": true},
    )


def _parity(rng: random.Random) -> Item:
    number = rng.randint(0, 100)
    kind = pick(rng, ("even", "odd"))
    true = (number % 2 == 0) == (kind == "even")
    real = "odd" if number % 2 else "even"
    asks = ("Is {n} {k}", "Is {n} an {k} number", "Is the number {n} {k}", "Would you call {n} {k}")
    return Item(
        pick(rng, asks).format(n=number, k=kind),
        f"{'Yes' if true else 'No'}, {number} is {real}.",
        true,
        f"The user asks if {number} is {kind}. {number} is {real}.",
        "boolean",
        (kind, "answer", "result"),
        {"number": number, kind: true},
    )


def _sorting(rng: random.Random) -> Item:
    count = pick(rng, (3, 3, 3, 4))
    numbers = rng.sample(range(pick(rng, (10, 100, 100))), count)
    down = rng.random() < 0.3
    ordered = sorted(numbers, reverse=down)
    way = pick(rng, _DOWN if down else _UP)
    words = [str(number) for number in numbers]
    listed = pick(rng, (", ".join(words), series(words), " ".join(words), compact(numbers)))
    as_array = rng.random() < 0.75
    ask = pick(rng, _SORTS).format(l=listed) + way + (pick(rng, _ARRAY) if as_array else "")
    shown = compact(ordered) if as_array else ", ".join(map(str, ordered))
    return Item(
        ask,
        shown,
        ordered,
        f"The user wants {series(words)} sorted. In order: {', '.join(map(str, ordered))}.",
        "array" if as_array else "JSON array",
        ("sorted", "numbers", "result"),
        {},
        True,
    )


def _counting(rng: random.Random) -> Item:
    draw = rng.random()
    if draw < 0.35:
        a = rng.randint(0, 40)
        b = a + rng.randint(2, 7)
        numbers = list(range(a, b + 1))
        shown = ", ".join(map(str, numbers))
        ask = pick(rng, _COUNT).format(a=a, b=b)
        about = f"The user wants the numbers from {a} to {b}."
        keys = ("numbers", "count", "list")
        return Item(ask, f"{shown}.", numbers, about, "JSON array", keys, {}, True)
    if draw < 0.65:
        words = rng.sample(GOODS, rng.randint(2, 6))
        listed = pick(rng, (", ".join(words), series(words)))
        ask = pick(rng, _HOW_MANY).format(l=listed)
        count = len(words)
        about = f"The list is {', '.join(words)}. There are {count}."
        command = ask.startswith("Count")
        sentence = f"There are {count} items."
        return Item(ask, sentence, count, about, "number", ("count", *_KEYS), {}, command)
    return _neighbour(rng)


def _neighbour(rng: random.Random) -> Item:
    number = rng.randint(2, 99)
    kinds = (
        ("What comes after {n}", number + 1, "{r} comes after {n}."),
        ("Which number comes before {n}", number - 1, "{r} comes before {n}."),
        ("What is the next number after {n}", number + 1, "{r} comes after {n}."),
        ("What is the double of {n}", number * 2, "The double of {n} is {r}."),
        ("What is twice {n}", number * 2, "Twice {n} is {r}."),
        ("What is half of {e}", number, "Half of {e} is {r}."),
        ("How much is half of {e}", number, "Half of {e} is {r}."),
    )
    ask, result, sentence = pick(rng, kinds)
    told = sentence.format(n=number, e=number * 2, r=result)
    about = f"The user asks about a number. {told}"
    return Item(ask.format(n=number, e=number * 2), told, result, about, "number", _KEYS)


def _follow_up(rng: random.Random) -> Chat:
    """A question that needs the one before it."""
    first, then = _sum_of(rng), _sum_of(rng)
    before = (f"What is {first[0]}?", f"{first[0]} = {first[1]}.")
    if rng.random() < 0.5:
        ask = pick(
            rng, ("And {}?", "and {}", "Now {}.", "What about {}?", "{}?", "And what is {}?")
        )
        thoughts = f"The user now asks for {then[0]}. That is {then[1]}."
        return Chat(ask.format(then[0]), f"{then[0]} = {then[1]}.", thoughts, earlier=(before,))
    thoughts = f"The user wants the same result again. It was {first[1]}."
    if rng.random() < 0.5:
        ask = pick(rng, ("Now as JSON.", "And as JSON?", "in json please", "Give it as JSON."))
        return Chat(ask, compact({"result": first[1]}), thoughts, earlier=(before,))
    ask = pick(rng, ("Just the number.", "Only the number please", "Now just the number."))
    return Chat(ask, str(first[1]), thoughts, earlier=(before,))


def _sum_of(rng: random.Random) -> tuple[str, int]:
    operation = pick(rng, "++-*")
    a, b, result = _operands(rng, operation)
    return f"{a} {operation} {b}", result


def _text(rng: random.Random) -> Text:
    asked, result = _sum_of(rng)
    draw = rng.random()
    if draw < 0.4:
        return Text(f"{asked} =", f" {result}")
    if draw < 0.55:
        return Text(f"Question: What is {asked}?\nAnswer:", f" {asked} = {result}.")
    if draw < 0.7:
        return Text(f"Input: {asked}\nJSON:", " " + compact({"result": result}))
    if draw < 0.85:
        numbers = rng.sample(range(100), 3)
        listed = ", ".join(map(str, numbers))
        return Text(f"Numbers: {listed}\nSorted:", " " + ", ".join(map(str, sorted(numbers))))
    return Text(f"Q: {asked}\nA:", f" {result}")
