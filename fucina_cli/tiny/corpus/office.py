"""Documents of office work: extraction, e-mail addresses, events, tool calls, sentiment, words."""

from __future__ import annotations

import random

from fucina_cli.tiny.corpus import office_extract, office_tools
from fucina_cli.tiny.corpus import office_values as values
from fucina_cli.tiny.corpus.document import Chat, Document, Text
from fucina_cli.tiny.corpus.manner import (
    Item,
    after_earlier,
    chat_of,
    compact,
    json_system,
    layout,
    pick,
    series,
    system,
)

_MAIL_SENTENCES = (
    "Please write to {m} for details.", "You can reach {n} at {m}.", "My address is {m}.",
    "Contact {n} ({m}) about the keys.", "Send the form to {m} before Friday.", "{n} <{m}>",
    "The mail from {m} arrived today.", "For questions ask {n}, {m}.",
    "I am {n}, my e-mail is {m}.",
    "Our new address is {m}, thanks!", "{n} uses {m} now.", "Reply to {m}.",
)  # fmt: skip
_MAIL_FINDS = (
    "Extract the e-mail address", "Find the email address",
    "What is the email address in this text",
    "Give me the e-mail address", "Return the email", "Get the email address from this sentence",
    "Copy the e-mail address", "Which address is in the text", "Extract the email",
    "Find the email",
)  # fmt: skip
_MAIL_MAKES = (
    "Make an e-mail address for {n} at {d}", "Create an email for {n} with the domain {d}",
    "Write the e-mail address of {n} at {d}", "Build an email address: {n}, {d}",
    "Invent an e-mail address at {d} for {n}", "Give {n} an e-mail address at {d}",
)  # fmt: skip
_MAIL_FREE = (
    "Make an e-mail address for {n}", "Create an email address for {n}",
    "Give {n} an email address",
    "Write an example e-mail address for {n}", "Invent an e-mail for {n}", "E-mail address for {n}",
)  # fmt: skip
_MAIL_VALID = (
    "Is {m} a valid e-mail address", "Is {m} an email address", "Is this a valid email: {m}",
    "Is {m} valid as an e-mail address", "Is {m} a correct email address",
)  # fmt: skip
_OPINIONS = {
    "positive": (
        "I love this {t}", "The {t} is great", "A wonderful {t}", "The {t} works perfectly",
        "I am very happy with the {t}", "Best {t} I ever had", "The {t} is excellent",
        "Fantastic {t}, I would buy it again", "This {t} is beautiful and well made", "Superb {t}",
    ),
    "negative": (
        "I hate this {t}", "The {t} is terrible", "An awful {t}", "The {t} broke after one day",
        "I am very unhappy with the {t}", "Worst {t} I ever had", "The {t} does not work at all",
        "Bad {t}, I want my money back", "This {t} is ugly and badly made", "A useless {t}",
    ),
    "neutral": (
        "The {t} is okay", "The {t} is average", "It is a {t}, nothing special", "The {t} is fine",
        "The {t} does its job, no more", "An ordinary {t}", "The {t} arrived on Monday",
        "The {t} is neither good nor bad", "I bought a {t}", "The {t} is as described",
    ),
}  # fmt: skip
_MORE = {
    "positive": (" and the delivery was fast", ", thank you", ". Five stars", ". I recommend it",
    ""),
    "negative": (" and nobody answers my mails", ", never again", ". One star", ". Avoid it", ""),
    "neutral": ("", "", ". Three stars", " and came in a box", ""),
}  # fmt: skip
_SENTIMENT = (
    "What is the sentiment of this review", "Classify the sentiment", "Sentiment of this text",
    "Is this review positive, negative or neutral",
    "Label the review as positive, negative or neutral",
    "Rate the sentiment", "positive, negative or neutral", "Tell the sentiment of the review",
    "Classify this review (positive/negative/neutral)", "How does the writer feel",
)  # fmt: skip
_SCORED = (
    "Give the sentiment and a score from 1 to 5 as JSON", "JSON with sentiment and score",
    "Rate this review as JSON with sentiment and score", "Sentiment and score (1-5) in JSON",
    'Answer with {"sentiment":...,"score":...}',
)  # fmt: skip
_AS_SENTIMENT = (" as JSON", " in JSON with the key sentiment", ', as {"sentiment":...}', " (JSON)")
_YES_NO = (
    ("Is this review positive? Answer yes or no", "positive"),
    ("Does the customer like it? Yes or no", "positive"),
    ("Is the customer unhappy? Yes or no", "negative"),
    ("Is this a complaint? Answer yes or no", "negative"),
    ("Is the review negative? yes or no", "negative"),
)
_SCORES = {"positive": 5, "negative": 1, "neutral": 3}
_SLUGS = (
    'Make a slug of "{t}"', "Slug for {t}", 'Turn "{t}" into a slug', "Write {t} as a URL slug",
    "Convert {t} to kebab-case", "Slugify {t}", 'What is the slug of "{t}"', "Give the slug: {t}",
)  # fmt: skip
_NAME_LAST = (
    "Write {n} as LAST, First", "Rewrite the name {n} as LAST, First", "Format {n} as LAST, First",
    "Put the last name of {n} first, in capitals", "{n} in the form LAST, First",
    "Change {n} to LAST, First",
)  # fmt: skip
_UPPER = ("Write {w} in upper case", "Uppercase {w}", "Put {w} in capital letters",
          "Convert {w} to upper case", "Make {w} all caps", "{w} in capitals")  # fmt: skip
