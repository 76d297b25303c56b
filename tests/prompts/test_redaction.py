"""What is hidden, and what must stay. No key here is real."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.prompts.redaction import excerpt, printable, redact, tail_excerpt

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("mail bob.smith+x@corp.co.uk now", "mail [email] now"),
        ("邮箱a@b.cn，谢谢", "邮箱[email]，谢谢"),
        ("call +1 (415) 555-2671", "call [phone]"),
        ("call 415-555-2671 or (415) 555-2671.", "call [phone] or [phone]."),
        ("+49 30 901820123", "[phone]"),
        ("电话13800138000，或138 0013 8000", "电话[phone]，或[phone]"),
        ("010-12345678", "[phone]"),
        ("sk" + "-proj-" + RANDOM, "[key]"),
        ("密钥" + "sk" + "-" + RANDOM, "密钥[key]"),
        ("sk" + "-ant-api03-" + RANDOM, "[key]"),
        ("gh" + "p_" + RANDOM, "[key]"),
        ("AK" + "IA" + "ABCDEFGHIJKLMNOP", "[key]"),
        ("h" + "f_" + RANDOM, "[key]"),
        ("ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "[key]"),
        ("Authorization: Bearer " + RANDOM, "Authorization: Bearer [key]"),
        ("API_KEY='9f8e7d6c5b4a39281706'", "API_KEY='[key]'"),
        ('{"client_secret": "Zm9vYmFyMTIz+/=="}', '{"client_secret": "[key]"}'),
        ("https://x.org/?access_token=abcd1234efgh&b=1", "https://x.org/?access_token=[key]&b=1"),
        ("password: hunter2hunter2", "password: [key]"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----.", "[key]."),
        ("card 4111 1111 1111 1111, 5500000000000004", "card [card], [card]"),
        ("3782-822463-10005", "[card]"),
        ("身份证11010519491231002X", "身份证[id]"),
        ("SSN 078-05-1120", "SSN [id]"),
    ],
)
def test_hidden(text: str, redacted: str) -> None:
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-02T03:04:05.123456Z",
        "1700000000 1700000000123 1700000000123456 1700000000123456789",
        "4111111111111112 is not a card: the check digit is wrong",
        "110105194912310021 has a wrong check digit",
        "42 1000000 x = 12345678901",
        "3.14159265358979323846 0.4111111111111111",
        "4 5 6 7 8 9 1 2 3 4 5 6 7",
        "max_tokens=4096, tokens: 1234567890",
        "token = tokenizer.next_token(x1)",
        'api_key = os.environ["OPENAI_API_KEY_2"]',
        "secret_key=get_secret_v2()",
        "password: correct",
        "x+1000000 +1000000 a-415",
        "550e8400-e29b-41d4-a716-446655440000",
        "192.168.100.100 v1.2.3 10.0.0.1:8080",
        "@decorator def f(self) -> None: ...  # user@ and @user",
        "scikit-learn sk-learn-contrib-package",
        "000-12-3456 666-12-3456 900-12-3456",
        "<|im_start|>system\nYou are helpful.<|im_end|>",
    ],
)
def test_stays(text: str) -> None:
    assert redact(text) == text


def test_an_excerpt_is_one_short_line_redacted_before_it_is_cut() -> None:
    assert excerpt("a\n  b\tc", 10) == "a b c"
    assert excerpt("abcdefghij", 5) == "abcd…"
    assert excerpt("write to someone@example.org please", 14) == "write to [ema…"
    assert excerpt("x" * 100, 10) == "x" * 9 + "…"


def test_a_secret_across_the_cut_of_a_long_text_does_not_show() -> None:
    text = " " * 4000 + "sk" + "-" + RANDOM * 40
    for pad in range(60, 140, 7):
        assert RANDOM[:8] not in excerpt(" " * pad + text, 80)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a-",
            "1 ",
            "1-",
            "token=",
            "a.b@",
            "+1 ",
            "sk-a",
            "sk-",
            "sk_",
            "A",
            "AB12 ",
            "eyJ",
            "00 ",
            "01 ",
            "(1",
            "1.",
            "A1",
        ),
        *(
            "tel: 1",
            "phone",
            "passport ",
            "SSN 1 ",
            "电话",
            "密码:",
            "://a:",
            "bearer ",
            "?sig=",
            "12 AB ",
            "756.",
            "@",
        ),
        *(
            "eyJaaaaaaaaaa.",
            "SG.aaaaaaaaaaaaaaaaaaaa.",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "a@a.a.a.a.a.a.a.",
        ),
        *("\x1b]", "\x1b[", "\x1b[1", "\x9b;"),
    ],
)
def test_time_grows_with_the_length_only(unit: str) -> None:
    started = time.process_time()
    redact(unit * (100_000 // len(unit)))
    tail_excerpt(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1bP1;q\x9cc", "abc"),
        ("\x9b2Ja\x9d0;t\x9cb", "ab"),
        ("a\x1bcb\x1b(Bc\x1b", "abc"),
        ("open\x1b]0;never closed", "open0;never closed"),
        ("\x00a\x08\x07b\x7f\x84c", "abc"),
        ("a\rb\x0bc\x85d", "a b c d"),
        ("a\u202eb\u2066c", "abc"),
        ("tab\tand\nline 预热 🇨🇳 é", "tab\tand\nline 预热 🇨🇳 é"),
    ],
)
def test_only_text_is_printed(text: str, shown: str) -> None:
    assert printable(text) == redact(text) == shown
    assert excerpt(text) == " ".join(shown.split())


@given(st.text(st.sampled_from("\x1b[]\x07\x9b\x9c\\P0;mA \n\r\x00é"), max_size=60))
def test_no_control_character_is_ever_shown(text: str) -> None:
    for shown in (excerpt(text), tail_excerpt(text), excerpt(text, 3), tail_excerpt(text, 3)):
        assert not any(unicodedata.category(character) == "Cc" for character in shown)


def test_a_key_that_is_broken_up_by_colours_is_still_a_key() -> None:
    assert redact("a " + "sk" + "-\x1b[1m" + RANDOM[:10] + "\x1b[0m\x00" + RANDOM[10:]) == "a [key]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("all of it\n", "all of it"),
        ("the beginning and then the end", "…then the end"),
        ("write to bob@example.org", "…e to [email]"),
        ("key " + "sk" + "-proj-" + RANDOM, "key [key]"),
        ("the key is " + RANDOM[:12], "…e key is […]"),
        ("the key is " + "sk" + "-ab", "…e key is […]"),
        ("the key is " + "AK" + "IAABCDEFGHIJ", "…e key is […]"),
        ("password: hun", "password: […]"),
        ("write bob@exam", "write […]"),
        ("card 4111 1111 11", "card […]"),
        ("a-long-hyphenated-word", "…henated-word"),
        ("since the year 2024", "…he year 2024"),
        ("请简短回答", "请简短回答"),
    ],
)
def test_the_end_of_a_text(text: str, shown: str) -> None:
    assert tail_excerpt(text, 13) == shown
    assert len(tail_excerpt(text, 5)) <= 5
    assert tail_excerpt(text, 0) == ""


def test_a_secret_across_the_beginning_of_the_tail_does_not_show() -> None:
    for size in (1, 5, 15, 16, 100):
        assert tail_excerpt("sk" + "-" + RANDOM * 20 + RANDOM[:size] + " " * 4080, 80) == "…[…]"
    pem = "\n".join([RANDOM + RANDOM[:28]] * 100)
    for after in range(0, 70, 3):
        assert RANDOM[:4] not in tail_excerpt("-----BEGIN " + f"PRIVATE KEY-----\n{pem}" + "\n \n" + "x " * after, 200)
        assert RANDOM[:4] not in tail_excerpt(
            "-----BEGIN " + f"PRIVATE KEY-----\n{pem}" + "\n-----END PRIVATE KEY-----\n" + "x " * after, 200
        )


def test_text_without_blanks_is_not_taken_for_a_secret() -> None:
    assert tail_excerpt("请简短回答。" * 2000, 10) == "…回答。请简短回答。"
    assert tail_excerpt('{"a":1,"b":"word"}' * 2000, 10) == '…":"word"}'
