"""The tickets that training never sees."""

from __future__ import annotations

from fucina_cli.tiny.corpus.ticket_labels import Ticket

# (category, priority, what comes before, the issue, what comes after)
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

#: Labelled tickets for an experiment: eight a category, two of them of each priority.
HELD_OUT: tuple[Ticket, ...] = tuple(
    Ticket(" ".join(part for part in parts if part), category, priority)
    for category, priority, *parts in _HELD_OUT_ROWS
)

#: Their issue sentences, in the same order; no training ticket contains one of them.
HELD_OUT_ISSUES: tuple[str, ...] = tuple(row[3] for row in _HELD_OUT_ROWS)


#: The same in lower case, as drawn tickets are compared with them.
HELD_OUT_LOWER = frozenset(issue.lower() for issue in HELD_OUT_ISSUES)