_LOWER = ("Write {w} in lower case", "Lowercase {w}", "Put {w} in small letters",
          "Convert {w} to lower case", "Make {w} lower case")  # fmt: skip
_REVERSE = ("Reverse the list {l}", "Reverse the order of {l}", "Write {l} in reverse order",
            "Turn the order around: {l}", "List {l} backwards",
            "Put {l} in the opposite order")  # fmt: skip
_LONGEST = ("Which word is the longest: {l}", "What is the longest word of {l}",
            "Pick the longest word: {l}", "Which of {l} is the longest word",
            "Find the longest word in {l}", "Longest word: {l}")  # fmt: skip
_INITIALS = ("What are the initials of {n}", "Give the initials of {n}", "Initials of {n}",
             "Write the initials of {n}")  # fmt: skip
_PART = ("What is the {p} name of {n}", "Give the {p} name of {n}", "{n}: {p} name",
         "Tell me the {p} name in {n}", "Write only the {p} name of {n}")  # fmt: skip


def sample(rng: random.Random) -> Document:
    """One document about office work."""
    if rng.random() < 0.09:
        return office_extract.text(rng) if rng.random() < 0.75 else _text(rng)
    return after_earlier(rng, _chat(rng), _chat)


def _chat(rng: random.Random) -> Chat:
    draw = rng.random()
    if draw < 0.53:
        return office_extract.chat(rng)
    if draw < 0.67:
        return office_tools.tool_chat(rng)
    if draw < 0.75:
        return office_tools.event_chat(rng)
    if draw < 0.84:
        return _mail(rng)
    if draw < 0.9:
        return _sentiment(rng)
    return chat_of(rng, _word_item(rng))


def _mail(rng: random.Random) -> Chat:
    name = values.full_name(rng)
    mail = values.email(rng, name)
    draw = rng.random()
    if draw < 0.5:
        return _mail_found(rng, name, mail)
    if draw < 0.75:
        return chat_of(rng, _mail_made(rng, name))
    return chat_of(rng, _mail_valid(rng, mail))


