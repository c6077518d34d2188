"""Records (people, products, orders, books ...) and the ways in which a text tells of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fucina_cli.tiny.corpus import office_values as values
from fucina_cli.tiny.corpus.figures_dates import some_date
from fucina_cli.tiny.corpus.manner import article, high, pick, series

#: Of a field: the keys that name it, the usual one first.
KEYS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "name", "name", "full_name", "person", "fullName"),
    "age": ("age", "age", "age", "years", "age_years"),
    "city": ("city", "city", "city", "town", "location", "place", "residence"),
    "job": ("job", "job", "occupation", "profession", "role", "work"),
    "email": ("email", "email", "e_mail", "mail", "email_address", "contact"),
    "phone": ("phone", "phone", "telephone", "phone_number", "tel", "number"),
    "hobby": ("hobby", "hobby", "interest", "likes"),
    "married": ("married", "is_married"),
    "product": ("name", "product", "product", "item", "article"),
    "price": ("price", "price", "price", "cost", "amount"),
    "colour": ("colour", "color", "colour", "color"),
    "in_stock": ("in_stock", "in_stock", "available", "inStock", "stock"),
    "quantity": ("quantity", "quantity", "count", "number", "units", "qty"),
    "material": ("material", "material", "made_of"),
    "id": ("id", "id", "order_id", "order", "number", "orderId"),
    "items": ("items", "items", "products", "things"),
    "total": ("total", "total", "amount", "sum", "price"),
    "currency": ("currency", "currency"),
    "customer": ("customer", "customer", "name", "buyer", "client"),
    "paid": ("paid", "paid", "is_paid"),
    "title": ("title", "title", "title", "book", "name"),
    "author": ("author", "author", "writer", "by"),
    "year": ("year", "year", "published", "publication_year"),
    "pages": ("pages", "pages", "page_count", "length"),
    "genre": ("genre", "genre", "category", "kind"),
    "pet": ("name", "pet", "name"),
    "animal": ("animal", "species", "kind", "type"),
    "owner": ("owner", "owner", "human"),
    "from": ("from", "from", "origin", "start", "departure"),
    "to": ("to", "to", "destination", "end", "arrival"),
    "date": ("date", "date", "day", "when"),
    "traveller": ("name", "passenger", "traveller", "name"),
    "tags": ("tags", "hobbies", "interests", "skills"),
    "company": ("company", "company", "employer", "firm"),
    "task": ("task", "task", "todo", "title"),
    "priority": ("priority", "priority", "level"),
    "done": ("done", "done", "completed", "finished"),
    "assignee": ("assignee", "assignee", "owner", "person"),
    "due": ("due", "due", "deadline", "due_date"),
}
_HOBBIES = (
    "chess", "tennis", "painting", "cooking", "cycling", "reading", "swimming", "football",
    "hiking", "singing", "dancing", "fishing", "gardening", "running", "sailing", "yoga",
    "knitting", "drawing", "skiing", "photography",
)  # fmt: skip
_ANIMALS = ("cat", "dog", "rabbit", "parrot", "horse", "hamster", "turtle", "goat", "fish", "pony")
_MATERIALS = ("wood", "steel", "cotton", "glass", "leather", "plastic", "paper", "wool", "metal")
_GENRES = ("novel", "thriller", "comedy", "cookbook", "fantasy", "biography", "drama", "mystery")
_MONEY = (
    ("euros", "EUR"),
    ("dollars", "USD"),
    ("pounds", "GBP"),
    ("francs", "CHF"),
    ("yen", "JPY"),
)
_TASKS = (
    "write the report", "clean the kitchen", "call the bank", "fix the printer", "book the hotel",
    "update the website", "send the invoice", "water the plants", "test the release",
    "paint the fence", "order the paper", "check the backup", "plan the party", "read the contract",
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """One thing a text tells.

    Args:
        field: which field of `KEYS` it is.
        value: its JSON value.
        clause: what a sentence says of the subject: "lives in Porto".
        mine: the same, said by the subject: "live in Porto"; empty if the subject cannot talk.
    """

    field: str
    value: object
    clause: str
    mine: str = ""


@dataclass(frozen=True)
class Record:
    """Something a text tells about: its subject, the facts of it, and what it might have had."""

    kind: str
    subject: str
    first: Fact
    facts: tuple[Fact, ...]
    others: tuple[str, ...]
    short: str = ""

    def all_facts(self) -> tuple[Fact, ...]:
        """Every fact, what names the subject first."""
        return (self.first, *self.facts)


_ClauseMaker = Callable[[random.Random, str], Fact]


def _age(rng: random.Random, _: str) -> Fact:
    age = rng.randint(3, 95)
    form = pick(rng, ("{} years old", "{}", "{} years old", "aged {}")).format(age)
    return Fact("age", age, f"is {form}", f"am {form}")


def _city(rng: random.Random, _: str) -> Fact:
    city = values.city(rng)
    third, first = pick(
        rng,
        (("lives in", "live in"), ("lives in", "live in"), ("is from", "am from"),
         ("comes from", "come from"), ("is based in", "am based in")),
    )  # fmt: skip
    return Fact("city", city, f"{third} {city}", f"{first} {city}")


def _job(rng: random.Random, _: str) -> Fact:
    job = pick(rng, values.JOBS)
    named = article(job)
    if rng.random() < 0.5:
        return Fact("job", job, f"works as {named}", f"work as {named}")
    return Fact("job", job, f"is {named}", f"am {named}")


def _email(rng: random.Random, name: str) -> Fact:
    mail = values.email(rng, name)
    if rng.random() < 0.5:
        return Fact("email", mail, f"has the e-mail address {mail}", f"use the address {mail}")
    return Fact("email", mail, f"can be reached at {mail}", f"can be reached at {mail}")


def _phone(rng: random.Random, _: str) -> Fact:
    phone = values.phone(rng)
    return Fact("phone", phone, f"has the phone number {phone}", f"have the phone number {phone}")


def _hobby(rng: random.Random, _: str) -> Fact:
    hobby = pick(rng, _HOBBIES)
    return Fact("hobby", hobby, f"likes {hobby}", f"like {hobby}")


def _tags(rng: random.Random, _: str) -> Fact:
    hobbies = rng.sample(_HOBBIES, rng.randint(2, 3))
    listed = series(hobbies)
    return Fact("tags", hobbies, f"enjoys {listed}", f"enjoy {listed}")


def _married(rng: random.Random, _: str) -> Fact:
    married = rng.random() < 0.5
    said = "married" if married else "not married"
    return Fact("married", married, f"is {said}", f"am {said}")


def _company(rng: random.Random, _: str) -> Fact:
    company = values.word(rng).capitalize() + pick(rng, ("", " Ltd", " Labs", " Foods", " Works"))
    return Fact("company", company, f"works for {company}", f"work for {company}")


_PERSON: tuple[_ClauseMaker, ...] = (
    _age, _age, _city, _city, _job, _job, _email, _phone, _hobby, _tags, _married, _company,
)  # fmt: skip


def _some(rng: random.Random, makers: Sequence[_ClauseMaker], count: int, name: str) -> list[Fact]:
    """At most `count` facts, all of different fields."""
    found: dict[str, Fact] = {}
    for _ in range(count):
        fact = pick(rng, makers)(rng, name)
        found.setdefault(fact.field, fact)
    return list(found.values())


def _others(fields: Sequence[str], told: Sequence[Fact]) -> tuple[str, ...]:
    known = {fact.field for fact in told}
    return tuple(field for field in fields if field not in known)


def person(rng: random.Random) -> Record:
    """Somebody."""
    name = values.full_name(rng) if rng.random() < 0.75 else values.first_name(rng)
    facts = _some(rng, _PERSON, rng.randint(1, 4), name)
    others = _others(("age", "city", "job", "email", "phone", "hobby"), facts)
    return Record(
        pick(rng, ("person", "person", "user", "contact", "customer", "employee")),
        name,
        Fact("name", name, "", f"am {name}"),
        tuple(facts),
        others,
        name.split()[0],
    )


def product(rng: random.Random) -> Record:
    """Something a shop sells."""
    thing = pick(rng, values.GOODS)
    colour = pick(rng, values.COLOURS)
    price, (money, code) = values.price(rng), pick(rng, _MONEY)
    cost = pick(rng, (f"costs {price} {money}", f"is sold for {price} {money}", f"costs {price}"))
    stock = rng.random() < 0.6
    material, count = pick(rng, _MATERIALS), rng.randint(2, 200)
    facts = [
        Fact("price", price, cost),
        Fact("colour", colour, f"is {colour}"),
        Fact("in_stock", stock, f"is {'in stock' if stock else pick(rng, _SOLD_OUT)}"),
        Fact("material", material, f"is made of {material}"),
        Fact("quantity", count, f"comes in a pack of {count}"),
    ]
    if money in cost:
        facts.append(Fact("currency", code, ""))
    told = _draw(rng, facts, 4)
    others = _others(("colour", "material", "quantity", "price"), told)
    return Record("product", f"the {thing}", Fact("product", thing, ""), told, others, "it")


_SOLD_OUT = ("sold out", "not in stock", "out of stock", "not available")


def _draw(rng: random.Random, facts: Sequence[Fact], most: int) -> tuple[Fact, ...]:
    """One to `most` of `facts`, in any order; a currency only after its price."""
    told = rng.sample(facts, rng.randint(1, min(most, len(facts))))
    spoken = [fact for fact in told if fact.clause]
    if not spoken:
        return (facts[0],)
    silent = [fact for fact in told if not fact.clause]
    fields = {fact.field for fact in spoken}
    return (*spoken, *(fact for fact in silent if fields & {"price", "total"}))


def purchase(rng: random.Random) -> Record:
    """An order of a customer."""
    letter = pick(rng, ("", "", "A", "B-", "ORD-", "X", "R"))
    number = rng.randint(10, 9999)
    ident: object = f"{letter}{number}" if letter else number
    items = rng.sample(values.GOODS, rng.randint(1, 3))
    total, (money, code) = values.price(rng), pick(rng, _MONEY)
    name, paid = values.full_name(rng), rng.random() < 0.6
    facts = [
        Fact("total", total, f"costs {total} {money}"),
        Fact("items", items, f"contains {series([article(item) for item in items])}"),
        Fact("customer", name, f"was placed by {name}"),
        Fact("paid", paid, f"is {'' if paid else 'not '}paid"),
        Fact("currency", code, ""),
    ]
    told = _draw(rng, facts, 5)
    others = _others(("customer", "total", "paid"), told)
    return Record("order", f"order {ident}", Fact("id", ident, ""), told, others, "it")


def book(rng: random.Random) -> Record:
    """A book that nobody wrote."""
    title, author = values.title(rng), values.full_name(rng)
    year, pages = rng.randint(1890, 2026), rng.randint(40, 900)
    genre = pick(rng, _GENRES)
    facts = [
        Fact("author", author, pick(rng, ("was written by {}", "is by {}")).format(author)),
        Fact("year", year, pick(rng, ("was published in {}", "appeared in {}")).format(year)),
        Fact("pages", pages, f"has {pages} pages"),
        Fact("genre", genre, f"is {article(genre)}"),
    ]
    told = _draw(rng, facts, 4)
    others = _others(("author", "year", "pages"), told)
    return Record("book", title, Fact("title", title, ""), told, others, "it")


def pet(rng: random.Random) -> Record:
    """Somebody's animal."""
    name, animal, owner = values.first_name(rng), pick(rng, _ANIMALS), values.full_name(rng)
    age, colour = rng.randint(2, 18), pick(rng, values.COLOURS)
    facts = [
        Fact("animal", animal, f"is {article(animal)}", f"am {article(animal)}"),
        Fact("age", age, f"is {age} years old", f"am {age} years old"),
        Fact("colour", colour, f"is {colour}", f"am {colour}"),
        Fact("owner", owner, f"belongs to {owner}", f"belong to {owner}"),
    ]
    told = _draw(rng, facts, 4)
    return Record("pet", name, Fact("pet", name, "", f"am {name}"), told,
                  _others(("age", "owner", "colour"), told), name)  # fmt: skip


