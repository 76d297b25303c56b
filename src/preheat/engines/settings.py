"""How to reach an engine: credentials by name, certificates, timeouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """Connection to one engine.

    ``api_key_env`` is the *name* of the environment variable that holds the key; the key itself never stands in a
    setting, a file or a message. ``headers`` are sent with every request and treated as secrets in messages.
    Proxies come from the usual environment variables where ``trust_env`` is set.
    """

    model: str | None = None
    """Model to ask for; default: the first one that the engine lists."""
    api_key_env: str | None = None
    """Name of the environment variable with the API key."""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    """Further HTTP headers."""
    ca_cert: Path | None = None
    """PEM file with the certificate authorities to trust."""
    client_cert: Path | None = None
    """PEM file with the client certificate (and key, unless ``client_key`` is given)."""
    client_key: Path | None = None
    """PEM file with the client certificate's key."""
    trust_env: bool = True
    """Honour HTTP_PROXY, HTTPS_PROXY, NO_PROXY."""
    connect_timeout_s: float = 10.0
    """Longest wait for a connection."""
    timeout_s: float = 30.0
    """Longest wait for an answer to a question that computes nothing."""
    block_tokens: int = 16
    """Tokens per cache block of a generic endpoint, which does not say it (OpenAI's own: 128)."""
    tokenize_in_flight: int = 8
    """Tokenizer requests under way at once."""
