"""Results on standard output."""

from __future__ import annotations

from typing import Any

import click

from preheat.errors import EngineFault

_REASONS = 8
_REASON_CHARS = 400


def print_json(record: Any) -> None:
    """One JSON document, indented, on standard output, in UTF-8 whatever the terminal's encoding is."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(record), indent=2))


def one_line(fault: BaseException) -> str:
    """A fault on one line, without control characters; what an engine said is redacted."""
    from preheat.prompts.redaction import printable, redact

    said = redact(str(fault)) if isinstance(fault, EngineFault) else printable(str(fault))
    return " ".join(said.split("\n")).replace("\t", " ")


def print_reasons(reasons: dict[str, int], before: str = "") -> None:
    """The commonest reasons, with their counts: in words that engines chose, so redacted and without controls."""
    from preheat.prompts.redaction import excerpt

    ordered = sorted(reasons.items(), key=lambda pair: -pair[1])
    for reason, count in ordered[:_REASONS]:
        click.echo(f"  {before}{count} x {excerpt(reason, _REASON_CHARS)}")
    if len(ordered) > _REASONS:
        click.echo(f"  and {len(ordered) - _REASONS} more")


def print_facts(title: str, facts: dict[str, object]) -> None:
    """Aligned ``name  value`` lines under a title."""
    click.echo(title)
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        click.echo(f"  {name:<{width}}  {value}")
