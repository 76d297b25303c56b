"""The one vocabulary of expected outcomes."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """Of a warmed item. Only LOADED and ALREADY mean that the engine itself said so."""

    LOADED = "LOADED"
    """Was not there, was warmed, and the engine's word at the first probe is that it is resident."""
    ALREADY = "ALREADY"
    """Was resident before we touched it."""
    CLIPPED = "CLIPPED"
    """Longer than the engine's context; warmed as far as the context goes."""
    DEFERRED = "DEFERRED"
    """Not warmed: the time for warming ran out before its turn, or the run was interrupted."""
    REJECTED = "REJECTED"
    """The engine refused it or failed on it, retries included."""
    UNSUPPORTED = "UNSUPPORTED"
    """The engine cannot execute this kind of item, or gives no word by which to verify it."""
    MISSING = "MISSING"
    """Was warmed, yet at the first probe the engine did not have it."""


class Retention(StrEnum):
    """In what unit an engine keeps and evicts what it has computed."""

    BLOCKS = "blocks"
    """Fixed runs of token positions, shared between prompts (vLLM, SGLang)."""
    STATES = "states"
    """Whole prompt states, one per cached prompt (llama.cpp)."""


class PromptClass(StrEnum):
    """What kind of prompt it is (spec 4.1); a prompt may have several, and OTHER only when it has no other."""

    MULTI_HOP = "multi-hop"
    """Asks for reasoning over several steps."""
    JSON_SCHEMA = "json-schema"
    """The answer must be JSON of a given shape."""
    FEW_SHOT = "few-shot"
    """Worked examples stand before the question."""
    RAG = "rag"
    """Passages or a document to answer from."""
    TOOL_USE = "tool-use"
    """Function definitions, calls or results: agents."""
    ROLE_PLAY = "role-play"
    """A persona is set."""
    CLASSIFICATION = "classification"
    """The answer is one of given labels or options."""
    CODE = "code"
    """Source code to read or write."""
    DIALOGUE = "dialogue"
    """More than one turn of a conversation."""
    OTHER = "other"


class BreakCause(StrEnum):
    """What differs where prompts part that share text again after it."""

    TIMESTAMP = "timestamp"
    """A time of day, with its date or without, or epoch time."""
    DATE = "date"
    """A day."""
    UUID = "uuid"
    """A random identifier of 128 bits."""
    ID = "id"
    """A request, session, user or trace id, a hash or a nonce."""
    EMAIL = "email"
    """An address."""
    NAME = "name"
    """A name, where the text says that one stands there."""
    NUMBER = "number"
    """A counter or another number."""
    ORDER = "order"
    """The same lines, tools, examples or JSON members in another order."""
    TEXT = "text"
    """Other short text before longer text that is always the same."""