def trip(rng: random.Random) -> Record:
    """A journey of somebody."""
    name, start, end = values.full_name(rng), values.city(rng), values.city(rng)
    day, price = some_date(rng).isoformat(), values.price(rng)
    facts = [
        Fact("from", start, f"leaves from {start}", f"leave from {start}"),
        Fact("to", end, f"travels to {end}", f"travel to {end}"),
        Fact("date", day, f"travels on {day}", f"travel on {day}"),
        Fact("price", price, f"pays {price}", f"pay {price}"),
    ]
    told = _draw(rng, facts, 4)
    return Record("trip", name, Fact("traveller", name, "", f"am {name}"), told,
                  _others(("from", "date", "price"), told), name.split()[0])  # fmt: skip


def task(rng: random.Random) -> Record:
    """Something to do."""
    name, what = values.first_name(rng), pick(rng, _TASKS)
    day, level = some_date(rng).isoformat(), pick(rng, ("low", "high", "medium", "urgent"))
    done = rng.random() < 0.4
    facts = [
        Fact("assignee", name, f"is for {name}"),
        Fact("due", day, f"is due on {day}"),
        Fact("priority", level, f"has {level} priority"),
        Fact("done", done, f"is {'done' if done else 'not done'}"),
    ]
    told = _draw(rng, facts, 3)
    return Record("task", f'the task "{what}"', Fact("task", what, ""), told,
                  _others(("assignee", "due", "priority"), told), "it")  # fmt: skip


