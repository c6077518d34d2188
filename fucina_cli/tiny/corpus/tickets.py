"""Support tickets of the fictional Larkspur Boards: their triage, and replies to the customers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from fucina_cli.tiny.corpus.document import Chat, Document, Text

CATEGORIES = ("billing", "bug", "how_to", "account_access", "feature_request", "cancellation")
"""What a ticket can be about."""

PRIORITIES = ("low", "normal", "high", "urgent")
"""How much a ticket hurries, as its cue says."""


@dataclass(frozen=True)
class Ticket:
    """A ticket of a customer, with its right labels."""

    text: str
    category: str
    priority: str


@dataclass(frozen=True)
class _Kind:
    """One kind of issue: a short summary, a clause for the thoughts, and ways to say it."""

    summary: str
    reason: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class _Draft:
    """A training ticket with all that is known about it."""

    text: str
    category: str
    priority: str
    cue: str
    summary: str
    reason: str
    name: str


# --- slots -----------------------------------------------------------------------------------

_NAMES = (
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
    "person": _NAMES,
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


class _Values(dict[str, str]):
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


# --- issues ----------------------------------------------------------------------------------

_BILLING = (
    _Kind(
        "Charged twice for one period",
        "The customer was charged twice",
        (
            "I was {charged} twice for {month}, {amount} each time.",
            "You {charged} my {card} two times on {date}.",
            "There are two payments of {amount} to Larkspur on my {card}.",
            "My {card} shows a double charge of {amount} for {month}.",
            "We paid for {month} twice and would like one payment back.",
            "The {plan} plan was {charged} twice in {month}.",
            "We paid one {bill} two times, on {date} and a week later.",
            "My bank account shows that you took {amount} twice.",
        ),
    ),
    _Kind(
        "An invoice is missing",
        "An invoice is missing",
        (
            "I never received the {bill} for {month}.",
            "Where is our {bill} for {month}? Our accountant asks for it.",
            "The {bill} of {date} did not arrive in my inbox.",
            "Please send me the {bill} for the {plan} plan from {month}.",
            "Our bookkeeping needs a copy of the {month} {bill}.",
            "The list of invoices in {app} has nothing for {month}.",
        ),
    ),
    _Kind(
        "Wrong amount on the invoice",
        "The amount on the invoice is wrong",
        (
            "The {bill} says {amount}, but the price of the {plan} plan is lower.",
            "Our {bill} for {month} shows {amount}, which is too much.",
            "Why did we pay {amount} in {month} instead of the usual price?",
            "The {bill} lists {n} users, but we only have a few.",
            "We were {charged} for {n} seats that nobody uses.",
            "The total of {amount} on our last {bill} is not what we agreed.",
            "I was overcharged by {amount} in {month}.",
            "The sum on our invoice does not match the order of {date}.",
        ),
    ),
    _Kind(
        "Wants money paid back",
        "The customer wants money back",
        (
            "Please refund the {amount} that was {charged} on {date}.",
            "I would like my money back for {month}, it was {amount}.",
            "Can I get a refund for the {plan} plan that I bought by mistake?",
            "You promised a refund of {amount} and it has not arrived.",
            "When will the {amount} be paid back to my {card}?",
        ),
    ),
    _Kind(
        "Payment by card fails",
        "A payment fails",
        (
            "My {card} is declined when I try to pay {amount}.",
            "The payment for {month} failed although my {card} is valid.",
            "Paying for the {plan} plan with my {card} is refused every time.",
            "Our bank says it is fine, but you reject the payment of {amount}.",
            "The checkout does not accept my {card} for the {plan} plan.",
            "Your payment page says that my {card} is unknown.",
            "We could not pay the last invoice, the transfer came back.",
        ),
    ),
    _Kind(
        "Wants to change the payment card",
        "The customer wants another means of payment",
        (
            "I need to replace the {card} you use for our payments.",
            "Please use our {card} for the next {bill} and not the old one.",
            "We want to pay by bank transfer and not with a {card}.",
            "My {card} expires in {month}, where do I give you the next one?",
            "Can {we} pay the {plan} plan yearly and by bank transfer?",
        ),
    ),
    _Kind(
        "Tax number missing on the invoice",
        "The invoice needs other tax or address data",
        (
            "Our VAT number is not on the {bill} for {month}.",
            "Please put our tax number on the {bill} of {date}.",
            "The {bill} has our old address, please correct it.",
            "The company name on the {month} {bill} is spelled wrong.",
            "We are exempt from tax, but you added VAT to the {bill}.",
        ),
    ),
    _Kind(
        "Discount was not applied",
        "A discount is missing",
        (
            "The discount code {code} was not applied to my {bill}.",
            "We are a school and did not get the discount on the {plan} plan.",
            "You offered {n} percent off, but I paid the full {amount}.",
            "My coupon for the {plan} plan had no effect on the price.",
            "The {bill} of {date} shows the full price without our discount.",
        ),
    ),
    _Kind(
        "Question about the price",
        "The customer asks about the price",
        (
            "What does the {plan} plan cost for {n} users per month?",
            "How much do we pay if we add {n} people to the {plan} plan?",
            "Did the price of the {plan} plan go up to {amount}?",
            "Is the {plan} plan cheaper when we pay for a year?",
            "Is VAT included in the {amount} of the {plan} plan?",
            "Which fee do we have to pay for {n} extra users?",
            "How high is the fee for a student on the {plan} plan?",
        ),
    ),
    _Kind(
        "Unknown charge on the bill",
        "There is a charge the customer does not know",
        (
            "There is a charge of {amount} on {date} that I do not know.",
            "What is the fee of {amount} on our {month} {bill} for?",
            "I see a payment of {amount} to Larkspur that I did not order.",
            "We are on the Free plan and still you {charged} us {amount}.",
            "My {card} was {charged} {amount} after the trial without my order.",
        ),
    ),
)

_BUG = (
    _Kind(
        "{screen} {fails}",
        "Something in the app does not work",
        (
            "{screen} {fails} when I {action}.",
            "When I {action}, {screen} {fails}.",
            "Each time I {action} in {app}, {screen} {fails}.",
            "Since the update of {date}, {screen} {fails}.",
            "{screen} {fails} in {browser} on {system}.",
            "{screen} {fails} as soon as I {action} with {browser}.",
            "I try to {action}, but {screen} {fails}.",
            "On {system}, {screen} {fails} and I have to reload the page.",
        ),
    ),
    _Kind(
        "Error {code} when saving",
        "The app shows an error",
        (
            "I get error {code} whenever I {action}.",
            "{app} shows error {code} when I save a card.",
            "The message says error {code} after I {action} on {system}.",
            "Saving a task on {board} ends with error code {code}.",
            "A red box with error {code} appears when I {action}.",
            "The server answers with error {code} on the board {board}.",
        ),
    ),
    _Kind(
        "Cards disappear from {board}",
        "Data disappears from a board",
        (
            "Cards on {board} disappear after I {action}.",
            "{n} tasks vanished from the board {board} on {date}.",
            "My comments on {board} are gone after a reload.",
            "The changes that {person} makes on {board} are not saved.",
            "The board {board} is suddenly empty for {person} and me.",
            "Attachments on {board} vanish when I {action}.",
        ),
    ),
    _Kind(
        "Export to {fmt} is broken",
        "An export does not work",
        (
            "The {fmt} export of {board} gives a damaged file.",
            "Exporting {board} to {fmt} stops at {n} percent.",
            "The {fmt} file from {app} is empty when I open it.",
            "The export to {fmt} mixes up the columns of {board}.",
            "The {fmt} download of {board} never finishes in {browser}.",
        ),
    ),
    _Kind(
        "Notifications do not arrive",
        "Notifications do not work",
        (
            "Notifications for {board} do not arrive since {date}.",
            "I get each notification of {board} {n} times.",
            "The reminder emails show the wrong date for tasks of {person}.",
            "Mentions of {person} trigger no notification on {system}.",
            "Reminders for {board} come {n} hours late.",
        ),
    ),
    _Kind(
        "The app is very slow",
        "The app is very slow",
        (
            "{app} is extremely slow in {browser}, a click takes {n} seconds.",
            "Loading {board} takes {n} seconds since the last update.",
            "The page of {board} loads forever on {system}.",
            "Typing a comment in {app} lags by {n} seconds.",
            "Scrolling through {board} is jerky and slow in {browser}.",
        ),
    ),
    _Kind(
        "Wrong data on a board",
        "The app shows wrong data",
        (
            "Due dates on {board} are shifted by one day.",
            "The timeline of {board} shows {month} where it should show the next month.",
            "The counter says {n} open tasks, but {board} has none.",
            "The chart of {board} shows wrong numbers after I {action}.",
            "The search does not find cards of {person} that exist.",
            "Sorting by date puts {month} before the earlier months, which is wrong.",
        ),
    ),
    _Kind(
        "Button does not react",
        "A button does not react",
        (
            "The save button does nothing when I click it in {browser}.",
            "Nothing happens when I press the plus button on {board}.",
            "The buttons on {board} overlap in {browser} and I cannot click them.",
            "Drag and drop stopped working on {system}.",
            "The upload of {a_fmt} file hangs at {n} percent.",
            "The sync between {system} and the web version is broken.",
            "Parts of the screen overlap in the browser when I {action}.",
            "There is a bug on {board}: every click opens the wrong card.",
            "{app} quits by itself while I {action}.",
            "A crash of {app} destroyed my draft of {n} lines.",
            "The labels on {board} have lost their colours, they look wrong.",
            "Some letters in card titles turn into question marks in {browser}.",
            "The text on the second page is cut off on small screens.",
        ),
    ),
)

_HOW_TO = (
    _Kind(
        "How to {task}",
        "The customer asks how to do something",
        (
            "How do I {task}?",
            "How can I {task} in {app}?",
            "How can {we} {task} on {system}?",
            "Could you explain how to {task}?",
            "I am new to {app} and want to {task}, how does it work?",
            "Where do I click to {task}?",
            "Which menu do I need to {task} with {browser}?",
            "What is the best way to {task}?",
            "Is there a guide that shows how to {task}?",
            "Please tell me the steps to {task}.",
            "{person} asked me to {task}, but I do not know how.",
            "I cannot find out how to {task} in {app}.",
            "Is it possible to {task} on the {plan} plan, and how?",
            "I would like to {task}. Where is that setting?",
            "What do I have to do to {task}?",
            "Can you show me how to {task}?",
            "I read the help page but still do not understand how to {task}.",
            "We are trying to {task} and need instructions.",
        ),
    ),
    _Kind(
        "How to invite people",
        "The customer asks how to invite someone",
        (
            "How do I invite {person} to the board {board}?",
            "Where can I add {person} to {board} as a guest?",
            "What are the steps to invite {n} colleagues to {board}?",
            "How can {person} see {board} without editing it?",
            "I want to give {person} a link to {board}, how does that work?",
        ),
    ),
    _Kind(
        "How to use {fmt} files",
        "The customer asks how to use a file format",
        (
            "Which columns must {a_fmt} file have for the import?",
            "How do I get my tasks from {a_fmt} file into {board}?",
            "Where do I find the {fmt} export of {board}?",
            "How can I save {board} as {fmt} for {person}?",
            "How do I turn {board} into {a_fmt} report for {month}?",
            "Can you tell me how {a_fmt} file is added to a card?",
        ),
    ),
    _Kind(
        "Where to find a setting",
        "The customer asks where a setting is",
        (
            "Where do I find the settings for the board {board}?",
            "Where can I change the time zone of {board}?",
            "In which menu is the archive of {board}?",
            "Where do I see what {person} did on {board} in {month}?",
            "How do I choose which emails {app} sends me?",
            "Where is the list of keyboard shortcuts in {app}?",
            "In which corner are the tasks that I finished last week?",
            "In what place do I set the working days of {board}?",
            "I am looking for the option that makes the text bigger, where is it?",
            "How do I get rid of the sounds {app} makes?",
            "Is there a way to see only my own cards, and where do I set it?",
        ),
    ),
    _Kind(
        "How a function works",
        "The customer asks how a function works",
        (
            "What is the difference between a label and a column in {app}?",
            "What does the small star on a card of {board} mean?",
            "How does the timeline of {board} decide the order of tasks?",
            "What happens to the cards when I archive {board}?",
            "Can you explain what the roles on {board} mean?",
            "How many boards can I make on the {plan} plan, and how do I group them?",
            "Do you have a tutorial about the {plan} plan for beginners?",
            "What is the trick to work with two projects at the same time?",
            "Can somebody explain to me what swimlanes are for?",
            "What must I do so that my colleagues see my changes?",
            "How is the order of the cards changed on a phone?",
            "Which key opens the search, and which one closes it?",
            "How do several people write in the same card?",
        ),
    ),
)

_ACCOUNT_ACCESS = (
    _Kind(
        "Cannot log in",
        "The customer cannot log in",
        (
            "I cannot log in to my {account} since {date}.",
            "The login page says my user name is unknown.",
            "Signing in with {browser} always sends me back to the login page.",
            "I am not able to sign in to {app} on {system}.",
            "{person} cannot log in to our {account} any more.",
            "My login worked in {month}, but it is refused since then.",
            "{app} says wrong user or password when I sign in.",
            "After the update I cannot get into my {account}.",
            "The login is refused for several of us.",
            "The sign-in form does not take my password any more.",
            "I am stuck at the login page, it keeps loading.",
        ),
    ),
    _Kind(
        "Password reset does not work",
        "The customer cannot reset the password",
        (
            "The password reset email never arrives.",
            "I asked for a new password {n} times and got no email.",
            "The link to reset my password has expired.",
            "The password link in your email says it is not valid.",
            "I requested a password reset on {date}, but nothing came.",
            "Resetting the password of {person} does not work, the link is dead.",
        ),
    ),
    _Kind(
        "Forgot the password",
        "The customer forgot the password",
        (
            "I forgot my password and need a new one.",
            "I do not remember the password of my {account}.",
            "Please reset the password for the {account} of {person}.",
            "My password is lost and I want to get in again.",
            "{person} lost the password for {app}, please send a new one.",
            "I changed my password on {date} and it is not accepted.",
            "My old password no longer works and I cannot think of the right one.",
        ),
    ),
    _Kind(
        "Account is locked",
        "The account is locked",
        (
            "My {account} is locked after {n} wrong attempts.",
            "Please unlock the {account} of {person}.",
            "The {account} of {person} was blocked on {date}, please open it again.",
            "It says that my {account} has been suspended.",
            "I typed a wrong password {n} times and now I am locked out.",
            "We are locked out of our {account} since {date}.",
        ),
    ),
    _Kind(
        "Problem with the login code",
        "The second factor for the login fails",
        (
            "I have a new phone and the login codes are gone.",
            "The two-factor code is rejected every time I sign in.",
            "The text message with the login code does not come.",
            "I lost my backup codes and cannot pass the second step.",
            "The authenticator shows {code}, but {app} refuses the code.",
            "Please switch off two-factor login for {person}, the phone was stolen.",
        ),
    ),
    _Kind(
        "Wants a new login address",
        "The login address must be changed",
        (
            "I no longer have the email address that I sign in with.",
            "My login still uses the address of my old company.",
            "Please change the email address of my {account}, I lost the old one.",
            "{person} left and we need the admin login of our {account}.",
            "The owner {person} is gone and nobody can enter the {account}.",
            "I signed up with the wrong email and cannot confirm my {account}.",
        ),
    ),
    _Kind(
        "No access to a board",
        "The customer has no access to a board",
        (
            "{app} says I have no permission to open {board}.",
            "I have lost access to the board {board}.",
            "{person} is not allowed to enter {board}, access denied.",
            "My admin rights on {board} are gone since {date}.",
            "The invitation for {person} to {board} says it has expired.",
            "I was removed from our {account} by mistake, please let me in.",
            "Please give {person} access to {board} again.",
            "The login of our new colleague does not exist, although she signed up.",
            "The user account of our new employee is not active.",
        ),
    ),
    _Kind(
        "Possible stranger in the account",
        "Someone else may be using the account",
        (
            "Someone else signed in to my {account} on {date}.",
            "I got an email about a login that was not me.",
            "I think a stranger knows my password.",
            "There is an unknown device with {browser} in my login history.",
            "The single sign-on of our company sends me to the wrong {account}.",
            "I fear that my account was hacked on {date}.",
            "Somebody guessed my password on {date}.",
        ),
    ),
)

_FEATURE_REQUEST = (
    _Kind(
        "Wish for {feature}",
        "The customer wishes for {feature}",
        (
            "It would be great to have {feature} in {app}.",
            "I wish {app} had {feature}.",
            "Please add {feature} to {app}.",
            "Could you add {feature} in a future version?",
            "We would love to see {feature} on our boards.",
            "I miss {feature} in {app}.",
            "Do you plan to add {feature}?",
            "My suggestion for {app} is {feature}.",
            "{we} would really like {feature}.",
            "An idea for {app}: {feature}.",
            "Other tools offer {feature}, and {app} should have this too.",
            "Is {feature} on your roadmap? {person} and I would use it.",
            "{feature} would make {app} even better.",
            "A small wish from {person} and me: {feature}.",
            "I want to propose {feature} for the {plan} plan.",
            "{feature} would be a nice addition to the {plan} plan.",
            "Have you thought about {feature}? It would help {person} a lot.",
            "The only thing that is missing in {app} is {feature}.",
            "Our work on {board} would be easier with {feature}.",
            "I vote for {feature} as the next new feature.",
            "Feature request: {feature} for {board}.",
            "{feature} would save {we} {n} minutes a day.",
        ),
    ),
    _Kind(
        "Wish to {ability}",
        "The customer wishes to {ability}",
        (
            "It would be nice to {ability}.",
            "I would love to be able to {ability} in {app}.",
            "It would be great if we could {ability}.",
            "Please make it possible to {ability}.",
            "I wish I could {ability} on {board}.",
            "{app} should let us {ability}.",
            "It would help {person} and me if {app} let us {ability}.",
            "Could you build a way to {ability}?",
            "We suggest a button to {ability}.",
            "An option to {ability} would be wonderful.",
            "A feature to {ability} would be useful for {board}.",
            "Please consider an option to {ability}.",
            "My idea: let users {ability}.",
            "Will it ever be possible to {ability} in {app}?",
            "In the next version I hope we can {ability}.",
            "It is a pity that one cannot {ability} yet, please add it.",
            "It would be fantastic to {ability}.",
            "We would save time if one could {ability}.",
        ),
    ),
    _Kind(
        "Idea for the product",
        "The customer suggests an improvement",
        (
            "How lovely it would be if boards remembered my last filter.",
            "Could you build a list of all past sprints?",
            "A list with the newest cards first is what we hope for.",
            "My proposal is that comments can be sorted, that would help us.",
            "It would be great if {app} could read the titles aloud.",
            "Would you consider a smaller font for long card titles?",
            "Every board deserves its own start picture, could you do that?",
            "I would love a card that repeats itself each month.",
            "It would be very useful if {app} warned me about double tasks.",
            "Maybe you could let visitors write comments in a next version.",
        ),
    ),
    _Kind(
        "Wish for {fmt} support",
        "The customer suggests support for {fmt}",
        (
            "Please support {fmt} files in a future version.",
            "It would be useful if cards could show {fmt} files.",
            "I suggest that {board} can be saved as {fmt} with one click.",
            "Would you consider {fmt} as a new format for reports?",
            "We hope for better {fmt} support in the next release.",
            "A preview of {fmt} files on cards would be lovely.",
        ),
    ),
)

_CANCELLATION = (
    _Kind(
        "Wants to cancel the plan",
        "The customer wants to cancel",
        (
            "I want to cancel my {contract}.",
            "Please cancel our {plan} plan at the end of {month}.",
            "{we} would like to cancel the {contract} because {why_leave}.",
            "Cancel my {contract} please, {why_leave}.",
            "We are cancelling the {plan} plan for {n} users.",
            "I hereby cancel the {contract} with effect from {date}.",
            "Kindly confirm that our {contract} is cancelled on {date}.",
            "We have decided to cancel, since {why_leave}.",
            "Our {contract} should be cancelled, {why_leave}.",
            "This is my notice of cancellation for the {plan} plan.",
            "What must I do to cancel the {plan} plan?",
            "All {n} seats shall be cancelled in {month}.",
            "Please take back my order of the {plan} plan and cancel it.",
        ),
    ),
    _Kind(
        "Wants to close the account",
        "The customer wants to close the account",
        (
            "Please close my {account}, {why_leave}.",
            "I would like to close our {account} on {date}.",
            "Close the {account} of {person}, {why_leave}.",
            "We want to shut down our {account} for good.",
            "I do not need the {account} any more, please close it.",
            "Our {account} can be closed at the end of {month}.",
            "Please remove my {account} completely, {why_leave}.",
            "My account is not needed, I was just testing {app}.",
            "My account is not used any more and should be closed.",
        ),
    ),
    _Kind(
        "Wants all data deleted",
        "The customer leaves and wants the data deleted",
        (
            "Please delete my {account} and all my data.",
            "We are leaving {app}, please erase {board} and everything else.",
            "I want you to delete my {account} because {why_leave}.",
            "{why_leave}, so please delete all our boards and the {account}.",
            "Delete everything of {person} and end the {contract}.",
            "Please wipe our {account} after the {contract} ends.",
        ),
    ),
    _Kind(
        "Does not want to renew",
        "The customer does not want to renew",
        (
            "We do not want to renew our {contract} in {month}.",
            "Please do not renew the {plan} plan after {date}.",
            "Stop the automatic renewal of my {contract}.",
            "Our {contract} ends in {month} and we will not extend it.",
            "{why_leave}, so there will be no renewal in {month}.",
            "Please switch off the renewal of the {plan} plan on {date}.",
            "The {contract} should simply run out in {month}.",
        ),
    ),
    _Kind(
        "Wants to end the subscription",
        "The customer wants to end the contract",
        (
            "Please end our {contract} on {date}.",
            "{why_leave} and we want to end the {contract}.",
            "I would like to terminate the {contract} of {person}.",
            "We terminate our {contract} because {why_leave}.",
            "I want to quit {app}, {why_leave}.",
            "{we} will stop using {app} in {month}, please end the {contract}.",
            "It is time to say goodbye to {app}, {why_leave}.",
            "{why_leave} and I wish to unsubscribe from the {plan} plan.",
            "How much notice do we have to give to leave the {plan} plan?",
            "We are moving to another tool and give up the {plan} plan.",
            "My department leaves {app} and does not want to pay any longer.",
            "A cheaper tool does the same, so we leave {app}.",
            "One year with the {plan} plan was enough for us, please stop it.",
            "Take us off the {plan} plan, we do not want it any more.",
        ),
    ),
    _Kind(
        "Wants to stop after the trial",
        "The customer wants to stop after the trial",
        (
            "I do not want to continue after the trial, please stop it.",
            "The trial was fine, but {why_leave}, so we will not go on.",
            "Please end my trial of the {plan} plan, I do not want to keep it.",
            "We will not keep {app} after the trial ends on {date}.",
            "Cancel the trial of {person} before it becomes a paid plan.",
        ),
    ),
)

_ISSUES: dict[str, tuple[tuple[_Kind, str], ...]] = {
    category: tuple((kind, sentence) for kind in kinds for sentence in kind.sentences)
    for category, kinds in zip(
        CATEGORIES,
        (_BILLING, _BUG, _HOW_TO, _ACCOUNT_ACCESS, _FEATURE_REQUEST, _CANCELLATION),
        strict=True,
    )
}

_CUES: dict[str, tuple[str, ...]] = {
    "low": (
        "No hurry.",
        "There is no hurry at all.",
        "Whenever you have time.",
        "Please look at it whenever you have time.",
        "I am just curious.",
        "Just curious.",
        "This is not important.",
        "This can wait.",
        "It can easily wait until next week.",
        "No rush.",
        "There is no rush with this.",
        "Take your time.",
        "It is only a small thing.",
        "It does not bother us much.",
        "Answer when it suits you.",
        "An answer next month is fine too.",
        "It is not pressing.",
        "This has very low priority for us.",
        "Just a minor point.",
        "We can live with it for now.",
        "Only if you find a quiet moment.",
        "Nothing depends on it.",
    ),
    "normal": (
        "Thanks in advance.",
        "Thank you for your help.",
        "I look forward to your answer.",
        "Any help is welcome.",
        "Please let me know.",
        "Could you have a look?",
        "Thank you very much.",
        "Many thanks for looking into this.",
        "I would be glad to hear from you.",
        "Please tell me what you think.",
    ),
    "high": (
        "This blocks my work.",
        "I cannot continue my work until this is solved.",
        "Today please.",
        "I need an answer today.",
        "Please reply today.",
        "It would be good to solve this today.",
        "I need this by tomorrow.",
        "My deadline is tomorrow.",
        "This is important for us.",
        "It is very important to me.",
        "Please answer as soon as you can.",
        "Please treat this with high priority.",
        "I need it before the end of the day.",
        "This is holding me up.",
        "A quick answer would help me a lot.",
        "It costs me a lot of time every day.",
        "My boss wants an answer by tonight.",
        "I hope you can fix this quickly.",
        "We have a meeting about this tomorrow morning.",
        "Please do not wait long with this.",
    ),
    "urgent": (
        "Our whole team is blocked.",
        "The whole company is blocked.",
        "Nobody here can work.",
        "Production is down.",
        "The demo is in an hour.",
        "Our presentation starts in ten minutes.",
        "This is urgent.",
        "This is extremely urgent.",
        "Urgent!",
        "URGENT!",
        "We need help right now.",
        "Please help immediately.",
        "This is an emergency.",
        "It is an emergency for all of us.",
        "Everything stands still here.",
        "All our work has stopped.",
        "We lose money every minute.",
        "Please call me at once.",
        "The client is waiting in the next room.",
        "We need this within the hour.",
        "It cannot wait another minute.",
        "We go live in thirty minutes.",
    ),
}

_OPENINGS = (
    *("Hello,", "Hi,", "Hi team,", "Dear support,", "Good morning,", "Hello Larkspur,", "Hey,"),
    *("Hi there,", "Dear team,", "Good afternoon,", "Hello support team,", "Hi Larkspur team,"),
)
_CLOSINGS = (
    *(
        "Thanks, {}",
        "Best, {}",
        "Regards, {}",
        "Kind regards, {}",
        "Cheers, {}",
        "{}",
        "Thank you, {}",
    ),
    *("Best wishes, {}", "Many thanks, {}", "Greetings, {}"),
)
_DETAILS = (
    "We are on the {plan} plan.",
    "I use {browser} on {system}.",
    "We are a team of {n} people.",
    "We have worked with {app} since {month}.",
    "Our main board is {board}.",
    "I am writing for {person}.",
    "I work in the same office as {person}.",
    "I wrote to you on {date} as well.",
)

# --- the tickets that training never sees ----------------------------------------------------

_HELD_OUT_ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    # billing
    (
        "billing",
        "low",
        "Hello,",
        "the last three invoices carry the name of our former director.",
        "This can wait.",
    ),
    (
        "billing",
        "low",
        "",
        "Does the yearly fee include the tax we have to pay in Portugal?",
        "I am just curious.",
    ),
    (
        "billing",
        "normal",
        "Hi team,",
        "our accountant found that you charged 12 seats although only 9 people work with us.",
        "Best, Nadia",
    ),
    (
        "billing",
        "normal",
        "",
        "The receipt you sent shows dollars, but our bank took euros from the card.",
        "Thanks in advance.",
    ),
    (
        "billing",
        "high",
        "Good morning,",
        "I paid the same invoice by transfer and by card and want one of them returned.",
        "I need an answer today.",
    ),
    (
        "billing",
        "high",
        "",
        "Our order number has to be printed on every bill, otherwise it is not paid here.",
        "My deadline is tomorrow. Thanks, Hugo",
    ),
    (
        "billing",
        "urgent",
        "Hello,",
        "a payment of $4,800 left our bank account although we only owe you $48.",
        "Please help immediately.",
    ),
    (
        "billing",
        "urgent",
        "This is urgent.",
        "Your system refuses every card we own, so the Business plan remains unpaid.",
        "Regards, Omar",
    ),
    # bug
    (
        "bug",
        "low",
        "",
        "The avatar pictures look squashed in Safari after your latest release.",
        "No hurry.",
    ),
    (
        "bug",
        "low",
        "Hi,",
        "a typo is shown in the German error message about large files.",
        "Just a minor point. Greetings, Petra",
    ),
    (
        "bug",
        "normal",
        "",
        "Dropping a picture onto a card makes the browser tab crash without any message.",
        "",
    ),
    (
        "bug",
        "normal",
        "Hello,",
        "finished tasks jump back to the first column once I refresh the page.",
        "Could you have a look?",
    ),
    (
        "bug",
        "high",
        "",
        "Half of the lines are missing when I download our sprint as a CSV file.",
        "This blocks my work.",
    ),
    (
        "bug",
        "high",
        "Dear support,",
        "the Android app shuts down with a memory error after a few seconds.",
        "Please reply today. Best, Samir",
    ),
    (
        "bug",
        "urgent",
        "Production is down.",
        "Every board gives an internal server error and no card can be opened.",
        "",
    ),
    (
        "bug",
        "urgent",
        "Hi team,",
        "the presentation mode only displays a black screen with a spinning wheel.",
        "The demo is in an hour.",
    ),
    # how_to
    (
        "how_to",
        "low",
        "Just curious.",
        "Where would I look if I wanted to give my columns other colours?",
        "",
    ),
    (
        "how_to",
        "low",
        "Hi,",
        "what are the steps for putting a logo on top of our project page?",
        "Take your time. Thanks, Vera",
    ),
    (
        "how_to",
        "normal",
        "",
        "How would one export only the open tasks of a single person?",
        "Thank you for your help.",
    ),
    (
        "how_to",
        "normal",
        "Hello,",
        "I want my phone to remind me one day before a task is due, how is that done?",
        "Best, Kenji",
    ),
    (
        "how_to",
        "high",
        "Good afternoon,",
        "can you explain to me how several cards are moved to the archive in one go?",
        "I need this by tomorrow.",
    ),
    (
        "how_to",
        "high",
        "",
        "Which button brings back a column that my colleague has deleted?",
        "I cannot continue my work until this is solved.",
    ),
    (
        "how_to",
        "urgent",
        "Hi there,",
        "how do I show the schedule to visitors who are not registered?",
        "Our presentation starts in ten minutes.",
    ),
    (
        "how_to",
        "urgent",
        "URGENT!",
        "Please explain how our list of 300 tasks gets from a spreadsheet into a board.",
        "Thanks, Carla",
    ),
    # account_access
    (
        "account_access",
        "low",
        "",
        "My second login, which I hardly use, does not accept its password any longer.",
        "Please look at it whenever you have time.",
    ),
    (
        "account_access",
        "low",
        "Hello,",
        "the sign-in page keeps asking for a code although I trusted this laptop.",
        "It is not pressing. Cheers, Liam",
    ),
    (
        "account_access",
        "normal",
        "Dear team,",
        "our new trainee never got the email to activate her account.",
        "",
    ),
    (
        "account_access",
        "normal",
        "",
        "I married and got another email address, and the old one no longer lets me sign in.",
        "I look forward to your answer.",
    ),
    (
        "account_access",
        "high",
        "Hi,",
        "after my holiday I do not know my password and the recovery question is wrong.",
        "This is holding me up.",
    ),
    (
        "account_access",
        "high",
        "Please treat this with high priority.",
        "The access of our freelancer was blocked and he is refused at the login.",
        "Regards, Elena",
    ),
    (
        "account_access",
        "urgent",
        "",
        "None of our forty users gets past the login page, all passwords are rejected.",
        "Our whole team is blocked.",
    ),
    (
        "account_access",
        "urgent",
        "Hello,",
        "a person I do not know has taken over my account and changed the password.",
        "This is an emergency.",
    ),
    # feature_request
    (
        "feature_request",
        "low",
        "Hi team,",
        "it would be great if finished cards could play a small sound.",
        "No rush.",
    ),
    (
        "feature_request",
        "low",
        "",
        "My wish for the future is a version for smart watches.",
        "Nothing depends on it. Best wishes, Ines",
    ),
    (
        "feature_request",
        "normal",
        "Hello,",
        "would you consider a view in which holidays of all colleagues are marked?",
        "Thanks, Marco",
    ),
    (
        "feature_request",
        "normal",
        "",
        "We would be happy to see a feature that turns long emails into cards.",
        "Please tell me what you think.",
    ),
    (
        "feature_request",
        "high",
        "",
        "Please build in a second approval step, we would love to use it for contracts.",
        "This is important for us.",
    ),
    (
        "feature_request",
        "high",
        "Good morning,",
        "I suggest that guests may tick checklists, it would make our life easier.",
        "We have a meeting about this tomorrow morning.",
    ),
    (
        "feature_request",
        "urgent",
        "Hi,",
        "it would be wonderful if you added a read-only link for the press.",
        "We need this within the hour.",
    ),
    (
        "feature_request",
        "urgent",
        "",
        "A new option to stop all automatic emails would be very welcome.",
        "We lose money every minute. Best, Yusuf",
    ),
    # cancellation
    (
        "cancellation",
        "low",
        "Hello,",
        "I only tried Larkspur for a school project, so you may close my account.",
        "Whenever you have time.",
    ),
    (
        "cancellation",
        "low",
        "",
        "Our club breaks up in autumn and wants to leave your service then.",
        "There is no hurry at all. Regards, Ursula",
    ),
    (
        "cancellation",
        "normal",
        "Dear support,",
        "we are switching to a rival product, please cancel all our licences.",
        "",
    ),
    (
        "cancellation",
        "normal",
        "",
        "I would prefer not to prolong the Studio plan for another year.",
        "Many thanks for looking into this.",
    ),
    (
        "cancellation",
        "high",
        "",
        "The founders sold the firm, therefore our subscription has to be terminated.",
        "I need it before the end of the day. Best, Stefan",
    ),
    (
        "cancellation",
        "high",
        "Hi there,",
        "how can I cancel, and will you delete what we stored?",
        "Please answer as soon as you can.",
    ),
    (
        "cancellation",
        "urgent",
        "We need help right now.",
        "My daughter signed up for the Pro plan, please undo it and close the account.",
        "",
    ),
    (
        "cancellation",
        "urgent",
        "Hello team,",
        "we must cancel the renewal, since our director has forbidden it.",
        "It cannot wait another minute. Thanks, Agnes",
    ),
)

HELD_OUT_ISSUES: tuple[str, ...] = tuple(row[3] for row in _HELD_OUT_ROWS)
"""The issue sentences of `HELD_OUT`, in its order; no training ticket contains one of them."""

HELD_OUT: tuple[Ticket, ...] = tuple(
    Ticket(" ".join(part for part in parts if part), category, priority)
    for category, priority, *parts in _HELD_OUT_ROWS
)
"""Labelled tickets for an experiment: eight a category, two of them of each priority."""

_HELD_OUT_LOWER = frozenset(issue.lower() for issue in HELD_OUT_ISSUES)

# --- making tickets --------------------------------------------------------------------------


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _first_word(text: str) -> str:
    return text.split(" ", 1)[0]


_TEMPLATES = (
    *(sentence for issues in _ISSUES.values() for _, sentence in issues),
    *(cue for cues in _CUES.values() for cue in cues),
)
_LOWERED = frozenset(
    word
    for word in map(_first_word, _TEMPLATES)
    if word[0] != "{" and (word == "A" or not word.rstrip("!").isupper())
)


def _uncapital(text: str) -> str:
    """The text with a small first letter, unless it begins with a name or with `I`."""
    return text[:1].lower() + text[1:] if _first_word(text) in _LOWERED else text


def _cue(rng: random.Random, priority: str) -> str:
    if priority == "normal" and rng.random() < 0.5:
        return ""
    return rng.choice(_CUES[priority])


def _compose(rng: random.Random, issue: str, cue: str, values: _Values) -> tuple[str, str]:
    """The text of a ticket and the name that signs it, if one does."""
    parts = [_capital(issue)]
    if rng.random() < 0.2:
        detail = rng.choice(_DETAILS).format_map(values)
        parts.insert(rng.randrange(2), _capital(detail))
    if cue:
        parts.insert(0 if rng.random() < 0.3 else len(parts), cue)
    if rng.random() < 0.4:
        opening = rng.choice(_OPENINGS)
        parts[0] = _uncapital(parts[0]) if rng.random() < 0.5 else parts[0]
        parts.insert(0, opening)
    name = rng.choice(_NAMES) if rng.random() < 0.35 else ""
    if name:
        parts.append(rng.choice(_CLOSINGS).format(name))
    elif rng.random() < 0.1 and not cue:
        parts.append(rng.choice(("Thanks!", "Thanks.", "Thank you.", "Best regards.")))
    return " ".join(parts), name


def _draft(rng: random.Random) -> _Draft:
    category = rng.choice(CATEGORIES)
    priority = rng.choice(PRIORITIES)
    kind, sentence = rng.choice(_ISSUES[category])
    while True:
        values = _Values(rng)
        issue = sentence.format_map(values)
        cue = _cue(rng, priority)
        text, name = _compose(rng, issue, cue, values)
        if 8 <= text.count(" ") + 1 <= 45 and issue.lower() not in _HELD_OUT_LOWER:
            break
    if rng.random() < 0.06:
        text, cue = text.lower(), cue.lower()
    summary = _capital(kind.summary.format_map(values))
    reason = kind.reason.format_map(values)
    return _Draft(text, category, priority, cue, summary, reason, name)


def ticket(rng: random.Random) -> Ticket:
    """Draw a training ticket, of 8 to 45 words; it never holds one of `HELD_OUT_ISSUES`."""
    draft = _draft(rng)
    return Ticket(draft.text, draft.category, draft.priority)


# --- answers ---------------------------------------------------------------------------------

_ALL_KEYS = ("category", "priority", "needs_human", "summary")
_PAIR = ("category", "priority")


def _needs_human(draft: _Draft) -> bool:
    return draft.priority == "urgent" or draft.category in ("cancellation", "account_access")


def _triage(draft: _Draft, keys: tuple[str, ...]) -> str:
    values: dict[str, str | bool] = {
        "category": draft.category,
        "priority": draft.priority,
        "needs_human": _needs_human(draft),
        "summary": draft.summary,
    }
    record = {key: values[key] for key in keys}
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def _category_thought(draft: _Draft) -> str:
    return f"{draft.reason}, so the category is {draft.category}."


def _priority_thought(draft: _Draft) -> str:
    if draft.priority == "normal":
        return "It says nothing is urgent, so the priority is normal."
    cue = draft.cue.rstrip(".!")
    return f'The ticket says "{cue}", so the priority is {draft.priority}.'


def _human_thought(draft: _Draft) -> str:
    if draft.category in ("cancellation", "account_access"):
        return f"It is about {draft.category}, so a human is needed."
    return f"A human is{'' if _needs_human(draft) else ' not'} needed."


def _triage_thoughts(draft: _Draft, keys: tuple[str, ...]) -> str:
    parts = []
    human = "needs_human" in keys
    if human or "category" in keys:
        parts.append(_category_thought(draft))
    if human or "priority" in keys:
        parts.append(_priority_thought(draft))
    if human:
        parts.append(_human_thought(draft))
    return " ".join(parts) or f"The user wants a summary as JSON. {draft.reason}."


_REPLY_FIRST = {
    "billing": (
        "thank you for writing about your payment",
        "we are sorry about the trouble with your bill",
    ),
    "bug": (
        "thank you for reporting this problem",
        "we are sorry that something does not work",
    ),
    "how_to": (
        "thank you for your question",
        "we are happy to show you how this works",
    ),
    "account_access": (
        "we are sorry about the trouble with your account",
        "thank you for telling us about your login",
    ),
    "feature_request": (
        "thank you for your idea",
        "we are glad that you share your wish with us",
    ),
    "cancellation": (
        "we are sorry to see you go",
        "thank you for the time you spent with us",
    ),
}
_REPLY_THEN = {
    "billing": "We will check your invoices and correct any mistake.",
    "bug": "Our engineers will look for the cause and fix it.",
    "how_to": "We will send you a short guide with all the steps.",
    "account_access": "We will check your account and help you to get in again.",
    "feature_request": "We have passed it on to our product team.",
    "cancellation": "We will cancel your plan and send you a confirmation.",
}
_REPLY_WHEN = {
    "low": "You will hear from us in the next few days.",
    "normal": "",
    "high": "You will hear from us today.",
    "urgent": "We are working on it right now.",
}


def _answer(rng: random.Random, draft: _Draft) -> str:
    """The reply to the customer."""
    greeting = f"Hello {draft.name}," if draft.name else "Hello,"
    parts = [
        f"{greeting} {rng.choice(_REPLY_FIRST[draft.category])}.",
        _REPLY_THEN[draft.category],
        _REPLY_WHEN[draft.priority],
        "Kind regards, Larkspur Support",
    ]
    return " ".join(part for part in parts if part)


# --- asking ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asks:
    """Ways to ask for one thing: questions, commands and mere fragments."""

    questions: tuple[str, ...]
    commands: tuple[str, ...]
    fragments: tuple[str, ...]


@dataclass(frozen=True)
class _Task:
    """One thing to ask for, with its answer and the thoughts before it."""

    ask: str
    reply: str
    thoughts: str
    form: str


_CATEGORY_ASKS = _Asks(
    (
        "Which category fits?",
        "Which category fits this ticket?",
        "What is the category of this ticket?",
        "What category is this?",
        "Into which category does this ticket go?",
        "What kind of ticket is this?",
        "Is this {options}?",
        "Which of {options} is it?",
        "Where does this ticket belong?",
        "Which queue should get this ticket?",
        "Which label fits best?",
        "How would you classify this message?",
        "What is the right category for this customer message?",
    ),
    (
        "Classify this ticket",
        "Classify the following support ticket",
        "Classify the ticket as {options}",
        "Classify",
        "Categorize this support ticket",
        "Give me only the category",
        "Tell me the category of this support request",
        "Choose one of {options}",
        "Pick one category out of {options}",
        "Sort this ticket into a category",
        "Label this ticket with its category",
        "Name the category in one word",
        "Pick the right category",
        "Determine the category of this ticket",
        "Assign a category to this message",
        "Answer with the category only",
        "Say which category this ticket belongs to",
    ),
    ("Category?", "Category", "One word, the category", "Ticket category", "Category only"),
)
_PRIORITY_ASKS = _Asks(
    (
        "What is the priority of this ticket?",
        "Which priority fits?",
        "Which priority does this ticket have?",
        "How urgent is this ticket?",
        "How urgent is this?",
        "What priority would you give this ticket?",
        "What is the urgency of this message?",
        "Is the priority {levels}?",
        "Which of {levels} is its priority?",
        "How fast should we answer, {levels}?",
    ),
    (
        "Give the priority of this ticket",
        "Give me only the priority",
        "Rate the urgency as {levels}",
        "Tell me the priority of this support ticket",
        "Choose a priority out of {levels}",
        "Assign a priority to this ticket",
        "Set the priority",
        "Name the priority in one word",
        "Determine how urgent this message is",
        "Prioritize this ticket",
        "Answer with the priority only",
        "Estimate the priority, one of {levels}",
    ),
    ("Priority?", "Priority", "Ticket priority", "Urgency", "Priority only"),
)
_TRIAGE_ASKS = _Asks(
    (
        "How would you triage this ticket?",
        "What is the triage for this ticket?",
        "Can I have the triage JSON?",
    ),
    (
        "Triage this ticket",
        "Triage",
        "Triage the following ticket",
        "Triage this support ticket as JSON",
        "Triage the message below and answer in JSON",
        "Give me the triage JSON",
        "Do the triage",
        "Make a triage record",
        "Run the triage on this ticket",
        "Write the triage object for this ticket",
        "Classify and prioritize this ticket in JSON",
        "Classify this ticket as JSON",
        "Turn this ticket into JSON",
    ),
    ("Triage JSON", "Ticket triage", "Triage as JSON", "JSON triage"),
)
_FULL_ASKS = _Asks(
    ("What is the full triage of this ticket?",),
    (
        "Do a full triage of this ticket",
        "Triage this ticket with all fields",
        "Give the complete triage object",
        "Make a detailed triage in JSON",
        "Write the full triage as JSON",
    ),
    ("Full triage", "Full triage JSON", "Complete triage as JSON"),
)
_KEYS_ASKS = _Asks(
    (
        "What are the {keys} as JSON?",
        "Can I have {keys} as JSON?",
        "What is the triage of this ticket as JSON with {keys}?",
        "Which {keys} does this ticket have, in JSON?",
    ),
    (
        "Give {keys} as JSON",
        "Give me {keys} as JSON",
        "Return JSON with {keys}",
        "Return a JSON object with the keys {keys}",
        "Triage this ticket as JSON with the keys {keys}",
        "Triage this ticket with {keys}",
        "Extract {keys} as JSON",
        "Answer in JSON with {keys}",
        "Make a JSON object with {keys} for this ticket",
        "Classify this ticket as JSON, keys {keys}",
        "Fill in {shape} for this ticket",
        "Triage this ticket as {shape}",
        "Answer in the format {shape}",
        "Read the ticket and output {keys} as JSON",
        "Analyze this customer message, output JSON with {keys}",
        "Produce {shape}",
        "Determine {keys} and reply with JSON only",
    ),
    (
        "{keys} as JSON",
        "{keys} in JSON",
        "JSON with {keys}",
        "JSON, {keys}",
        "Ticket as JSON with {keys}",
        "JSON object, fields {keys}",
    ),
)
_REPLY_ASKS = _Asks(
    (
        "What should we answer this customer?",
        "How do we reply to this ticket?",
        "What would you reply?",
        "What is a good answer to this customer?",
    ),
    (
        "Write a reply to this customer",
        "Write a reply to this ticket",
        "Reply to this ticket",
        "Answer this customer",
        "Answer the ticket politely",
        "Draft a short answer to this support ticket",
        "Draft a polite response",
        "Write a short polite reply for this customer",
        "Respond to the customer",
        "Compose an answer from Larkspur Support",
        "Write back to this customer",
        "Help me to answer this ticket",
    ),
    ("Reply to the customer", "Draft reply", "Customer reply", "Answer for the customer"),
)

_NO_LOWER = ("{", '"')


def _listed(rng: random.Random, names: list[str], last: str) -> str:
    if rng.random() < 0.5:
        return ", ".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def _shuffled(rng: random.Random, names: tuple[str, ...]) -> str:
    items = list(names)
    if rng.random() < 0.5:
        rng.shuffle(items)
    return _listed(rng, items, "or")


def _named_keys(rng: random.Random, keys: tuple[str, ...]) -> str:
    names = list(keys)
    if rng.random() < 0.2:
        names = [f'"{key}"' for key in names]
    if rng.random() < 0.15:
        names = [f"{name} (true or false)" if "human" in name else name for name in names]
    return _listed(rng, names, "and")


def _shape(rng: random.Random, keys: tuple[str, ...]) -> str:
    filler, gap = rng.choice(('"..."', "...", '""', "..")), rng.choice(("", " "))
    return "{" + f",{gap}".join(f'"{key}":{gap}{filler}' for key in keys) + "}"


def _filled(rng: random.Random, ask: str, keys: tuple[str, ...]) -> str:
    if "{options}" in ask:
        return ask.replace("{options}", _shuffled(rng, CATEGORIES))
    if "{levels}" in ask:
        return ask.replace("{levels}", _shuffled(rng, PRIORITIES))
    if "{keys}" in ask:
        return _capital(ask.replace("{keys}", _named_keys(rng, keys)))
    return ask.replace("{shape}", _shape(rng, keys)) if "{shape}" in ask else ask


def _lower_first(text: str) -> str:
    return text if text.startswith(("JSON", "I ")) else text[:1].lower() + text[1:]


def _polite(rng: random.Random, command: str) -> str:
    mood = rng.random()
    if mood < 0.55:
        return command
    if mood < 0.75:
        return f"Please {_lower_first(command)}"
    if mood < 0.83:
        return f"{command}, please"
    start = rng.choice(("Can you", "Could you", "Could you please", "Would you", "I want you to"))
    return f"{start} {_lower_first(command)}{'' if start[0] == 'I' else '?'}"


def _asked(rng: random.Random, asks: _Asks, keys: tuple[str, ...] = ()) -> str:
    which = rng.random()
    if which < 0.33:
        ask = _filled(rng, rng.choice(asks.questions), keys)
    elif which < 0.8:
        ask = _polite(rng, _filled(rng, rng.choice(asks.commands), keys))
    else:
        ask = _filled(rng, rng.choice(asks.fragments), keys)
    if rng.random() < 0.2:
        ask = ask.lower().rstrip("?")
    return ask


_LABELS = ("Ticket", "Ticket", "Ticket", "ticket", "Support ticket", "Message", "Customer", "Email")


def _layout(rng: random.Random, ask: str, text: str) -> str:
    """The ask and the ticket in one message, in one of many layouts."""
    colon = ask if ask.endswith("?") else f"{ask}:"
    stop = ask if ask.endswith("?") else f"{ask}."
    label = rng.choice(_LABELS)
    layouts = (
        f"{colon} {text}",
        f"{colon} {text}",
        f"{colon}\n{text}",
        f"{colon}\n\n{text}",
        f"{stop} {label}: {text}",
        f"{stop}\n{label}: {text}",
        f"{ask}\n\n{label}: {text}",
        f'{colon} "{text}"',
        f"{label}: {text}\n{ask}",
        f"{label}: {text}\n\n{stop}",
        f"{text}\n\n{ask}",
        f'{label}: "{text}" {stop}',
        f"{text}\n{colon}",
        f"{ask} - {text}",
    )
    return rng.choice(layouts)


# --- chats -----------------------------------------------------------------------------------


def _key_subset(rng: random.Random) -> tuple[str, ...]:
    """The keys that a prompt names, in its order."""
    which = rng.random()
    if which < 0.3:
        return _ALL_KEYS
    if which < 0.5:
        return _PAIR if rng.random() < 0.6 else ("priority", "category")
    return tuple(rng.sample(_ALL_KEYS, rng.choice((1, 2, 2, 3, 3, 4))))


def _word_task(rng: random.Random, draft: _Draft, key: str) -> _Task:
    asks = _CATEGORY_ASKS if key == "category" else _PRIORITY_ASKS
    thought = _category_thought(draft) if key == "category" else _priority_thought(draft)
    reply = draft.category if key == "category" else draft.priority
    return _Task(_asked(rng, asks), reply, f"The user wants the {key}. {thought}", key)


def _json_task(rng: random.Random, draft: _Draft) -> _Task:
    which = rng.random()
    keys: tuple[str, ...]
    if which < 0.35:
        keys, ask = _PAIR, _asked(rng, _TRIAGE_ASKS)
    elif which < 0.43:
        keys, ask = _ALL_KEYS, _asked(rng, _FULL_ASKS)
    else:
        keys = _key_subset(rng)
        ask = _asked(rng, _KEYS_ASKS, keys)
        ask = ask.replace("json", rng.choice(("json", "JSON"))) if ask.islower() else ask
    return _Task(ask, _triage(draft, keys), _triage_thoughts(draft, keys), "json")


def _reply_task(rng: random.Random, draft: _Draft) -> _Task:
    thoughts = f"The user wants a reply to the customer. {_category_thought(draft)}"
    return _Task(_asked(rng, _REPLY_ASKS), _answer(rng, draft), thoughts, "reply")


def _task(rng: random.Random, draft: _Draft) -> _Task:
    which = rng.random()
    if which < 0.22:
        return _word_task(rng, draft, "category")
    if which < 0.36:
        return _word_task(rng, draft, "priority")
    if which < 0.86:
        return _json_task(rng, draft)
    return _reply_task(rng, draft)


_SYSTEMS = (
    "You are a helpful assistant.",
    "You are a concise assistant.",
    "You work for the support of Larkspur Boards.",
    "You help the support team of a small software company.",
    "You triage support tickets for Larkspur Boards.",
    "Be brief.",
)
_FORM_SYSTEMS = {
    "category": (
        "Answer with one word.",
        f"Categories: {', '.join(CATEGORIES)}.",
        "You classify support tickets. Answer with the category only.",
    ),
    "priority": (
        "Answer with one word.",
        f"Priorities: {', '.join(PRIORITIES)}.",
        "You rate support tickets. Answer with the priority only.",
    ),
    "json": (
        "Answer with JSON only.",
        "Reply in compact JSON.",
        "You triage support tickets and answer with JSON only.",
    ),
    "reply": (
        "You write polite replies for Larkspur Support.",
        "Answer in two or three sentences.",
    ),
}
_BARE_SYSTEMS = {
    "category": (
        f"The user sends a ticket. Answer with its category: {', '.join(CATEGORIES)}.",
        "Reply with the category of the ticket and nothing else.",
    ),
    "priority": (
        f"The user sends a ticket. Answer with its priority: {', '.join(PRIORITIES)}.",
        "Reply with the priority of the ticket and nothing else.",
    ),
    "json": (
        "The user sends a ticket. Answer with JSON: category and priority.",
        "Triage each ticket as JSON with category and priority.",
    ),
    "reply": (
        "The user sends a ticket. Write the reply of Larkspur Support.",
        "You are Larkspur Support. Answer the customer.",
    ),
}


def _system(rng: random.Random, form: str) -> str | None:
    if rng.random() < 0.79:
        return None
    return rng.choice(_SYSTEMS if rng.random() < 0.5 else _FORM_SYSTEMS[form])


def _bare_chat(rng: random.Random, draft: _Draft) -> Chat:
    """The system text says what to do, and the user sends nothing but a ticket."""
    form = rng.choice(("category", "priority", "json", "reply"))
    system = rng.choice(_BARE_SYSTEMS[form])
    user = f"Ticket: {draft.text}" if rng.random() < 0.3 else draft.text
    if form == "json":
        return Chat(user, _triage(draft, _PAIR), _triage_thoughts(draft, _PAIR), system)
    task = _reply_task(rng, draft) if form == "reply" else _word_task(rng, draft, form)
    return Chat(user, task.reply, task.thoughts, system)


_NEXT_TICKET = (
    *(
        "And this one: {}",
        "And this one?\n{}",
        "Next ticket: {}",
        "The same for this: {}",
        "Now: {}",
    ),
    *("Same again: {}", "and this: {}", "What about this one? {}", "Next: {}", "Another one:\n{}"),
)
_FOLLOW_UPS = {
    "category": ("And the category?", "And its category?", "which category", "Category?"),
    "priority": ("And the priority?", "And its priority?", "how urgent is it", "Priority?"),
    "json": ("And as JSON?", "Now as JSON", "Both as JSON, please", "Triage it as JSON."),
    "reply": ("Write a reply.", "And a reply to the customer?", "now reply to them", "Answer it."),
}


def _again(rng: random.Random, draft: _Draft) -> Chat:
    """After one ticket comes another, with the same task; only word tasks and the pair."""
    other, key = _draft(rng), rng.choice(("category", "priority", "json"))
    if key == "json":
        user = _layout(rng, _asked(rng, _TRIAGE_ASKS), other.text)
        reply, thoughts = _triage(draft, _PAIR), _triage_thoughts(draft, _PAIR)
        earlier = (user, _triage(other, _PAIR))
    else:
        before, now = _word_task(rng, other, key), _word_task(rng, draft, key)
        reply, thoughts = now.reply, now.thoughts
        earlier = (_layout(rng, before.ask, other.text), before.reply)
    user = rng.choice(_NEXT_TICKET).format(draft.text)
    return Chat(user, reply, thoughts, None, (earlier,))


def _follow_up(rng: random.Random, draft: _Draft) -> Chat:
    """A second question about the ticket of the message before."""
    first, then = rng.sample(("category", "priority", "json", "reply"), 2)
    if first in ("json", "reply"):
        first = "category" if then != "category" else "priority"
    before = _word_task(rng, draft, first)
    earlier = ((_layout(rng, before.ask, draft.text), before.reply),)
    user = rng.choice(_FOLLOW_UPS[then])
    if then == "json":
        thoughts = _triage_thoughts(draft, _PAIR)
        return Chat(user, _triage(draft, _PAIR), thoughts, None, earlier)
    task = _reply_task(rng, draft) if then == "reply" else _word_task(rng, draft, then)
    return Chat(user, task.reply, task.thoughts, None, earlier)


def _chat(rng: random.Random) -> Chat:
    draft, which = _draft(rng), rng.random()
    if which < 0.06:
        return _again(rng, draft)
    if which < 0.12:
        return _follow_up(rng, draft)
    if which < 0.18:
        return _bare_chat(rng, draft)
    task = _task(rng, draft)
    user = _layout(rng, task.ask, draft.text)
    return Chat(user, task.reply, task.thoughts, _system(rng, task.form))


def sample(rng: random.Random) -> Document:
    """Draw one document: a ticket to be continued with its labels, or a chat about a ticket."""
    which = rng.random()
    if which < 0.5:
        return _chat(rng)
    draft = _draft(rng)
    prompt = f"Ticket: {draft.text}\n"
    if which < 0.8:
        return Text(f"{prompt}Category:", f" {draft.category}")
    if which < 0.88:
        return Text(f"{prompt}Priority:", f" {draft.priority}")
    return Text(f"{prompt}Triage JSON:", f" {_triage(draft, _PAIR)}")
