"""The suffix automata against brute force."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.drafting.automaton import Reference, SuffixAutomaton

_TEXTS = st.integers(1, 4).flatmap(lambda k: st.lists(st.integers(0, k - 1), max_size=40))


def _last_match(text: list[int], pattern_of: list[int]) -> tuple[int, int]:
    """Longest suffix of `pattern_of` that ends in `text` before its last token: length, end."""
    for length in range(len(pattern_of), 0, -1):
        suffix = pattern_of[len(pattern_of) - length :]
        for end in range(len(text) - 1, length - 1, -1):
            if text[end - length : end] == suffix:
                return length, end
    return 0, 0


def _thue_morse(n: int) -> list[int]:
    return [i.bit_count() & 1 for i in range(n)]


def _fibonacci(n: int) -> list[int]:
    a, b = [0], [0, 1]
    while len(b) < n:
        a, b = b, b + a
    return b[:n]


@given(_TEXTS)
def test_after_every_token_the_longest_repeated_end_and_its_latest_place_are_exact(
    text: list[int],
) -> None:
    automaton = SuffixAutomaton()
    for n, token in enumerate(text, 1):
        automaton.extend([token])
        prefix = text[:n]
        assert (automaton.match_length, automaton.match_end) == _last_match(prefix, prefix)


@given(_TEXTS, st.lists(st.integers(0, 40), max_size=4))
def test_appending_in_pieces_is_appending_at_once(text: list[int], cuts: list[int]) -> None:
    whole, pieces = SuffixAutomaton(text), SuffixAutomaton()
    edges = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    for a, b in itertools.pairwise(edges):
        pieces.extend(text[a:b])
    assert vars(pieces) == vars(whole)


@given(_TEXTS, st.integers(-1, 60))
def test_the_draft_is_what_followed_and_a_loop_goes_on(text: list[int], limit: int) -> None:
    automaton = SuffixAutomaton(text)
    length, end = _last_match(text, text)
    longer = list(text)
    for _ in range(max(limit, 0) if length else 0):
        longer.append(longer[end + len(longer) - len(text)])
    assert automaton.draft(limit) == longer[len(text) :]


@given(_TEXTS, _TEXTS, st.integers(0, 20))
def test_a_cursor_finds_the_longest_end_that_a_document_can_continue(
    document: list[int], text: list[int], limit: int
) -> None:
    cursor = Reference(document).cursor()
    for n, token in enumerate(text, 1):
        cursor.extend([token])
        length, end = _last_match(document, text[:n])
        assert (cursor.match_length, cursor.match_end) == (length, end)
        assert cursor.draft(limit) == (document[end : end + limit] if length else [])
        assert not length or not limit or cursor.draft(limit)


def test_cursors_over_one_document_do_not_disturb_each_other() -> None:
    reference = Reference([1, 2, 3, 4, 5])
    a, b = reference.cursor(), reference.cursor()
    a.extend([1, 2])
    b.extend([3])
    assert a.draft(3) == [3, 4, 5]
    assert b.draft(3) == [4, 5]


def test_an_empty_document_and_an_unknown_token_draft_nothing() -> None:
    for document in ([], [7]):
        cursor = Reference(document).cursor()
        cursor.extend([7, 8])
        assert cursor.match_length == 0
        assert cursor.draft(5) == []


def test_large_token_ids_stay_apart() -> None:
    big = 2**31 - 1
    automaton = SuffixAutomaton([big, big - 1, 5, big])
    assert automaton.draft(2) == [big - 1, 5]


def test_a_text_has_at_most_two_states_and_three_edges_per_token() -> None:
    rng = random.Random(1)
    for text in (
        [0] * 500,
        _fibonacci(500),
        [rng.randrange(2) for _ in range(500)],
        [rng.randrange(300) for _ in range(500)],
    ):
        automaton = SuffixAutomaton(text)
        edges = sum(t >= 0 for t in automaton._token) + sum(map(len, automaton._more.values()))
        assert len(automaton._length) <= 2 * len(text)
        assert edges <= 3 * len(text)


class Counting(SuffixAutomaton):
    told = 0

    def _tell(self, end: int) -> None:
        before = list(self._recent)
        super()._tell(end)
        self.told += sum(a != b for a, b in zip(before, self._recent, strict=True))


def test_repetitive_texts_take_few_steps_per_token() -> None:
    rng = random.Random(2)
    blocks = [[0] * 30 + [i] for i in range(1, 20)]
    texts = {
        "one token": [0] * 600 + [1] + [0] * 300,
        "period 3": [0, 1, 2] * 200 + [0, 0] + [0, 1, 2] * 50,
        "Fibonacci": _fibonacci(800),
        "Thue-Morse": _thue_morse(800),
        "blocks": [t for b in blocks * 2 for t in b],
        "two letters": [rng.randrange(2) for _ in range(800)],
    }
    for name, text in texts.items():
        assert Counting(text).told <= 6 * len(text), name


def test_a_contrived_text_does_not_take_ever_more_steps_per_token() -> None:
    text = [t for i in range(70) for t in [0] * i + [1]]
    automaton = Counting(text)
    assert automaton.told <= 16 * len(text)
    # Where that was too few to keep every place the latest, it is still a place of the match.
    length = _last_match(text[-200:], text[-200:])[0]
    assert automaton.match_length >= length
    end = automaton.match_end
    match = text[len(text) - automaton.match_length :]
    assert text[end - len(match) : end] == match
    assert end < len(text)
