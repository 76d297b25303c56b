"""``preheat plan``: profile + budget → plan; ``preheat plan show``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.options import Duration, Number, ResultFile, Share, Size, engine_options, output_options, window_option
from preheat.errors import BadInput

if TYPE_CHECKING:
    from preheat.plan.settings import PlanSettings
    from preheat.records.plan import Plan
    from preheat.records.profile import Profile

_SHOWN = 20


class PlanGroup(click.Group):
    """``plan show`` is a command; anything else is a profile to plan from."""

    unnamed = "make"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [self.unnamed, *args]
        return super().parse_args(ctx, args)


@click.group(cls=PlanGroup)
def plan() -> None:
    """Profile + budget → plan: preheat plan PROFILE [OPTIONS] (see 'preheat plan make --help').

    'preheat plan show PLAN' prints one.
    """


@plan.command(context_settings={"auto_envvar_prefix": "PREHEAT_PLAN"})
@click.argument("profile", type=click.Path())
@click.option("--engine", metavar="URL|embedded", help="Count and time tokens on this engine.")
@click.option("--budget", type=Size(), help="Cache memory for the warm set, such as 4GiB.")
@click.option("--max-time", type=Duration(), help="Time for warming, such as 10m.")
@click.option("--strategy", default="preheat", show_default=True, help="preheat, clusters, every-prompt or none.")
@click.option("--at", metavar="TIME", help="When the engine starts (default: at the end of the profile).")
@window_option()
@click.option("--min-use-probability", type=Share(), default=0.45, show_default=True)
@click.option("--prefill-ms-per-token", type=Number(), help="Given instead of measured.")
@click.option("--kv-bytes-per-token", type=Number(), help="Given instead of measured.")
@click.option("--model-alias", multiple=True, metavar="LOG=ENGINE", help="The log's model name = the engine's.")
@click.option("--log-model", help="Plan for this model of the log alone.")
@click.option("-o", "--output", type=ResultFile(), default="plan.json", show_default=True, metavar="FILE")
@engine_options
@output_options
def make(profile: str, **flags: Any) -> int:
    """Profile + budget → plan: what is worth warming, in the order in which to warm it."""
    from preheat.cli.outputs import refuse_overwriting
    from preheat.cli.show import print_json
    from preheat.cli.wiring import run_until_stopped
    from preheat.files.versioned import load, save
    from preheat.records.profile import Profile

    refuse_overwriting({"-o": flags["output"]}, [profile])
    loaded = load(profile, Profile)
    made = run_until_stopped(lambda stop: _make(loaded, flags, stop))
    save(flags["output"], made)
    print_json(totals(made)) if flags["json"] else print_plan(made)
    return 0


async def _make(profile: Profile, flags: dict[str, Any], stop: asyncio.Event) -> Plan:
    from preheat.cli.wiring import engine_settings, engines
    from preheat.engines.calibrate import calibrate
    from preheat.files.versioned import digest
    from preheat.plan.planner import make_plan

    settings, profile_hash = _settings(profile, flags), digest(profile)
    if flags["engine"] is None:
        return await make_plan(profile, settings, profile_hash=profile_hash, cost=_given_cost(flags, None))
    from preheat.stages import measure_with

    connection = engine_settings(flags)
    async with engines((flags["engine"],), flags["engine_kind"], connection) as found:
        engine = found[0]
        speed = await calibrate(engine, await engine.describe())
        return await make_plan(
            profile,
            settings,
            profile_hash=profile_hash,
            cost=_given_cost(flags, speed.cost),
            engine=await engine.describe(),
            measure=measure_with(engine),
        )


def _settings(profile: Profile, flags: dict[str, Any]) -> PlanSettings:
    from preheat.plan.settings import PlanSettings
    from preheat.records.units import parse_time

    return PlanSettings(
        strategy=flags["strategy"],
        budget_bytes=flags["budget"],
        budget_ms=None if flags["max_time"] is None else flags["max_time"] * 1000,
        at_s=parse_time(flags["at"], profile.start_s) if flags["at"] else None,
        window_s=flags["window"],
        min_use_probability=flags["min_use_probability"],
        model=flags["log_model"],
        model_aliases=aliases(flags["model_alias"]),
    )


def _given_cost(flags: dict[str, Any], measured: Any) -> Any:
    import msgspec

    from preheat.records.target import CostModel

    cost = measured or CostModel()
    for flag, field in (("prefill_ms_per_token", "prefill_ms_per_token"), ("kv_bytes_per_token", "kv_bytes_per_token")):
        if flags[flag] is not None:
            cost = msgspec.structs.replace(cost, **{field: flags[flag], "source": "given"})
    return cost


def aliases(pairs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """``a=b`` → ``(a, b)``. Raises :class:`BadInput`."""
    found = []
    for pair in pairs:
        log_name, equals, engine_name = pair.partition("=")
        if not equals or not log_name or not engine_name:
            raise BadInput(f"{pair!r} is not an alias", "write it as LOG_NAME=ENGINE_NAME")
        found.append((log_name, engine_name))
    return tuple(found)


@plan.command()
@click.argument("path", metavar="PLAN", type=click.Path())
@click.option("--items", is_flag=True, help="All items; with --json as JSON Lines, raw text included.")
@output_options
def show(path: str, items: bool, json: bool, **flags: Any) -> int:
    """Print a plan: totals and its first items; text is redacted unless --items --json is asked for."""
    import msgspec

    from preheat.cli.show import print_json
    from preheat.files.versioned import load
    from preheat.records.plan import Plan

    loaded = load(path, Plan)
    if items and json:
        encode = msgspec.json.Encoder().encode
        for item in loaded.items:
            click.echo(encode(item))
    elif json:
        print_json(totals(loaded))
    else:
        print_plan(loaded, None if items else _SHOWN)
    return 0


def totals(made: Plan) -> dict[str, object]:
    """A plan's sums, for machines."""
    return {
        "strategy": made.strategy,
        "items": len(made.items),
        "distinct_tokens": made.distinct_tokens,
        "bytes": made.bytes,
        "cost_ms": round(made.cost_ms, 3),
        "gain_ms": round(made.gain_ms, 3),
        "budget_bytes": made.budget_bytes,
        "budget_ms": made.budget_ms,
        "at_s": made.at_s,
        "window_s": made.window_s,
        "cost_source": made.cost.source,
        "left_out": made.left_out,
        "notes": made.notes,
    }


