"""Results on standard output."""

from __future__ import annotations

from typing import Any

import click


def print_json(record: Any) -> None:
    """One JSON document, indented, on standard output, in UTF-8 whatever the terminal's encoding is."""
    import msgspec

    click.echo(msgspec.json.format(msgspec.json.encode(record), indent=2))


def print_facts(title: str, facts: dict[str, object]) -> None:
    """Aligned ``name  value`` lines under a title."""
    click.echo(title)
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        click.echo(f"  {name:<{width}}  {value}")
