"""The command lines that do the same measurement again."""

from __future__ import annotations

import math
import shlex
from ipaddress import ip_address
from urllib.parse import urlsplit

from preheat.judge.shown import address, plain
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.run import ReplayRun, WarmRun

FIRST_EPHEMERAL_PORT = 32_768
"""Linux gives ports from here on to whoever asks for any (``ip_local_port_range``)."""
ENGINE, COLD_ENGINE = "URL", "COLD_URL"
LOG = "LOG"
PROFILE_FILE, PLAN_FILE, WARM_FILE = "profile.json.zst", "plan.json", "warm.json"
COLD_FILE, REPLAY_FILE = "cold-run.json", "warm-run.json"


def commands(
    cold: ReplayRun | None,
    warm: ReplayRun | None,
    warm_run: WarmRun | None = None,
    plan: Plan | None = None,
    profile: Profile | None = None,
) -> list[str]:
    """The stages' lines, as far as the records tell, under the file names that ``preheat up`` gives.

    An engine that was started for this measurement alone is called ``URL`` (``COLD_URL`` where the cold one is
    another), a log of several files ``LOG``. Engines, keys and how much was generated are for the reader to add.
    """
    run = warm or cold
    two = cold is not None and warm is not None and cold.engine.url != warm.engine.url
    lines: list[list[str]] = []
    if run is not None and plan is not None and profile is not None:
        lines.append(["mine", _log(run), "--until", repr(plan.at_s), "-o", PROFILE_FILE])
    if plan is not None:
        lines.append(_plan(plan, warm_run))
    if cold is not None:
        engine = _engine(cold.engine.url, COLD_ENGINE if two else ENGINE)
        lines.append(_replay(cold, engine, "cold", COLD_FILE, plan))
    if warm_run is not None:
        engine = _engine(warm_run.engine.url, ENGINE)
        lines.append(["warm", PLAN_FILE, "--engine", engine, "--verify-target", f"{warm_run.verify_target:g}"])
        lines[-1] += ["-o", WARM_FILE]
    if warm is not None:
        lines.append(_replay(warm, _engine(warm.engine.url, ENGINE), "warm", REPLAY_FILE, plan))
    if run is not None:
        lines.append(["judge", REPLAY_FILE if warm is not None else COLD_FILE])
        lines[-1] += ["--baseline", COLD_FILE] if cold is not None and warm is not None else []
        lines[-1] += ["--plan", PLAN_FILE] if plan is not None else []
        lines[-1] += ["--warm-run", WARM_FILE] if warm_run is not None else []
        lines[-1] += ["--profile", PROFILE_FILE] if profile is not None else []
        lines[-1] += ["-o", "report"]
    return [shlex.join(["preheat", *words]) for words in lines]


def placeholders(lines: list[str]) -> str:
    """What the words in capitals stand for, where ``lines`` have any."""
    words = {word for line in lines for word in shlex.split(line)}
    engines = [word for word in (ENGINE, COLD_ENGINE) if word in words]
    said = []
    if engines:
        named = " and ".join(engines)
        said.append(f"{named}: address of an engine (the one measured was started for this measurement, or is local)")
    if LOG in words:
        said.append("LOG: the log (it was read from several files)")
    return f"In the commands that run it again, {'; '.join(said)}." if said else ""


def _plan(plan: Plan, warm_run: WarmRun | None) -> list[str]:
    engine = plan.engine or (warm_run.engine if warm_run is not None else None)
    words = ["plan", PROFILE_FILE, "--strategy", plain(plan.strategy)]
    words += ["--engine", _engine(engine.url, ENGINE)] if engine is not None else []
    words += ["--budget", str(plan.budget_bytes)] if plan.budget_bytes is not None else []
    words += ["--max-time", f"{plan.budget_ms / 1000:g}s"] if plan.budget_ms is not None else []
    return [*words, "--at", repr(plan.at_s), "--window", f"{plan.window_s:g}s", "-o", PLAN_FILE]


def _replay(run: ReplayRun, engine: str, label: str, out: str, plan: Plan | None) -> list[str]:
    from_s, window_s = _span(run, plan)
    words = ["replay", _log(run), "--engine", engine, "--from", repr(from_s), "--window", f"{window_s:.9g}s"]
    words += ["--speed", f"{run.speed:.6g}"]
    words += ["--plan", PLAN_FILE] if plan is not None else []
    words += ["--salted"] if run.salted else []
    return [*words, "--label", label, "-o", out]


def _span(run: ReplayRun, plan: Plan | None) -> tuple[float, float]:
    """(start, length) of a window that holds the requests that were sent and no other.

    The planned window where all of it was sent, else from the first request to just after the last.
    """
    complete = len(run.requests) >= run.window_requests
    if plan is not None and complete and plan.at_s <= run.from_s and run.last_s < plan.at_s + run.window_s:
        return plan.at_s, run.window_s
    return run.from_s, math.floor((run.last_s - run.from_s) * 1000 + 2) / 1000


def _log(run: ReplayRun) -> str:
    log = address(run.log)
    return log if log and not log.startswith("-") and not log.split()[1:] else LOG


def _engine(url: str, otherwise: str) -> str:
    """The engine's address, or ``otherwise`` for one on a passing port of this machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 0
        passing = port >= FIRST_EPHEMERAL_PORT and (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:
        passing = "://" not in url
    return otherwise if passing else address(url)
