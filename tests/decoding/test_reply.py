"""Tokens of a reply to text: whole characters, stop sequences, thoughts apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fucina_cli.decoding.reply import Channel, Reply, ThinkingTokens

OPENS, CLOSES = 1000, 1001
GEMMA = ThinkingTokens(OPENS, CLOSES, label="thought\n")
QWEN = ThinkingTokens(OPENS, CLOSES)


class Run:
    """A reply fed with pieces of bytes; remembers what was handed on, and when it was over."""

    def __init__(
        self,
        pieces: Sequence[bytes | int],
        *,
        stops: Sequence[str] = (),
        thinking: ThinkingTokens | None = None,
        inside_thinking: bool = False,
        keep_blank_lines: bool = False,
    ) -> None:
        self.heard: list[tuple[str, Channel]] = []
        self.ended_at: int | None = None
        table = [piece if isinstance(piece, bytes) else b"" for piece in pieces]
        # Ids count the pieces; markers have ids of their own, and a text that must not appear.
        self.reply = Reply(
            lambda token: table[token] if token < OPENS else b"<MARKER>",
            stops=stops,
            thinking=thinking,
            inside_thinking=inside_thinking,
            keep_blank_lines=keep_blank_lines,
            on_text=lambda text, channel: self.heard.append((text, channel)),
        )
        for i, piece in enumerate(pieces):
            if self.reply.add(piece if isinstance(piece, int) else i):
                self.ended_at = i
                break
        self.reply.finish()

    def streamed(self, channel: Channel = "answer") -> str:
        return "".join(text for text, where in self.heard if where == channel)

    @property
    def text(self) -> str:
        assert self.streamed("answer") == self.reply.text
        assert self.streamed("thinking") == self.reply.thinking
        assert all(text for text, _ in self.heard)
        return self.reply.text


def cut(data: bytes, at: Sequence[int]) -> list[bytes]:
    """`data` in pieces; a position given twice makes an empty piece, as control tokens have."""
    edges = [0, *sorted(min(a, len(data)) for a in at), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


CUTS = st.lists(st.integers(0, 40), max_size=12)


# -- characters ----------------------------------------------------------------------------------


@given(data=st.binary(max_size=40), at=CUTS)
@example(data="è🎉日".encode(), at=[1, 2, 3, 4, 5, 6, 7, 8])
@example(data=b"\xf0\x9f\x8eA\xff\xc3", at=[1, 3, 4])
@example(data=b"\xed\xa0\x80\xf5\x80", at=[1, 2, 4])
def test_any_bytes_cut_anywhere_stream_as_the_same_text(data: bytes, at: list[int]) -> None:
    assert Run(cut(data, at)).text == data.decode("utf-8", "replace")


def test_a_character_is_handed_on_once_it_is_whole_and_not_before() -> None:
    run = Run([b"a", b"\xf0\x9f", b"\x8e", b"\x89", b"b"])
    assert run.heard == [("a", "answer"), ("🎉", "answer"), ("b", "answer")]


def test_a_character_cut_off_by_the_end_becomes_one_replacement() -> None:
    assert Run([b"caff", b"\xc3"]).text == "caff\ufffd"


@given(text=st.text(max_size=12), at=CUTS, stop=st.text(min_size=1, max_size=3))
def test_a_stop_that_does_not_occur_holds_nothing_back_for_good(
    text: str, at: list[int], stop: str
) -> None:
    run = Run(cut(text.encode(), at), stops=[stop])
    if stop not in text:
        assert run.ended_at is None
        assert run.text == text


# -- stop sequences ------------------------------------------------------------------------------


def by_hand(text: str, stops: Sequence[str]) -> str:
    """The reply by definition: `text` before the stop sequence that is complete first."""
    for end in range(1, len(text) + 1):
        complete = [stop for stop in stops if text[:end].endswith(stop)]
        if complete:
            return text[: end - max(map(len, complete))]
    return text


@given(
    text=st.text("abc\n", max_size=14),
    at=CUTS,
    stops=st.lists(st.text("abc\n", min_size=1, max_size=4), min_size=1, max_size=3),
)
@example(text="xabcdx", at=[], stops=["abcd", "bc"])
@example(text="xabcdx", at=[1, 2, 3, 4], stops=["abcd", "bc"])
@example(text="aab", at=[1], stops=["ab"])
@example(text="abab", at=[3], stops=["aba", "abab"])
def test_the_stop_that_is_complete_first_ends_the_reply_however_text_is_cut(
    text: str, at: list[int], stops: list[str]
) -> None:
    run = Run(cut(text.encode(), at), stops=stops)
    assert run.text == by_hand(text, stops)
    assert (run.ended_at is not None) == any(stop in text for stop in stops)


def test_a_stop_spanning_tokens_is_never_shown_in_part() -> None:
    run = Run([b"one\n", b"EN", b"D", b" more"], stops=["END"])
    assert run.ended_at == 2
    assert run.heard == [("one\n", "answer")]


def test_text_that_only_began_like_a_stop_is_handed_on_as_soon_as_that_is_clear() -> None:
    run = Run([b"a", b"EN", b"x"], stops=["END"])
    assert run.heard == [("a", "answer"), ("ENx", "answer")]


def test_text_held_back_is_handed_on_at_the_end() -> None:
    assert Run([b"a", b"EN"], stops=["END"]).heard == [("a", "answer"), ("EN", "answer")]


def test_what_follows_a_stop_in_its_token_is_no_part_of_the_reply() -> None:
    run = Run([b"a\n\nb"], stops=["\n\n"])
    assert run.text == "a"
    assert run.ended_at == 0


def test_bytes_that_follow_a_stop_leave_no_replacement_behind() -> None:
    assert Run([b"aEND\xc3"], stops=["END"]).text == "a"


def test_a_stop_of_multi_byte_characters_cut_inside_a_character() -> None:
    run = Run([b"s\xc3\xac ", b"\xf0\x9f\x8e", b"\x89!"], stops=["🎉!"])
    assert run.text == "sì "
    assert run.ended_at == 2


def test_a_stop_at_the_very_start_leaves_an_empty_reply() -> None:
    run = Run([b"END"], stops=["END"])
    assert run.text == ""
    assert run.heard == []


# -- thoughts ------------------------------------------------------------------------------------


def test_thoughts_and_answer_go_to_channels_of_their_own() -> None:
    run = Run([OPENS, b"\nhm", b"m\n", CLOSES, b"\n\n", b"yes"], thinking=QWEN)
    assert run.text == "yes"
    assert run.reply.thinking == "\nhmm\n"
    assert run.heard == [("\nhm", "thinking"), ("m\n", "thinking"), ("yes", "answer")]


def test_a_reply_that_begins_inside_an_open_block_begins_with_thoughts() -> None:
    run = Run([b"hmm", CLOSES, b"yes"], thinking=QWEN, inside_thinking=True)
    assert (run.reply.thinking, run.text) == ("hmm", "yes")


def test_without_thinking_markers_every_token_is_answer() -> None:
    assert Run([OPENS, b"a", CLOSES]).text == "<MARKER>a<MARKER>"


def test_inside_thinking_means_nothing_without_thinking_markers() -> None:
    assert Run([b"a"], inside_thinking=True).text == "a"


def test_a_marker_in_the_wrong_channel_is_text() -> None:
    run = Run([CLOSES, OPENS, OPENS, b"a", CLOSES], thinking=QWEN)
    assert (run.text, run.reply.thinking) == ("<MARKER>", "<MARKER>a")


def test_an_empty_thought_leaves_no_trace() -> None:
    run = Run([OPENS, b"thought\n", CLOSES, b"yes"], thinking=GEMMA)
    assert run.heard == [("yes", "answer")]


@given(at=CUTS)
def test_the_label_of_a_channel_is_no_thought_however_it_is_cut(at: list[int]) -> None:
    run = Run([OPENS, *cut(b"thought\nI thought\nso", at), CLOSES, b"yes"], thinking=GEMMA)
    assert (run.text, run.reply.thinking) == ("yes", "I thought\nso")


@given(
    thought=st.sampled_from(["though", "thought", "thoughts\n", "thinking\n", "t", "", "\n", "xt"]),
    at=CUTS,
)
def test_a_thought_that_only_began_like_the_label_is_kept(thought: str, at: list[int]) -> None:
    run = Run([OPENS, *cut(thought.encode(), at), CLOSES, b"yes"], thinking=GEMMA)
    assert (run.text, run.reply.thinking) == ("yes", thought)


def test_every_block_of_a_reply_has_its_label_taken_away() -> None:
    block: list[bytes | int] = [OPENS, b"thought", b"\n", b"hm", CLOSES]
    run = Run([*block, b"a", *block, b"b"], thinking=GEMMA)
    assert (run.text, run.reply.thinking) == ("ab", "hmhm")


def test_a_label_in_the_answer_is_answer() -> None:
    assert Run([b"thought\nyes"], thinking=GEMMA).text == "thought\nyes"


@pytest.mark.parametrize("blank", [[b"\n\n"], [b"\n", b"\n"], [b"\n\n\n", b""], []])
def test_blank_lines_between_thoughts_and_answer_belong_to_neither(blank: list[bytes]) -> None:
    run = Run([OPENS, b"hm", CLOSES, *blank, b"yes\n\nno"], thinking=QWEN)
    assert run.text == "yes\n\nno"


def test_blank_lines_after_a_thought_are_kept_where_a_grammar_may_have_asked_for_them() -> None:
    run = Run([OPENS, b"hm", CLOSES, b"\n\nyes"], thinking=QWEN, keep_blank_lines=True)
    assert run.text == "\n\nyes"


def test_blank_lines_at_the_start_are_kept_where_no_thought_came_before() -> None:
    assert Run([b"\n\nyes"], thinking=QWEN).text == "\n\nyes"


def test_stops_are_not_looked_for_in_thoughts() -> None:
    run = Run([OPENS, b"END", CLOSES, b"yes", b"END"], thinking=QWEN, stops=["END"])
    assert (run.reply.thinking, run.text, run.ended_at) == ("END", "yes", 4)


def test_a_stop_does_not_begin_in_a_thought_and_end_in_the_answer() -> None:
    run = Run([OPENS, b"EN", CLOSES, b"D!"], thinking=QWEN, stops=["END"])
    assert (run.reply.thinking, run.text, run.ended_at) == ("EN", "D!", None)


def test_the_blank_lines_after_a_thought_are_no_stop() -> None:
    run = Run([OPENS, b"hm", CLOSES, b"\n\n", b"yes\n\nno"], thinking=QWEN, stops=["\n\n"])
    assert (run.text, run.ended_at) == ("yes", 4)


def test_text_held_back_for_a_stop_comes_before_the_thoughts_that_follow() -> None:
    run = Run([b"aEN", OPENS, b"hm", CLOSES, b"D"], thinking=QWEN, stops=["END"])
    assert run.heard == [("a", "answer"), ("EN", "answer"), ("hm", "thinking"), ("D", "answer")]


def test_a_character_cut_off_by_a_marker_does_not_join_what_follows() -> None:
    run = Run([OPENS, b"\xc3", CLOSES, b"\xa8"], thinking=QWEN)
    assert (run.reply.thinking, run.text) == ("\ufffd", "\ufffd")


def test_a_block_that_never_closes_leaves_no_answer() -> None:
    run = Run([OPENS, b"thou"], thinking=GEMMA)
    assert (run.text, run.reply.thinking) == ("", "thou")
