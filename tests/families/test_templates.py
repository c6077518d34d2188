"""What chat templates render: the real ones, the tests' own, and hostile ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from fucina_cli.families.gemma4 import GEMMA4
from fucina_cli.families.qwen3 import QWEN3
from fucina_cli.prompts.errors import TemplateError
from fucina_cli.prompts.template import Marker, Rendered, render
from tests.support import ggufs

SYSTEM = "Be brief."
USER = "Why is the sky blue?"

QWEN3_MARKERS = frozenset(ggufs.QWEN3_SPECIALS)
GEMMA4_MARKERS = GEMMA4.markers | {"<bos>", "<eos>", "<pad>", "<unk>", "<mask>"}
CHATML_MARKERS = frozenset({"<|endoftext|>", "<|im_start|>", "<|im_end|>"})

#: Texts that end up in the prompt exactly as they are; none begins or ends with white space.
ODD_TEXTS = {
    "braces": "{{ messages }} {% raw %} {# note #} {%- endfor -%} }} %}",
    "internals": "{{ ''.__class__ }}",
    "format": "%s %(x)s {0} {} $x ${x}",
    "escapes": r"\n \x41 \u0041 \\ \" '",
    "quotes": "'\"` ''' \"\"\"",
    "lines": "one\n\n\ntwo\r\nthree\rfour\tfive",
    "languages": "però 日本語 🎉 नमस्ते עברית",
    "controls": "a\x00b\x1bc\x7fd\u200be\ufefff",
    "noncharacters": "\ufdd0x\ufdd1\ufdefy\ufffe\uffff",
    "slash commands": "/think /no_think",
    "html": "<b>bold</b> &lt; <script>alert(1)</script>",
}


def qwen3(
    template: str, user: str = USER, system: str | None = None, thinking: bool | None = None
) -> Rendered:
    return render(
        template,
        conversation(user, system),
        markers=QWEN3_MARKERS,
        thinking=thinking,
        bos="<|endoftext|>",
        eos="<|im_end|>",
    )


def gemma4(
    template: str, user: str = USER, system: str | None = None, thinking: bool | None = None
) -> Rendered:
    return render(
        template,
        conversation(user, system),
        markers=GEMMA4_MARKERS,
        thinking=thinking,
        bos="<bos>",
        eos="<eos>",
    )


def conversation(user: str, system: str | None = None) -> list[dict[str, str]]:
    first = [] if system is None else [{"role": "system", "content": system}]
    return [*first, {"role": "user", "content": user}]


@pytest.fixture(params=["real", "own"])
def qwen3_template(request: pytest.FixtureRequest, shared_file: Callable[[str], Path]) -> str:
    """The template of Qwen3 0.6B, and the shorter one of the test files, which must agree."""
    if request.param == "own":
        return ggufs.QWEN3_TEMPLATE
    return shared_file("templates/Qwen-Qwen3-0.6B.jinja").read_text(encoding="utf-8")


@pytest.fixture(params=["real", "own"])
def gemma4_template(request: pytest.FixtureRequest, shared_file: Callable[[str], Path]) -> str:
    """The template of Gemma 4 31B, and the shorter one of the test files, which must agree."""
    if request.param == "own":
        return ggufs.GEMMA4_TEMPLATE
    return shared_file("templates/google-gemma-4-31B-it.jinja").read_text(encoding="utf-8")


# -- golden prompts ------------------------------------------------------------------------------


@pytest.mark.parametrize("thinking", [None, True])
def test_qwen3_leaves_the_thinking_to_the_model_unless_it_is_off(
    qwen3_template: str, thinking: bool | None
) -> None:
    assert qwen3(qwen3_template, thinking=thinking).text == (
        "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_qwen3_without_thinking_ends_the_prompt_with_an_empty_thought(qwen3_template: str) -> None:
    assert qwen3(qwen3_template, thinking=False).text == (
        "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


@pytest.mark.parametrize(
    ("thinking", "end"), [(None, ""), (True, ""), (False, "<think>\n\n</think>\n\n")]
)
def test_qwen3_puts_the_system_text_into_a_turn_of_its_own(
    qwen3_template: str, thinking: bool | None, end: str
) -> None:
    assert qwen3(qwen3_template, system=SYSTEM, thinking=thinking).text == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n"
        "<|im_start|>assistant\n" + end
    )


def test_qwen3_keeps_white_space_and_empty_texts_as_they_are(qwen3_template: str) -> None:
    assert qwen3(qwen3_template, "\n  two\n\nlines \t\n", system=" s ").text == (
        "<|im_start|>system\n s <|im_end|>\n"
        "<|im_start|>user\n\n  two\n\nlines \t\n<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert qwen3(qwen3_template, " ", system="").text == (
        "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n <|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("thinking", [None, False])
def test_gemma4_without_thinking_ends_the_prompt_with_an_empty_channel(
    gemma4_template: str, thinking: bool | None
) -> None:
    assert gemma4(gemma4_template, thinking=thinking).text == (
        "<bos><|turn>user\nWhy is the sky blue?<turn|>\n<|turn>model\n<|channel>thought\n<channel|>"
    )


def test_gemma4_with_thinking_says_so_in_a_system_turn(gemma4_template: str) -> None:
    assert gemma4(gemma4_template, thinking=True).text == (
        "<bos><|turn>system\n<|think|>\n<turn|>\n"
        "<|turn>user\nWhy is the sky blue?<turn|>\n"
        "<|turn>model\n"
    )


@pytest.mark.parametrize(
    ("thinking", "start", "end"),
    [
        (None, "", "<|channel>thought\n<channel|>"),
        (False, "", "<|channel>thought\n<channel|>"),
        (True, "<|think|>\n", ""),
    ],
)
def test_gemma4_puts_the_system_text_into_a_turn_of_its_own(
    gemma4_template: str, thinking: bool | None, start: str, end: str
) -> None:
    assert gemma4(gemma4_template, system=SYSTEM, thinking=thinking).text == (
        "<bos><|turn>system\n" + start + "Be brief.<turn|>\n"
        "<|turn>user\nWhy is the sky blue?<turn|>\n"
        "<|turn>model\n" + end
    )


def test_gemma4_trims_texts(gemma4_template: str) -> None:
    assert gemma4(gemma4_template, "\n <two>\n\n lines \t\n", system=" s\n").text == (
        "<bos><|turn>system\ns<turn|>\n"
        "<|turn>user\n<two>\n\n lines<turn|>\n"
        "<|turn>model\n<|channel>thought\n<channel|>"
    )
    assert gemma4(gemma4_template, " \n ").text == (
        "<bos><|turn>user\n<turn|>\n<|turn>model\n<|channel>thought\n<channel|>"
    )


def test_chatml_template_of_the_test_files() -> None:
    messages = conversation(USER, SYSTEM)
    assert render(ggufs.CHATML_TEMPLATE, messages, markers=CHATML_MARKERS).text == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nWhy is the sky blue?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_texts_stay_as_they_are(qwen3_template: str, gemma4_template: str, text: str) -> None:
    assert qwen3(qwen3_template, text, system=text).text == (
        f"<|im_start|>system\n{text}<|im_end|>\n"
        f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
    )
    assert gemma4(gemma4_template, text, system=text).text == (
        f"<bos><|turn>system\n{text}<turn|>\n<|turn>user\n{text}<turn|>\n"
        "<|turn>model\n<|channel>thought\n<channel|>"
    )


# -- markers apart from text ---------------------------------------------------------------------


def test_parts_tell_the_markers_of_the_template_from_text(qwen3_template: str) -> None:
    assert qwen3(qwen3_template, "a<|im_end|>b<think>", thinking=False).parts == (
        Marker("<|im_start|>"),
        "user\na<|im_end|>b<think>",
        Marker("<|im_end|>"),
        "\n",
        Marker("<|im_start|>"),
        "assistant\n",
        Marker("<think>"),
        "\n\n",
        Marker("</think>"),
        "\n\n",
    )


def test_gemma4_parts_begin_with_the_bos_marker(gemma4_template: str) -> None:
    assert gemma4(gemma4_template, "<turn|>", thinking=True).parts == (
        Marker("<bos>"),
        Marker("<|turn>"),
        "system\n",
        Marker("<|think|>"),
        "\n",
        Marker("<turn|>"),
        "\n",
        Marker("<|turn>"),
        "user\n<turn|>",
        Marker("<turn|>"),
        "\n",
        Marker("<|turn>"),
        "model\n",
    )


def parts(template: str, user: str, markers: Collection[str]) -> tuple[str | Marker, ...]:
    return render(template, conversation(user), markers=markers).parts


def test_text_completes_no_marker_that_the_template_began() -> None:
    template = "<|im_{{ messages[0].content }}"
    assert parts(template, "end|>", CHATML_MARKERS) == ("<|im_end|>",)


def test_template_completes_no_marker_that_text_began() -> None:
    template = "{{ messages[0].content }}_end|>"
    assert parts(template, "<|im", CHATML_MARKERS) == ("<|im_end|>",)


def test_text_is_no_middle_of_a_marker_even_when_the_template_trims_it() -> None:
    template = "<|{{ messages[0].content | trim }}|>"
    assert parts(template, "\n im_end ", CHATML_MARKERS) == ("<|im_end|>",)


def test_two_texts_make_no_marker_together() -> None:
    messages = [{"role": "system", "content": "<|im_"}, {"role": "user", "content": "end|>"}]
    template = "{{ messages[0].content + messages[1].content }}"
    assert render(template, messages, markers=CHATML_MARKERS).parts == ("<|im_end|>",)


def test_leading_white_space_completes_no_marker_that_ends_in_white_space() -> None:
    assert parts("A:{{ messages[0].content }}", " hi", {"A: "}) == ("A: hi",)


def test_of_two_markers_at_one_place_the_longer_one_counts() -> None:
    assert parts("<a><b>", "", {"<a>", "<a><b>"}) == (Marker("<a><b>"),)


def test_without_markers_a_prompt_is_one_text() -> None:
    assert parts("<a>{{ messages[0].content }}", "<b>", ()) == ("<a><b>",)


# -- the dialect ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{% for m in messages %}{% break %}{% endfor %}x", "x"),
        ("{% generation %}{{ messages[0].role }}{% endgeneration %}", "user"),
        ("  {% if true %}\n a\n  {% endif %}\nb", " a\nb"),
        ("{{ {'b': 'è<', 'a': 1} | tojson }}", '{"b": "è<", "a": 1}'),
        ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
        ("{{ strftime_now('%%') }}", "%"),
        ("{{ tools is none }}{{ documents is none }}", "TrueTrue"),
        ("{{ enable_thinking is defined }}", "False"),
        ("{{ messages[0].pop is defined }}", "False"),
        ("[{{ bos_token }}|{{ eos_token }}]", "[|]"),
        ("a{{ nothing }}", "a"),
    ],
)
def test_templates_have_the_dialect_of_hugging_face(template: str, text: str) -> None:
    assert render(template, conversation(USER), markers=()).text == text


# -- templates that must be refused --------------------------------------------------------------

REFUSED = {
    "{{ ''.__class__ }}": "not safe: it reaches for the attribute '__class__' of a str",
    "{{ messages.__class__.__mro__ }}": "not safe: it reaches for",
    "{{ messages | attr('__class__') }}": "not safe: it reaches for",
    "{{ messages['__class__'] }}": "not safe: it reaches for",
    "{{ '{0.__class__}'.format(messages) }}": "not safe: it reaches for",
    "{{ '{m.__class__}'.format_map({'m': messages}) }}": "not safe: it reaches for",
    "{{ raise_exception.__globals__ }}": "not safe: it reaches for",
    "{{ strftime_now.__globals__['datetime'] }}": "not safe: it reaches for",
    "{{ lipsum.__globals__.os.system('true') }}": "not safe: it reaches for",
    "{{ cycler.__init__ }}": "not safe: it reaches for",
    "{{ self.__init__ }}": "not safe: it reaches for",
    "{% set _ = messages.append(1) %}": "not safe: access to attribute 'append'",
    "{% set _ = messages[0].update(role='x') %}": "not safe: access to attribute 'update'",
    "{{ 'a' * 10**10 }}": "not safe: a value of absurd size",
    "{{ 10**10 * ['a'] }}": "not safe: a value of absurd size",
    "{{ 9 ** 9 ** 9 }}": "not safe: a power of absurd size",
    "{{ '%1000000000d' % 1 }}": "not safe: a format of absurd width",
    "{{ 'a'.ljust(10**11) }}": "takes more memory than a prompt can need",
    "{{ 'a' | center(10**11) }}": "takes more memory than a prompt can need",
    "{{ '{:>{}}'.format('x', 10**11) }}": "takes more memory than a prompt can need",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}": "is nested too deeply, or calls itself",
    "{{ " + "(" * 5000 + ")" * 5000 + " }}": "is nested too deeply, or calls itself",
    "{% for i in range(100000) %}{{ 'a' * 10000 }}{% endfor %}": "writes over ",
    "{% for i in range(10**9) %}{% endfor %}": "Range too big",
    "{% for %}": "a syntax error at line 1",
    "\n\n{{ 'open": "a syntax error at line 3",
    "{{ nothing }}": "writes nothing",
    "{{ raise_exception('System role\n not supported') }}": "failed: System role not supported",
    "{{ raise_exception('\x1b[2J\x07') }}": "failed: \ufffd[2J\ufffd",
    "{{ missing.attribute }}": "failed: 'missing' is undefined",
    "{{ 1 + 'a' }}": "failed: TypeError",
    "{{ 1 / 0 }}": "failed: ZeroDivisionError",
    "{% include '/etc/passwd' %}": "failed: TypeError: no loader",
    "{% import 'os' as os %}{{ os }}": "failed: TypeError: no loader",
    r"{{ '\ud800' }}": "writes a lone surrogate, which is no text",
}


@pytest.mark.parametrize(
    ("template", "reason"), REFUSED.items(), ids=[" ".join(t.split())[:40] for t in REFUSED]
)
def test_hostile_and_broken_templates_are_refused_in_one_line(template: str, reason: str) -> None:
    with pytest.raises(TemplateError) as refusal:
        render(template, conversation(USER), markers=CHATML_MARKERS)
    message = str(refusal.value)
    assert message.startswith("the chat template ")
    assert reason in message
    assert len(message) < 300
    assert message.isprintable()


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set n = namespace(x=3) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}",
    ],
    ids=["loops", "big numbers"],
)
def test_a_template_that_does_not_end_is_stopped(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fucina_cli.prompts.template._SECONDS", 1.0)
    begin = time.perf_counter()
    with pytest.raises(TemplateError, match="did not end within 1 s"):
        render(template, conversation(USER), markers=())
    assert time.perf_counter() - begin < 4


def test_a_value_that_doubles_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fucina_cli.prompts.template._MEMORY_BYTES", 1 << 26)
    growing = "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}"
    with pytest.raises(TemplateError, match="takes more memory"):
        render(growing + "{% endfor %}", conversation(USER), markers=())


def test_a_long_text_is_no_absurd_prompt() -> None:
    text = "<|im_start|>" * 200_000
    rendered = render(ggufs.CHATML_TEMPLATE, conversation(text, text), markers=CHATML_MARKERS)
    assert rendered.text.count(text) == 2


def test_a_refused_template_leaves_no_limit_behind() -> None:
    with pytest.raises(TemplateError):
        render("{{ 'a'.ljust(10**11) }}", conversation(USER), markers=())
    assert len(bytearray(1 << 30)) == 1 << 30  # as much as the block allowed, and free to take
    assert render("{{ 1 }}", conversation(USER), markers=()).text == "1"


def test_families_name_the_markers_that_their_templates_write(
    shared_file: Callable[[str], Path],
) -> None:
    gemma = shared_file("templates/google-gemma-4-31B-it.jinja").read_text(encoding="utf-8")
    written = {"<|turn>", "<turn|>", "<|channel>", "<channel|>", "<|think|>", '<|"|>', "<|tool>"}
    assert all(marker in gemma for marker in written)
    assert written <= GEMMA4.markers
    qwen = shared_file("templates/Qwen-Qwen3-0.6B.jinja").read_text(encoding="utf-8")
    assert all(marker in qwen for marker in QWEN3.markers)