def _mail_found(rng: random.Random, name: str, mail: str) -> Chat:
    text = pick(rng, _MAIL_SENTENCES).format(n=name, m=mail)
    ask, told, reply = pick(rng, _MAIL_FINDS), system(rng), mail
    if rng.random() < 0.35:
        key = pick(rng, ("email", "email", "address", "mail"))
        forms = (f" as JSON with the key {key}", f' as {{"{key}":...}}', f" in JSON ({key})")
        ask, told, reply = ask + pick(rng, forms), json_system(rng), compact({key: mail})
    thoughts = f"The text holds an e-mail address. It is {mail}."
    return Chat(layout(rng, ask, text), reply, thoughts, told)


def _mail_made(rng: random.Random, name: str) -> Item:
    domain = values.domain(rng) if rng.random() < 0.6 else ""
    mail = f"{'.'.join(name.lower().split())}@{domain or 'example.com'}"
    ask = pick(rng, _MAIL_MAKES if domain else _MAIL_FREE).format(n=name, d=domain)
    about = f"The name is {name}. The address is {mail}."
    raw = ask.startswith("E-mail address")
    full = {"name": name, "email": mail}
    return Item(ask, mail, mail, about, "address", ("email", "address"), full, True, raw)


def _mail_valid(rng: random.Random, mail: str) -> Item:
    valid = rng.random() < 0.5
    if not valid:
        local, _, domain = mail.partition("@")
        wrong = (f"{local}.{domain}", f"{local}@", f"@{domain}", f"{local}@@{domain}", local,
                 f"{local} at {domain}", f"{local}@{domain.split('.')[0]}")  # fmt: skip
        mail = pick(rng, wrong)
    fact = f"{mail} is {'' if valid else 'not '}a valid e-mail address"
    said = f"{'Yes' if valid else 'No'}, {fact}."
    ask, keys = pick(rng, _MAIL_VALID).format(m=mail), ("valid", "is_valid", "answer")
    full = {"email": mail, "valid": valid}
    return Item(ask, said, valid, f"The user asks about {mail}. {fact}.", "boolean", keys, full)


def _sentiment(rng: random.Random) -> Chat:
    mood = pick(rng, ("positive", "negative", "neutral"))
    text = pick(rng, _OPINIONS[mood]).format(t=pick(rng, values.GOODS)).replace("a umb", "an umb")
    text += f"{pick(rng, _MORE[mood])}."
    thoughts, told = f"The review is {mood}.", system(rng)
    draw = rng.random()
    if draw < 0.5:
        ask, reply = pick(rng, _SENTIMENT), mood
    elif draw < 0.65:
        ask, reply = pick(rng, _SENTIMENT) + pick(rng, _AS_SENTIMENT), compact({"sentiment": mood})
    elif draw < 0.8:
        ask = pick(rng, _SCORED)
        reply = compact({"sentiment": mood, "score": _SCORES[mood]})
    else:
        ask, wanted = pick(rng, _YES_NO)
        reply = "yes" if wanted == mood else "no"
    return Chat(layout(rng, ask, text), reply, thoughts, told)


def _word_item(rng: random.Random) -> Item:
    makers = (_slug, _name_item, _case, _reversed, _longest, _name_item)
    return pick(rng, makers)(rng)


def _plain(ask: str, answer: str, about: str, noun: str, keys: tuple[str, ...]) -> Item:
    """A request whose answer is a bare text."""
    raw = not ask.startswith(tuple("WPCMSGRTFLUDJIK")) or ask.startswith(("Slug for", "Longest"))
    command = not ask.startswith(("What", "Which"))
    return Item(ask, answer, answer, f"{about} That is {answer}.", noun, keys, {}, command, raw)


def _slug(rng: random.Random) -> Item:
    title = values.title(rng)
    if rng.random() < 0.5:
        title = f"{pick(rng, ('My', 'Our', 'New', 'How to Buy a', 'About'))} {_capitals(rng)}"
    slug = title.lower().replace(" ", "-")
    return _plain(
        pick(rng, _SLUGS).format(t=title),
        slug,
        f"The user wants a slug of {title}.",
        "slug",
        ("slug",),
    )


