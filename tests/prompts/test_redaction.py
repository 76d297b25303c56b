"""What is hidden, and what must stay. No key here is real."""

from __future__ import annotations

import time

import pytest

from preheat.prompts.redaction import excerpt, redact

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


@pytest.mark.parametrize("unit", ["a-", "1 ", "1-", "token=", "a.b@", "+1 ", "sk-a"])
def test_time_grows_with_the_length_only(unit: str) -> None:
    started = time.process_time()
    redact(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 2
