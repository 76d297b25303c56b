"""One hierarchy of faults. Every error names the thing that failed and the remedy.

Expected outcomes (a prefix that is missing, an item that was clipped) are enums in
:mod:`preheat.records.outcomes`, never exceptions.
"""

from __future__ import annotations


class PreheatError(Exception):
    """Base of all faults that a user can act upon.

    ``message`` says what is wrong and with what; ``remedy`` says what to do about it.
    ``exit_code`` is what the command line ends with.
    """

    exit_code = 1

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class BadInput(PreheatError):
    """A file, flag or value that the user gave cannot be used. Exit code 2."""

    exit_code = 2


class StorageFault(PreheatError):
    """A file could not be written: disk full, no permission, read-only. Exit code 2; nothing partial is left."""

    exit_code = 2


class EngineFault(PreheatError):
    """An engine or service cannot be reached or does not do its part. Exit code 4."""

    exit_code = 4


class EngineUnreachable(EngineFault):
    """Connection refused, name not resolved, the process died."""


class EngineTimeout(EngineFault):
    """The engine took the request and did not answer in time."""


class EngineDenied(EngineFault):
    """The engine refused the credentials (401, 403). The key is never part of the message."""


class EngineOverloaded(EngineFault):
    """The engine asked to be left alone for a while (429, 503). Worth a retry with jitter."""


class EngineFailed(EngineFault):
    """The engine answered with a server error (5xx) or closed the stream half-way."""


class EngineGarbage(EngineFault):
    """The engine answered with something that is not its protocol."""


class EngineRejected(EngineFault):
    """The engine says that this one request is wrong (4xx). Not worth a retry."""


class ContextExceeded(EngineRejected):
    """The prompt is longer than the engine's context.

    ``prompt_tokens`` and ``context_tokens`` are in tokens, ``None`` where the engine does not say.
    """

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        prompt_tokens: int | None = None,
        context_tokens: int | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.prompt_tokens = prompt_tokens
        self.context_tokens = context_tokens


class InfeasibleBudget(PreheatError):
    """The budget holds not even one item. Exit code 5."""

    exit_code = 5


class NonDeterministicStage(PreheatError):
    """Refused: a generated output is not reproducible and must not be stored or warmed. Exit code 5."""

    exit_code = 5


class Interrupted(PreheatError):
    """SIGINT or SIGTERM; the state is saved. Exit code 130."""

    exit_code = 130
