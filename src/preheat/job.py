"""What the main path is given and what it comes to: the nouns of :mod:`preheat.pipeline`."""

from __future__ import annotations

from dataclasses import dataclass, field

from preheat.engines.engine import Engine
from preheat.mine.settings import MineSettings
from preheat.plan.settings import PlanSettings
from preheat.records.evidence import Evidence
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport
from preheat.records.run import ReplayRun, WarmRun
from preheat.replay.settings import ReplaySettings
from preheat.warm.settings import WarmSettings


@dataclass(frozen=True)
class Job:
    """What ``preheat up`` is asked to do. ``until``: learn from before it, replay after; ``None``: the last window."""

    logs: list[str]
    format: str | None = None
    until: str | None = None
    rendering: Rendering | None = None
    mine: MineSettings = field(default_factory=MineSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    warm: WarmSettings = field(default_factory=WarmSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    dry_run: bool = False
    title: str = "What warming bought"
    command_lines: list[str] = field(default_factory=list)
    """What was typed, without secrets, for the report; the stages' usual lines where there is none."""


@dataclass(frozen=True)
class Fleet:
    """``warmed`` is the replica to warm; ``cold`` a second, empty one.

    Without ``cold``, the first is measured cold before it is warmed, in a cache namespace of its own. ``at_once``: the
    two may be measured side by side, since they do not take each other's processors.
    """

    warmed: Engine
    cold: Engine | None = None
    at_once: bool = True


@dataclass
class Result:
    """What a job has come to so far; later stages fill in what earlier ones left ``None``."""

    report: ReadReport
    profile: Profile | None = None
    plan: Plan | None = None
    warm_run: WarmRun | None = None
    cold: ReplayRun | None = None
    warm: ReplayRun | None = None
    evidence: Evidence | None = None
