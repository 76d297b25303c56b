"""``preheat sandbox``: an engine without a model."""

from __future__ import annotations

from typing import Any

import click

from preheat.cli.options import Number, output_options


@click.group()
def sandbox() -> None:
    """An OpenAI-compatible engine without a model: real cache behaviour, settable timing."""


@sandbox.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True)
@click.option("--block-tokens", type=click.IntRange(1), default=16, show_default=True, help="Tokens per cache block.")
@click.option("--capacity-blocks", type=click.IntRange(1), default=4096, show_default=True, help="Blocks held (LRU).")
@click.option(
    "--prefill-ms-per-token", type=Number(zero=True), default=0.25, show_default=True, help="Per uncached token."
)
@click.option(
    "--first-token-ms", type=Number(zero=True), default=0.0, show_default=True, help="Further delay of the first token."
)
@click.option("--token-interval-ms", type=Number(zero=True), default=20.0, show_default=True)
@click.option("--context-tokens", type=click.IntRange(16), default=32768, show_default=True)
@output_options
def serve(host: str, port: int, **flags: Any) -> int:
    """Serve until interrupted."""
    from preheat.sandbox.server import run
    from preheat.sandbox.settings import SandboxSettings

    settings = SandboxSettings(
        **{
            name: flags[name]
            for name in (
                "block_tokens",
                "capacity_blocks",
                "prefill_ms_per_token",
                "first_token_ms",
                "token_interval_ms",
                "context_tokens",
            )
        }
    )
    run(settings, host, port, on_ready=lambda url: click.echo(f"serving at {url}"))
    return 0