_MAKERS = (
    person, person, person, person, person, product, product, product, purchase, purchase, book,
    book, pet, trip, task,
)  # fmt: skip


def record(rng: random.Random) -> Record:
    """Some record."""
    return pick(rng, _MAKERS)(rng)


def prose(rng: random.Random, told: Record) -> str:
    """The record in one to three sentences."""
    if told.first.mine and rng.random() < 0.2:
        return _own_words(rng, told)
    clauses = [fact.clause for fact in told.facts if fact.clause]
    subject = told.subject
    if told.kind == "product" and rng.random() < 0.2:
        subject = f"our {subject[4:]}"
    if len(clauses) == 1 or rng.random() < 0.6:
        return f"{high(subject)} {series(clauses)}."
    at = rng.randint(1, len(clauses) - 1)
    again = told.short if told.short and rng.random() < 0.9 else subject
    return f"{high(subject)} {series(clauses[:at])}. {high(again)} {series(clauses[at:])}."


def _own_words(rng: random.Random, told: Record) -> str:
    clauses = [fact.mine for fact in told.facts]
    begin = pick(rng, ("My name is {}", "I am {}", "Hi, I'm {}", "Hello, my name is {}"))
    said = f"I {series(clauses)}"
    join = pick(rng, (". ", " and "))
    if join == " and " and len(clauses) > 1:
        join = ". "
    return f"{begin.format(told.subject)}{join}{said}."


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def labelled(rng: random.Random, told: Record) -> str:
    """The record as labels and values: "Name: Ana Ruiz"."""
    pairs = [(pick(rng, KEYS[fact.field]), _shown(fact.value)) for fact in told.all_facts()]
    lists = any(isinstance(fact.value, list) for fact in told.facts)
    joint = pick(rng, ("\n", "\n", "; ", " | ") if lists else ("\n", "\n", ", ", "; ", " | "))
    form = pick(rng, ("{}: {}", "{}: {}", "{} = {}", "- {}: {}" if joint == "\n" else "{}={}"))
    capital = rng.random() < 0.6
    lines = [form.format(high(k.replace("_", " ")) if capital else k, shown) for k, shown in pairs]
    return joint.join(lines)


def terse(told: Record) -> str:
    """The record as bare values: "Ana Ruiz, 34, nurse"."""
    return ", ".join(_shown(fact.value) for fact in told.all_facts())
