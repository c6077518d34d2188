"""Small facts and their questions: a sentence, one word or JSON as the answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fucina_cli.tiny.corpus import talk_data as data
from fucina_cli.tiny.corpus.document import Chat, Text
from fucina_cli.tiny.corpus.talk_wording import (
    a,
    cap,
    compact,
    is_format,
    json_extra,
    number,
    number_extra,
    request,
    system,
    word_extra,
)

_KEYS = ("answer", "answer", "answer", "result", "value", "reply", "response", "output", "text")
_COMMANDS = (
    "tell me {}",
    "give me {}",
    "say {}",
    "write {}",
    "name {}",
    "find {}",
    "I need {}",
    "I want to know {}",
    "{}",
    "{}",
)
_QUESTIONS = (
    "what is {}",
    "what is {}",
    "what is {}",
    "what's {}",
    "what would be {}",
    "do you know {}",
    "can you tell me {}",
    "could you tell me {}",
    "can you give me {}",
)


@dataclass(frozen=True)
class Fact:
    """One thing to know: how it is asked for, the answer as a word and as a sentence.

    Args:
        about: what is asked for, "the opposite of hot", or a whole question where `asks` has it.
        asks: whole questions, without the question mark.
        value: the answer by itself.
        sentence: the answer as a sentence, without capital and full stop.
        subject: what a follow-up question names, "" for none.
        keys: names of the subject and the value in JSON.
        named: whether `about` can be used as "tell me ...".
        short: whether `value` is a word or a few.
    """

    about: str
    asks: tuple[str, ...]
    value: str | int
    sentence: str
    subject: str = ""
    keys: tuple[str, str] = ("question", "answer")
    named: bool = True
    short: bool = True

    @property
    def said(self) -> str:
        """The whole sentence."""
        return f"{cap(self.sentence)}."


def _related(
    rows: Sequence[tuple[str, str]],
    keys: tuple[str, str],
    about: str,
    sentence: str,
    asks: Sequence[str],
) -> tuple[Fact, ...]:
    """Facts of pairs: in the patterns {x} is the left one, {ax} with its article, {y} the right."""
    return tuple(
        Fact(
            about=about.format(x=x, ax=a(x), y=y),
            asks=tuple(ask.format(x=x, ax=a(x)) for ask in asks),
            value=int(y) if y.isdigit() else _bare(y),
            sentence=sentence.format(x=x, ax=a(x), ay=a(y), y=_said(y)),
            subject=x,
            keys=keys,
        )
        for x, y in rows
    )


def _bare(value: str) -> str:
    """`value` without an article."""
    first, _, rest = value.partition(" ")
    return rest if first in ("a", "an", "your") else value


def _said(value: str) -> str:
    """`value` as it stands in a sentence."""
    if value == "0":
        return "no"
    return number(int(value)) if value.isdigit() else value


def _opposites() -> tuple[tuple[str, str], ...]:
    """The pairs, and turned round where a word has no other opposite."""
    known = dict(data.OPPOSITES)
    turned = {y: x for x, y in reversed(data.OPPOSITES) if y not in known}
    return tuple((known | turned).items())


def _next(names: Sequence[str], cyclic: bool = True) -> tuple[tuple[str, str], ...]:
    pairs = tuple(itertools.pairwise(names))
    return (*pairs, (names[-1], names[0])) if cyclic else pairs


def _sequence(what: str, names: Sequence[str], cyclic: bool = True) -> Iterator[Fact]:
    after = _next(names, cyclic)
    yield from _related(
        after,
        (what, "next"),
        f"the {what} after {{x}}",
        "{y} comes after {x}",
        (
            f"which {what} comes after {{x}}",
            "what comes after {x}",
            f"what {what} is after {{x}}",
            f"which {what} follows {{x}}",
        ),
    )
    yield from _related(
        tuple((y, x) for x, y in after),
        (what, "previous"),
        f"the {what} before {{x}}",
        "{y} comes before {x}",
        (
            f"which {what} comes before {{x}}",
            "what comes before {x}",
            f"what {what} is before {{x}}",
        ),
    )


def _meanings() -> Iterator[Fact]:
    for term, meaning in data.MEANINGS:
        bare = term.split(" ", 1)[1] if term.split(" ", 1)[0] in ("a", "an", "the") else term
        yield Fact(
            about=f"what {term} is",
            asks=(
                f"what is {term}",
                f"what is {term}",
                f"what is {term}",
                f"what's {term}",
                f"what does {bare} mean",
                f"what is meant by {bare}",
                f"what is the meaning of {bare}",
                f"do you know what {term} is",
                f"can you explain what {term} is",
                f"how would you explain {term}",
                f"what can you tell me about {term}",
                f"what is {term} in simple words",
                f"! explain {term}",
                f"! define {bare}",
                f"! explain {bare} to me",
                f"! tell me about {bare}",
                f"! describe {term}",
                f"! {bare}",
                f"! explain what {term} is in one sentence",
            ),
            value=meaning,
            sentence=f"{term} is {meaning}",
            subject=term,
            keys=("term", "meaning"),
            short=False,
        )


def _misc() -> Iterator[Fact]:
    for asks, value, sentence in data.MISC:
        yield Fact(
            about=asks[0],
            asks=tuple(f"! {q}" if q.startswith(("name", "mix")) else q for q in asks),
            value=int(value) if value.isdigit() else value,
            sentence=sentence,
            named=False,
        )


def _units() -> Iterator[Fact]:
    for pair, count in data.UNITS:
        part, whole = pair.split("/")
        holder = f"{'an' if whole == 'hour' else a(whole).split(' ')[0]} {whole}"
        holder = f"the {whole}" if whole in ("alphabet", "solar system") else holder
        yield Fact(
            about=f"the number of {part} in {holder}",
            asks=(
                f"how many {part} are in {holder}",
                f"how many {part} are there in {holder}",
                f"how many {part} has {holder}",
                f"how many {part} does {holder} have",
                f"how many {part} make {holder}",
            ),
            value=int(count),
            sentence=f"{holder} has {number(int(count))} {part}",
            subject="",
            keys=("unit", "count"),
        )


def _classes() -> Iterator[Fact]:
    seen: set[str] = set()
    for _, kind, members in data.SETS:
        for member in members:
            if member in seen or member[0].isupper() or member in _MASS or kind in _ODD_KINDS:
                continue
            seen.add(member)
            yield Fact(
                about=f"what {a(member)} is",
                asks=(
                    f"what is {a(member)}",
                    f"what is {a(member)}",
                    f"what kind of thing is {a(member)}",
                    f"what sort of thing is {a(member)}",
                    f"what's {a(member)}",
                    f"! explain what {a(member)} is",
                    f"! describe {a(member)}",
                    f"! tell me about {a(member)}",
                ),
                value=kind,
                sentence=f"{a(member)} is {a(kind)}",
                subject=a(member),
                keys=("thing", "kind"),
                named=False,
            )


_MASS = frozenset(
    [
        "water",
        "milk",
        "tea",
        "coffee",
        "juice",
        "lemonade",
        "cocoa",
        "cider",
        "soda",
        "pliers",
        "football",
        "tennis",
        "swimming",
        "running",
        "cycling",
        "skiing",
        "rowing",
        "boxing",
        "golf",
        "hockey",
        "cod",
        "tuna",
        "herring",
        "salmon",
        "trout",
        "spinach",
    ]
)
_ODD_KINDS = frozenset(
    (
        "colour",
        "metal",
        "spice",
        "school subject",
        "dessert",
        "gemstone",
        "feeling",
        "programming idea",
        "kitchen thing",
        "shape",
    )
)

#: All the facts by family, and how often each family is drawn.
_FAMILIES: tuple[tuple[float, tuple[Fact, ...]], ...] = (
    (
        0.19,
        _related(
            _opposites(),
            ("word", "opposite"),
            "the opposite of {x}",
            "the opposite of {x} is {y}",
            (
                "what is the opposite of {x}",
                "what is the opposite of {x}",
                "which word is the opposite of {x}",
                "what is the contrary of {x}",
                "what is the antonym of {x}",
                "what is not {x} but the opposite",
                "! opposite of {x}",
                "! antonym of {x}",
                "! give the opposite of {x}",
            ),
        ),
    ),
    (0.17, tuple(_meanings())),
    (0.13, tuple(_misc())),
    (
        0.06,
        _related(
            data.PLURALS,
            ("singular", "plural"),
            "the plural of {x}",
            "the plural of {x} is {y}",
            (
                "what is the plural of {x}",
                "which is the plural form of {x}",
                "! plural of {x}",
                "how do you say more than one {x}",
                "what do you call two of {x}",
            ),
        ),
    ),
    (
        0.03,
        _related(
            data.PASTS,
            ("verb", "past"),
            "the past tense of {x}",
            "the past tense of {x} is {y}",
            (
                "what is the past of {x}",
                "what is the past tense of {x}",
                "! past tense of {x}",
                "what is the past form of {x}",
                "! past of {x}",
            ),
        ),
    ),
    (
        0.03,
        _related(
            data.SYNONYMS,
            ("word", "synonym"),
            "a synonym of {x}",
            "a synonym of {x} is {y}",
            (
                "what is another word for {x}",
                "which word means the same as {x}",
                "! synonym of {x}",
                "! another word for {x}",
                "what is a synonym for {x}",
            ),
        ),
    ),
    (
        0.02,
        _related(
            data.RHYMES,
            ("word", "rhyme"),
            "a word that rhymes with {x}",
            "{x} rhymes with {y}",
            (
                "what rhymes with {x}",
                "which word rhymes with {x}",
                "! a rhyme for {x}",
                "! find a rhyme for {x}",
            ),
        ),
    ),
    (
        0.08,
        _related(
            data.COLOURS,
            ("thing", "colour"),
            "the colour of {x}",
            "{x} is {y}",
            (
                "what colour is {x}",
                "what colour is {x}",
                "what color is {x}",
                "which colour is {x}",
                "which colour does {x} have",
                "what color does {x} have",
                "what is the color of {x}",
                "! colour of {x}",
                "! color of {x}",
            ),
        ),
    ),
    (
        0.04,
        _related(
            data.SOUNDS,
            ("animal", "sound"),
            "the sound of {ax}",
            "{ax} says {y}",
            (
                "what does {ax} say",
                "what sound does {ax} make",
                "which sound does {ax} make",
                "what noise does {ax} make",
                "how does {ax} sound",
                "! sound of {ax}",
            ),
        ),
    ),
    (
        0.04,
        _related(
            data.YOUNG,
            ("animal", "young"),
            "the name of a young {x}",
            "a young {x} is called {ay}",
            (
                "what is a young {x} called",
                "what is a baby {x} called",
                "! baby {x}",
                "what do you call a young {x}",
                "what do you call a baby {x}",
                "what is the young of {ax} called",
                "how is a baby {x} called",
            ),
        ),
    ),
    (
        0.05,
        _related(
            data.LEGS,
            ("animal", "legs"),
            "the number of legs of {ax}",
            "{ax} has {y} legs",
            (
                "how many legs does {ax} have",
                "how many legs has {ax}",
                "! legs of {ax}",
                "how many legs are on {ax}",
                "on how many legs does {ax} stand",
            ),
        ),
    ),
    (
        0.02,
        _related(
            data.HOMES,
            ("animal", "home"),
            "the home of {x}",
            "the home of {x} is the {y}",
            (
                "where does {x} live",
                "what is the home of {x}",
                "! home of {x}",
                "where is {x} at home",
                "where do you find {x}",
            ),
        ),
    ),
    (
        0.03,
        _related(
            data.SIDES,
            ("shape", "sides"),
            "the number of sides of {ax}",
            "{ax} has {y} sides",
            (
                "how many sides does {ax} have",
                "how many sides has {ax}",
                "! sides of {ax}",
                "how many corners does {ax} have",
                "how many edges does {ax} have",
            ),
        ),
    ),
    (0.04, tuple(_units())),
    (
        0.05,
        _related(
            data.JOBS,
            ("task", "job"),
            "the person who {x}",
            "{ay} {x}",
            (
                "who {x}",
                "who {x}",
                "what do you call a person who {x}",
                "! a person who {x}",
                "what is the job of someone who {x}",
                "what job has someone who {x}",
                "which job {x}",
                "what is a person who {x} called",
            ),
        ),
    ),
    (
        0.04,
        _related(
            data.MADE_OF,
            ("thing", "material"),
            "the material of {x}",
            "{x} is made of {y}",
            (
                "what is {x} made of",
                "what is {x} made from",
                "of what is {x} made",
                "which material is {x} made of",
                "what do you need to make {x}",
            ),
        ),
    ),
    (
        0.04,
        _related(
            data.USES,
            ("task", "tool"),
            "the thing to {x} with",
            "you use {y} to {x}",
            (
                "what do you use to {x}",
                "what do I need to {x}",
                "with what do you {x}",
                "what is used to {x}",
                "which thing do people use to {x}",
                "how do you {x}",
            ),
        ),
    ),
    (
        0.02,
        _related(
            data.INSTRUMENTS,
            ("instrument", "family"),
            "the family of the {x}",
            "the {x} is a {y} instrument",
            (
                "what kind of instrument is {ax}",
                "what type of instrument is the {x}",
                "to which family of instruments does the {x} belong",
            ),
        ),
    ),
    (
        0.09,
        (
            *_sequence("day", data.DAYS),
            *_sequence("month", data.MONTHS),
            *_sequence("season", data.SEASONS),
            *_sequence("season", data.SEASONS),
            *_sequence("planet", data.PLANETS, cyclic=False),
            *_sequence("letter", data.LETTERS, cyclic=False),
        ),
    ),
    (0.06, tuple(_classes())),
)
_WEIGHTS = tuple(weight for weight, _ in _FAMILIES)
_GROUPS = tuple(facts for _, facts in _FAMILIES)


def count() -> int:
    """How many facts there are."""
    return sum(map(len, _GROUPS))


def draw(rng: random.Random) -> tuple[Fact, Sequence[Fact]]:
    """A fact and its family."""
    group = rng.choices(_GROUPS, _WEIGHTS)[0]
    return rng.choice(group), group


def core(rng: random.Random, fact: Fact) -> tuple[str, bool]:
    """One way to ask for `fact`, and whether it is a question."""
    if fact.named and fact.short and rng.random() < 0.4:
        if rng.random() < 0.5:
            return rng.choice(_COMMANDS).format(fact.about), False
        return rng.choice(_QUESTIONS).format(fact.about), True
    ask = rng.choice(fact.asks)
    return (ask[2:], False) if ask.startswith("! ") else (ask, True)


def sample(rng: random.Random) -> Chat:
    """A question for a fact."""
    fact, group = draw(rng)
    roll = rng.random()
    if roll < 0.12:
        return _follow_up(rng, fact, group)
    if roll < 0.55 or (roll < 0.72 and not fact.short):
        return _plain(rng, fact)
    if roll < 0.72:
        return _word(rng, fact)
    return _json(rng, fact)


def _thoughts(fact: Fact, form: str) -> str:
    joint = " for" if fact.named and fact.short else ":" if fact.about in fact.asks else ""
    return f"The user asks{joint} {fact.about}. {fact.said}{form}"


def _plain(rng: random.Random, fact: Fact) -> Chat:
    user = request(rng, *core(rng, fact))
    return Chat(user, fact.said, _thoughts(fact, ""), system(rng))


def _word(rng: random.Random, fact: Fact) -> Chat:
    said = system(rng, "word")
    numeric = isinstance(fact.value, int)
    extra = number_extra(rng) if numeric else word_extra(rng)
    if is_format(said) and not numeric:
        extra = ("", "")
    user = request(rng, *core(rng, fact), extra)
    form = f" I answer with the {'number' if numeric else 'word'} only."
    return Chat(user, str(fact.value), _thoughts(fact, form), said)


def _json(rng: random.Random, fact: Fact) -> Chat:
    said = system(rng, "json")
    roll = rng.random()
    keys: tuple[str, ...] = ()
    if roll < 0.25:
        keys = (rng.choice(_KEYS),)
    elif roll < 0.35:
        keys = (fact.keys[1],)
    elif roll < 0.45 and fact.subject:
        keys = fact.keys if rng.random() < 0.8 else (fact.keys[1], fact.keys[0])
    elif roll < 0.5:
        keys = ("answer", "sentence")
    extra = ("", "") if is_format(said) and not keys else json_extra(rng, keys)
    user = request(rng, *core(rng, fact), extra)
    keys = keys or ("answer",)
    form = f" I answer as JSON with the {'key' if len(keys) == 1 else 'keys'} {' and '.join(keys)}."
    return Chat(user, compact(_object(fact, keys)), _thoughts(fact, form), said)


def _object(fact: Fact, keys: Sequence[str]) -> dict[str, str | int]:
    by_key = {fact.keys[0]: fact.subject, "sentence": fact.said}
    return {key: by_key.get(key, fact.value) for key in keys}


def _follow_up(rng: random.Random, fact: Fact, group: Sequence[Fact]) -> Chat:
    """A second question: the same in another form, or the same of another thing."""
    first = request(rng, *core(rng, fact))
    earlier = ((first, fact.said),)
    roll = rng.random()
    if roll < 0.35 or not fact.subject:
        user = rng.choice(("As JSON.", "As JSON, please.", "Now as JSON.", "And as JSON?", "JSON"))
        if rng.random() < 0.3:
            user = rng.choice(
                ("Say it as JSON.", "Can you give me that in JSON?", "in json please")
            )
        reply = compact({"answer": fact.value})
        return Chat(user, reply, _thoughts(fact, " Now I say it as JSON."), None, earlier)
    if roll < 0.5 and fact.short:
        forms = ("In one word.", "In one word, please.", "Just the answer.", "Shorter, please.")
        reply = str(fact.value)
        return Chat(rng.choice(forms), reply, _thoughts(fact, " Now only that."), None, earlier)
    other = rng.choice(group)
    if other.keys != fact.keys or other.about.split(" ")[:3] != fact.about.split(" ")[:3]:
        user = request(rng, *core(rng, other))
    else:
        asks = ("And {}?", "And of {}?", "What about {}?", "and {}", "And for {}?", "{}?")
        user = rng.choice(asks if fact.short else ("And {}?", "What about {}?", "and {}"))
        user = user.format(other.subject)
    return Chat(user, other.said, _thoughts(other, ""), system(rng), earlier)


def text(rng: random.Random) -> Text:
    """A fact as a completion."""
    fact, group = draw(rng)
    ask = next(q for q in rng.sample(fact.asks, len(fact.asks)) if not q.startswith("! "))
    value = fact.value if fact.short else fact.said
    roll = rng.random()
    if roll < 0.5:
        q, answer = rng.choice((("Q", "A"), ("Q", "A"), ("Question", "Answer"), ("User", "Bot")))
        return Text(f"{_shown(rng, group, q, answer)}{q}: {cap(ask)}?\n{answer}:", f" {value}")
    if roll < 0.6:
        return Text(f'{{"question":{compact(cap(ask) + "?")},"answer":', f"{compact(value)}}}")
    if roll < 0.7 and fact.subject and fact.short:
        left, right = fact.keys
        prompt = f'{{"{left}":{compact(fact.subject)},"{right}":'
        return Text(prompt, f"{compact(value)}}}")
    words = fact.said.split(" ")
    cut = len(words) - rng.randint(1, min(2, len(words) - 2))
    return Text(" ".join(words[:cut]), " " + " ".join(words[cut:]))


def _shown(rng: random.Random, group: Sequence[Fact], q: str, answer: str) -> str:
    """An example before the question, sometimes."""
    if rng.random() < 0.7:
        return ""
    fact = rng.choice(group)
    value = fact.value if fact.short else fact.said
    return f"{q}: {cap(fact.asks[0])}?\n{answer}: {value}\n"
