"""Keys of many makers. None here is real; they are put together at run time, so that no scanner takes them for some."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.prompts.keys import MAKERS, hide_keys

RUN = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HEX = "0123456789abcdef0123456789abcdef"
EXAMPLES = (
    *("sk" + "-" + RUN, "sk" + "-ant-api03-" + RUN, "sk" + "-lf-" + RUN, "pk" + "-lf-" + RUN, "sk" + "_live_" + RUN),
    *(
        "whsec" + "_" + RUN,
        "gh" + "p_" + RUN,
        "github" + "_pat_" + RUN,
        "gl" + "pat-" + RUN,
        "AK" + "IAABCDEFGHIJKLMNOP",
    ),
    *("AI" + "za" + RUN, "ya" + "29." + RUN, "GOC" + "SPX-" + RUN, "xox" + "b-" + RUN, "xa" + "pp-1-" + RUN),
    *("https://hooks.slack" + ".com/services/T0/B0/" + RUN, "h" + "f_" + RUN, "np" + "m_" + RUN, "py" + "pi-" + RUN),
    *(
        "ruby" + "gems_" + HEX,
        "S" + "G." + RUN[:22] + "." + RUN,
        "key" + "-" + HEX,
        "A" + "C" + HEX,
        "dop" + "_v1_" + HEX * 2,
    ),
    *(
        "da" + "pi" + HEX,
        "sh" + "pat_" + HEX,
        "hv" + "s." + RUN,
        "AT" + "ATT3" + RUN,
        "lin" + "_api_" + RUN,
        "nt" + "n_" + RUN,
    ),
    *(
        "gs" + "k_" + RUN,
        "xa" + "i-" + RUN,
        "pp" + "lx-" + RUN,
        "nv" + "api-" + RUN,
        "r" + "8_" + RUN,
        "sb" + "p_" + HEX,
    ),
    *("12345678" + ":AA" + RUN[:33], "LT" + "AI" + RUN[:20], "AK" + "ID" + RUN, "AK" + "LT" + RUN),
    "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
)


def test_every_maker_has_an_example() -> None:
    for name, sure, form in MAKERS:
        known = [example for example in EXAMPLES if re.search(form, example)]
        assert known, name
        holds = (sure,) if isinstance(sure, str) else sure
        assert all(any(one in example for one in holds) for example in known), name


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("around", ["{}", "密钥：{}，请保密", "KEY {}\n", '["{}"]', "({})"])
def test_keys_are_hidden(example: str, around: str) -> None:
    assert RUN[:12] not in hide_keys(around.format(example))
    assert HEX[:12] not in hide_keys(around.format(example))
    assert "[key]" in hide_keys(around.format(example))


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("postgres://bob:hunter2@db.example.org/x", "postgres://bob:[key]@db.example.org/x"),
        ("redis://:p4ssw0rd@10.0.0.1:6379", "redis://:[key]@10.0.0.1:6379"),
        ("https://x.blob/y?sv=1&sig=" + RUN + "%3D&z", "https://x.blob/y?sv=1&sig=[key]&z"),
        ("密码：hunter2hunter2", "密码：[key]"),
        ("AccountKey=" + RUN + "==;", "AccountKey=[key];"),
        ("passphrase => 'abc12345678'", "passphrase => '[key]'"),
        ("basic " + RUN, "basic [key]"),
    ],
)
def test_secrets_by_their_place(text: str, hidden: str) -> None:
    assert hide_keys(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn, sk_color_of_the_sky, a task-based-approach-with-many-words, hf_transfer, key-value-pairs",
        "ACCOUNTS SKILLS AKIANE glitter gsk_ xai- r8_ shpat SG.",
        "http://example.org:8080/a@b https://user@example.org",
        "token: the smallest unit; key = value; password = ********; secret: abcdefgh",
        "https://example.org/?sig=short&token_count=12",
        "basic understanding of mathematics",
    ],
)
def test_words_stay(text: str) -> None:
    assert hide_keys(text) == text


@given(st.text(max_size=80), st.sampled_from(EXAMPLES), st.text(max_size=80))
def test_whatever_surrounds_it_the_secret_is_gone(before: str, example: str, after: str) -> None:
    shown = hide_keys(f"{before} {example} {after}")
    assert example not in shown


def test_random_letters_are_no_keys() -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randrange(2, 12))) for _ in range(20_000)]
    text = " ".join(words)
    assert hide_keys(text) == text