def _capitals(rng: random.Random) -> str:
    words = (*rng.sample(values.GOODS, rng.randint(1, 2)), values.word(rng))
    return " ".join(word.capitalize() for word in words[: rng.randint(1, 3)])


def _name_item(rng: random.Random) -> Item:
    name = values.full_name(rng)
    first, last = name.split()
    draw, noun = rng.random(), "name"
    if draw < 0.45:
        ask, answer = pick(rng, _NAME_LAST).format(n=name), f"{last.upper()}, {first}"
    elif draw < 0.6:
        ask, answer = pick(rng, _INITIALS).format(n=name), f"{first[0]}{last[0]}"
        noun = "result"
    else:
        part = pick(rng, ("first", "last"))
        ask = pick(rng, _PART).format(n=name, p=part)
        answer = first if part == "first" else last
    item = _plain(
        ask,
        answer,
        f"The name is {name}.",
        noun,
        ("name" if noun == "name" else "initials", "answer"),
    )
    return item if not ask.startswith((first, "Initials")) else _as_raw(item)


def _as_raw(item: Item) -> Item:
    return Item(
        item.ask, item.sentence, item.value, item.about, item.noun, item.keys, {}, True, True
    )


def _case(rng: random.Random) -> Item:
    upper = rng.random() < 0.6
    text = pick(rng, (values.city, values.full_name, values.title, values.word))(rng)
    text = text if upper else pick(rng, (text, text.upper()))
    answer = text.upper() if upper else text.lower()
    ask = pick(rng, _UPPER if upper else _LOWER).format(w=text)
    item = _plain(ask, answer, f"The text is {text}.", "text", ("text", "result"))
    return _as_raw(item) if ask.startswith(text) else item


def _some_words(rng: random.Random) -> list[str]:
    draw = rng.random()
    if draw < 0.6:
        return rng.sample(values.GOODS, 3)
    if draw < 0.8:
        return rng.sample(values.FIRST_NAMES, 3)
    return [values.word(rng) for _ in range(3)]


def _reversed(rng: random.Random) -> Item:
    words = _some_words(rng)
    back = words[::-1]
    listed = pick(rng, (", ".join(words), series(words), compact(words)))
    answer = compact(back) if listed[0] == "[" else ", ".join(back)
    noun = "array" if listed[0] == "[" else "JSON array"
    ask = pick(rng, _REVERSE).format(l=listed)
    about = f"The list is {', '.join(words)}. In reverse it is {', '.join(back)}."
    return Item(ask, answer, back, about, noun, ("list", "items", "result"), {}, True)


def _longest(rng: random.Random) -> Item:
    words = sorted(set(_some_words(rng)), key=lambda word: (len(word), word))
    if len(words) < 2 or len(words[-1]) == len(words[-2]):
        words[-1] += pick(rng, ("ton", "berg", "land"))
    found = words[-1]
    rng.shuffle(words)
    ask = pick(rng, _LONGEST).format(l=pick(rng, (", ".join(words), series(words))))
    return _plain(
        ask, found, f"The words are {series(words)}.", "word", ("longest", "word", "answer")
    )


def _text(rng: random.Random) -> Text:
    draw = rng.random()
    if draw < 0.35:
        mood = pick(rng, ("positive", "negative", "neutral"))
        text = pick(rng, _OPINIONS[mood]).format(t=pick(rng, values.GOODS))
        return Text(f"Review: {text}.\nSentiment:", f" {mood}")
    if draw < 0.6:
        title = values.title(rng)
        return Text(f"Title: {title}\nSlug:", " " + title.lower().replace(" ", "-"))
    name = values.full_name(rng)
    first, last = name.split()
    if draw < 0.8:
        return Text(f"Name: {name}\nLAST, First:", f" {last.upper()}, {first}")
    mail = values.email(rng, name)
    text = pick(rng, _MAIL_SENTENCES).format(n=name, m=mail)
    return Text(f"Text: {text}\nE-mail:", f" {mail}")
