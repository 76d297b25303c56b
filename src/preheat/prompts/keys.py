"""Secrets that have a telling form: keys and tokens of many makers, and whatever is assigned to a name like ``token``.

Every pattern is linear: what may repeat is bounded, or ends where the next may begin.
"""

from __future__ import annotations

import re

LABEL = "[key]"
KEY_WORDS = (
    r"api[_-]?key|access[_-]?key|account[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret|"
    r"private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|token|passw(?:or)?d|"
    r"passphrase|pwd|密码|口令|密钥"
)
_RUN = "[A-Za-z0-9_-]"
MAKERS: tuple[tuple[str, str | tuple[str, ...], str], ...] = (
    ("OpenAI, Anthropic, Stripe, Langfuse and others", "sk-", rf"sk-(?={_RUN}{{0,99}}\d){_RUN}{{16,}}"),
    ("Stripe", ("sk_", "pk_", "rk_"), r"[spr]k_(?=[A-Za-z0-9_-]{0,99}\d)[A-Za-z0-9_-]{16,}"),
    ("Stripe, Langfuse: public ones", ("pk-", "rk-"), rf"[pr]k-(?={_RUN}{{0,99}}\d){_RUN}{{16,}}"),
    ("Stripe, webhooks", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{20,}"),
    ("GitHub", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    ("GitLab", ("glp", "glrt", "gldt", "glcbt", "glsoat"), rf"gl(?:pat|ptt|rt|dt|cbt|soat)-{_RUN}{{16,}}"),
    (
        "AWS",
        ("AKIA", "ASIA", "AROA", "AIDA", "ABIA", "ACCA"),
        r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    ("Google", "AIza", rf"AIza{_RUN}{{30,}}"),
    ("Google, OAuth", "ya29.", rf"ya29\.{_RUN}{{20,}}"),
    ("Google, OAuth clients", "GOCSPX-", rf"GOCSPX-{_RUN}{{20,}}"),
    ("Slack", "xox", r"xox[abeposr](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    ("Slack", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    ("Slack, webhooks", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_+-]{20,}"),
    ("Hugging Face", "hf_", r"hf_[A-Za-z0-9]{20,}"),
    ("npm", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    ("PyPI", "pypi-", rf"pypi-{_RUN}{{30,}}"),
    ("RubyGems", "rubygems_", r"rubygems_[a-f0-9]{32,}"),
    ("SendGrid", "SG.", rf"SG\.{_RUN}{{16,32}}\.{_RUN}{{16,64}}"),
    ("Mailgun", "key-", r"key-[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("Twilio", ("SK", "AC"), r"(?:SK|AC)[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("DigitalOcean", "_v1_", r"do[opr]_v1_[a-f0-9]{32,}"),
    ("Databricks", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("Shopify", "shp", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("HashiCorp Vault", "hv", rf"hv[sbr]\.{_RUN}{{20,}}"),
    ("Atlassian", "ATATT3", rf"ATATT3{_RUN}{{20,}}=?[A-F0-9]*"),
    ("Linear", "lin_api_", r"lin_api_[A-Za-z0-9]{20,}"),
    ("Notion", "ntn_", r"ntn_[A-Za-z0-9]{30,}"),
    ("Groq", "gsk_", r"gsk_[A-Za-z0-9]{20,}"),
    ("xAI", "xai-", r"xai-[A-Za-z0-9]{20,}"),
    ("Perplexity", "pplx-", r"pplx-[A-Za-z0-9]{20,}"),
    ("NVIDIA", "nvapi-", rf"nvapi-{_RUN}{{20,}}"),
    ("Replicate", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("Supabase", "sbp_", r"sbp_[a-f0-9]{32,}"),
    ("Telegram", ":AA", rf"[0-9]{{8,10}}:AA{_RUN}{{33}}(?![A-Za-z0-9_-])"),
    ("Alibaba Cloud", "LTAI", r"LTAI[A-Za-z0-9]{12,}(?![A-Za-z0-9])"),
    ("Tencent Cloud", "AKID", r"AKID[A-Za-z0-9]{20,}"),
    ("Volcengine", "AKLT", r"AKLT[A-Za-z0-9]{20,}"),
    ("JSON web tokens", "eyJ", rf"eyJ{_RUN}{{8,}}\.{_RUN}{{8,}}(?:\.{_RUN}*)?"),
)
"""Whose key, what it is sure to hold (looked for first, which is fast), and its form. None begins within a word."""
_WITHIN = ("SK", "AC", ":AA", "_v1_", "key-", "hooks.slack.com/")
BEGINNINGS = tuple(
    one for _, sure, _ in MAKERS for one in ((sure,) if isinstance(sure, str) else sure) if one not in _WITHIN
)
"""What keys begin with: enough to be careful with the end of a text that was cut."""
_MAKERS = tuple(
    ((sure,) if isinstance(sure, str) else sure, re.compile(rf"(?<![A-Za-z0-9])(?:{form})", re.ASCII))
    for _, sure, form in MAKERS
)
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s{1,8})([A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE | re.ASCII)
_ASSIGNED = re.compile(
    rf"((?:{KEY_WORDS})[\"']?\s{{0,8}}(?:=>|[:=：])\s{{0,8}}[\"']?)([^\s\"',;&]{{8,}})", re.IGNORECASE | re.ASCII
)
_ASSIGNED_SURE = re.compile(r"(?:key|secret|token|assword|asswd|phrase|pwd|密码|口令|密钥)[\"']?\s{0,8}(?:=>|[:=：])")
_IN_URL = re.compile(r"(://[^\s/@:\"'<>]{0,64}:)([^\s/@\"'<>]{3,128})(?=@)")
_SIGNED_URL = re.compile(
    r"([?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=)[A-Za-z0-9%+/=_-]{16,}", re.IGNORECASE
)
_LITERAL = re.compile(r"[A-Za-z0-9._~+/=!@#$%^*-]+")


def hide_keys(text: str) -> str:
    """``text`` with ``[key]`` in place of secrets."""
    if "PRIVATE KEY-----" in text:
        text = _PRIVATE.sub(LABEL, text)
    for sure, form in _MAKERS:
        if any(one in text for one in sure):
            text = form.sub(LABEL, text)
    lower = text.lower()
    if "bearer" in lower or "basic" in lower:
        text = _BEARER.sub(rf"\1{LABEL}", text)
    if _ASSIGNED_SURE.search(lower):
        text = _ASSIGNED.sub(_if_random, text)
    if "://" in text:
        text = _SIGNED_URL.sub(rf"\1{LABEL}", _IN_URL.sub(rf"\1{LABEL}", text))
    return text


def _if_random(match: re.Match[str]) -> str:
    """After ``key=`` a secret is random: a run of letters and digits mixed, not a word, a call or a template."""
    value = match[2]
    is_secret = _LITERAL.fullmatch(value) is not None and (
        any(character.isdigit() for character in value) and any(character.isalpha() for character in value)
    )
    return f"{match[1]}{LABEL}" if is_secret else match[0]
