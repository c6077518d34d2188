"""What stands in the places of a ticket's sentences: names, dates, parts of the product."""

from __future__ import annotations

import random
from collections.abc import Callable

#: First names of customers and their colleagues.
NAMES = (
    *("Ana", "Ben", "Chloe", "David", "Elena", "Farid", "Greta", "Hugo"),
    *("Ines", "Jonas", "Kavya", "Liam", "Mara", "Nils", "Olga", "Pablo"),
    *("Quinn", "Rosa", "Samir", "Tara", "Uma", "Viktor", "Wanda", "Yusuf"),
    *("Zoe", "Aisha", "Bruno", "Carla", "Dmitri", "Emma", "Felix", "Gita"),
    *("Hanna", "Ivan", "Julia", "Kenji", "Laura", "Marco", "Nadia", "Omar"),
    *("Petra", "Rafael", "Sofia", "Tomas", "Ursula", "Vera", "Wei", "Yara"),
    *("André", "Zoltán", "Mei", "Luca", "Noor", "Erik", "Lucía", "Mateo"),
    *("Priya", "Stefan", "Agnes", "Paul", "Ruth", "Martin", "Leila", "Oscar"),
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_SLOTS: dict[str, tuple[str, ...]] = {
    "person": NAMES,
    "month": _MONTHS,
    "plan": ("Free", "Starter", "Team", "Pro", "Business", "Enterprise", "Basic", "Studio"),
    "browser": ("Firefox", "Chrome", "Safari", "Edge", "Opera", "Brave", "Vivaldi"),
    "system": ("Windows", "macOS", "Linux", "Android", "an iPad", "a Chromebook", "my phone"),
    "fmt": ("PDF", "CSV", "Excel", "PNG", "JSON", "Word", "SVG", "XML", "Markdown", "ZIP"),
    "board": (
        *("Spring Launch", "Website Relaunch", "Roadmap", "Marketing", "Office Move", "Hiring"),
        *("Sprint 12", "Sprint 31", "Product Ideas", "Book Fair", "Onboarding", "Design Review"),
        *("Garden Project", "Budget 2026", "Summer Camp", "Client Work", "Sales Pipeline"),
        *("Bike Tour", "Editorial Plan", "Release 4", "Warehouse", "School Play", "Research"),
        *("Kitchen Rebuild", "Trade Show", "Weekly Tasks", "Mobile Team", "Customer Survey"),
    ),
    "app": ("Larkspur Boards", "Larkspur", "the app", "your app", "Boards", "your tool"),
    "charged": ("charged", "billed", "debited"),
    "card": ("credit card", "company card", "bank card", "debit card", "new card"),
    "account": ("account", "workspace", "profile", "Larkspur account"),
    "contract": ("subscription", "plan", "contract", "membership", "{plan} plan"),
    "bill": ("invoice", "bill", "receipt", "statement"),
    "we": ("we", "my team and I", "our team", "our company", "all of us"),
    "screen": (
        *("the calendar view", "the timeline", "the board view", "the task list", "the dashboard"),
        *("the search page", "the report page", "the settings page", "the mobile app", "the menu"),
        *("the file upload", "the comment box", "the Gantt chart", "the filter menu", "the editor"),
        *("the export window", "the start page", "the card window", "the desktop app"),
    ),
    "fails": (
        *("crashes", "freezes", "shows an error", "stays blank", "stops responding", "hangs"),
        *("turns white", "does not load", "closes itself", "is broken", "flickers", "fails"),
    ),
    "action": (
        *("open {board}", "drag a card to another column", "attach {a_fmt} file", "add a comment"),
        *("change a due date", "sort the tasks", "assign a task to {person}", "scroll down"),
        *("rename a column", "press save", "paste a picture", "use {browser}", "search for a card"),
        *("open a large board", "click the menu", "add a label", "export to {fmt}", "edit a card"),
        *("delete a comment", "zoom out", "resize the window", "mark a task as done"),
    ),
    "task": (
        *("export {board} to {fmt}", "share a board with guests", "add a new team member"),
        *("move cards between boards", "set a due date", "archive old boards", "copy a board"),
        *("restore a deleted card", "change the column order", "filter tasks by person"),
        *("import tasks from {fmt}", "connect my calendar", "print the timeline", "link two cards"),
        *("turn off email notifications", "create a template", "set a reminder", "sort my tasks"),
        *("rename a column", "make a board private", "see a card's history", "add a checklist"),
        *("change the display language", "track time on tasks", "colour cards by label"),
        *("assign a card to {person}", "attach {a_fmt} file", "hide finished tasks"),
        *("show {board} as calendar", "mention a colleague", "search in all boards"),
    ),
    "feature": (
        *("a dark theme", "an offline mode", "{a_fmt} export", "keyboard shortcuts", "sub-tasks"),
        *("more card colours", "recurring tasks", "a time tracker", "voting on cards"),
        *("an undo button", "custom fields", "a weekly summary email", "a phone widget"),
        *("card templates", "bulk editing", "a Spanish translation", "a Polish translation"),
        *("a plugin for {browser}", "{a_fmt} import", "larger fonts", "a map view", "a chat"),
        *("emoji reactions", "a workload chart", "automatic reminders", "a public roadmap"),
        *("nested boards", "smarter search filters", "a presentation mode", "a calendar sync"),
    ),
    "ability": (
        *("sort cards by priority", "lock finished cards", "merge two boards", "pin comments"),
        *("record voice notes", "see all boards at once", "hide empty columns", "use own icons"),
        *("schedule messages", "group cards by person", "draw on a card", "sign with a pen"),
        *("work without internet", "rate tasks with stars", "collapse columns", "tag guests"),
        *("compare two sprints", "set board backgrounds", "reply by email", "split a card"),
    ),
    "why_leave": (
        *("we found another tool", "the project is over", "we no longer need it", "we are closing"),
        *("our budget was cut", "nobody here uses it", "we work with paper again", "I retire"),
        *("we merged with another team", "it does not fit us", "I changed jobs"),
    ),
}


def _amount(rng: random.Random) -> str:
    number = rng.randrange(5, 900)
    cents = rng.choice(("", "", ".00", ".50", ".90"))
    return rng.choice((f"${number}{cents}", f"{number} euros", f"€{number}{cents}"))


def _date(rng: random.Random) -> str:
    month, day = rng.choice(_MONTHS), rng.randrange(1, 29)
    return rng.choice((f"{month} {day}", f"{day} {month}"))


def _number(rng: random.Random) -> str:
    return str(rng.randrange(2, 60))


def _code(rng: random.Random) -> str:
    return str(rng.randrange(100, 9999))


_DRAWN: dict[str, Callable[[random.Random], str]] = {
    "amount": _amount,
    "date": _date,
    "n": _number,
    "code": _code,
}


class Values(dict[str, str]):
    """The slot values of one ticket, each drawn when it is first needed."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng

    def __missing__(self, key: str) -> str:
        if key == "a_fmt":
            name = self["fmt"]
            return f"{'an' if name[0] in 'ESX' else 'a'} {name}"
        drawn = _DRAWN.get(key)
        value = drawn(self._rng) if drawn else self._rng.choice(_SLOTS[key])
        self[key] = value = value.format_map(self) if "{" in value else value
        return value
