"""Results on standard output."""

from __future__ import annotations

from typing import Any

import click

_REASONS = 8
_REASON_CHARS = 400


def print_json(record: Any) -> None:
    """One JSON document, indented, on standard output, in UTF-8 whatever the terminal's encoding is."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(record), indent=2))


def one_line(fault: BaseException) -> str:
    """A fault on one line, without control characters; what an engine, a log or a template said is redacted."""
    return shown(str(fault))


def shown(text: object) -> str:
    """``text`` on one line, redacted, without control characters; whole, since it may name a path or a remedy."""
    from preheat.prompts.redaction import redact

    return " ".join(redact(str(text)).split("\n")).replace("\t", " ")


def print_note(note: str) -> None:
    """What a stage remarked on, in words that may be a log's."""
    click.echo(f"  note: {shown(note)}")


def print_reasons(reasons: dict[str, int], before: str = "") -> None:
    """The commonest reasons, with their counts: in words that engines chose, so redacted and without controls."""
    from preheat.prompts.redaction import excerpt

    ordered = sorted(reasons.items(), key=lambda pair: -pair[1])
    for reason, count in ordered[:_REASONS]:
        click.echo(f"  {before}{count} x {excerpt(reason, _REASON_CHARS)}")
    if len(ordered) > _REASONS:
        click.echo(f"  and {len(ordered) - _REASONS} more")


def print_facts(title: str, facts: dict[str, object]) -> None:
    """Aligned ``name  value`` lines under a title; either may quote a log, so both are redacted."""
    click.echo(title)
    lines = [(shown(name), shown(value)) for name, value in facts.items()]
    width = max((len(name) for name, _ in lines), default=0)
    for name, value in lines:
        click.echo(f"  {name:<{width}}  {value}")