def print_plan(made: Plan, limit: int | None = _SHOWN) -> None:
    """A plan for people: redacted excerpts of each prefix's end, totals, what was left out."""
    from preheat.cli.show import print_facts, print_note
    from preheat.prompts.redaction import excerpt, tail_excerpt
    from preheat.records.units import show_bytes, show_seconds

    click.echo(
        f"{'tokens':>7} {'new':>7} {'P(use)':>7} {'uses':>7} {'cost':>9} {'gain':>9}  tenant      prefix ends with"
    )
    for item in made.items[:limit]:
        end = tail_excerpt(item.text or "", 44)
        tenant = excerpt(item.tenant or "-", 10)
        click.echo(
            f"{item.tokens:>7} {item.new_tokens:>7} {item.use_probability:>7.2f} {item.expected_uses:>7.2f} "
            f"{item.cost_ms / 1000:>7.2f} s {item.gain_ms / 1000:>7.2f} s  {tenant:<10}  {end}"
        )
    if limit is not None and len(made.items) > limit:
        click.echo(f"  and {len(made.items) - limit} more")
    counted = "exact" if all(item.tokens_exact for item in made.items) else "estimated"
    window = f"the first {show_seconds(made.window_s)}"
    cost, gain = show_seconds(made.cost_ms / 1000), show_seconds(made.gain_ms / 1000)
    facts: dict[str, object] = {
        "strategy": made.strategy,
        "items": len(made.items),
        "P(use), uses": f"chance of any use, and how many are expected: within {window}",
        "tokens to compute": f"{made.distinct_tokens} ({counted})",
        "memory": f"{show_bytes(made.bytes)}"
        + ("" if made.budget_bytes is None else f" of a budget of {show_bytes(made.budget_bytes)}"),
        "prefill": cost + ("" if made.budget_ms is None else f" of a budget of {show_seconds(made.budget_ms / 1000)}"),
        "expected saving": f"{gain} of prefill in {window}",
        "cost model": made.cost.source,
    }
    facts |= {f"left out: {reason}": count for reason, count in made.left_out.items()}
    print_facts("plan", facts)
    if made.cost_ms > made.gain_ms:
        click.echo(f"  warming costs {cost} of prefill and is expected to save {gain} in {window}")
    for note in made.notes:
        print_note(note)
