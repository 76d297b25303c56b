"""The report's section "What the log holds", and the page that is nothing but this section."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from preheat.judge.charts import Chart, number
from preheat.judge.network import drawn_links, label, network
from preheat.judge.svg import Bar, bars
from preheat.judge.values import show
from preheat.records.evidence import BreakLine, ClusterLine, LogInsight
from preheat.records.profile import Topology

_TOP = 8
_HOUR_STEP = 3


@dataclass(frozen=True)
class ClassRow:
    """One line of the table of classes; ``share`` is of the requests whose class was told."""

    name: str
    requests: int
    share: float
    mean_in_degree: float
    words: int
    top: tuple[str, ...]
    hubs: tuple[str, ...]


@dataclass(frozen=True)
class LogSection:
    """What the template draws. ``said`` sums up in one line, ``facts`` in a few with their denominators."""

    said: str
    facts: dict[str, str]
    picture: tuple[Chart, Markup] | None
    hours: tuple[Chart, Markup] | None
    classes: list[ClassRow]
    classes_note: str
    clusters: list[ClusterLine]
    clusters_note: str
    breaks: list[BreakLine]
    breaks_note: str


def log_section(found: LogInsight) -> LogSection:
    """All of it; parts of which nothing is known are ``None`` or empty."""
    topology = found.topology
    sampled, shown = found.cluster_sample, len(found.clusters)
    return LogSection(
        said=_said(found),
        facts=_facts(found),
        picture=_drawn(_picture(topology)) if topology is not None and topology.hubs else None,
        hours=_drawn(_hours(found)) if any(found.hours) else None,
        classes=_classes(topology) if topology is not None else [],
        classes_note=_classes_note(topology) if topology is not None else "",
        clusters=found.clusters,
        clusters_note=f"The largest {shown} of {found.cluster_count} clusters of {sampled} distinct prompts, redacted.",
        breaks=found.breaks or [],
        breaks_note=_breaks_note(found),
    )


def _drawn(chart: Chart) -> tuple[Chart, Markup]:
    return chart, Markup(chart.svg)


def _said(found: LogInsight) -> str:
    days = found.span_s / 86_400
    span = f" over {days:.1f} days" if days >= 2 else f" over {found.span_s / 3600:.1f} hours" if found.span_s else ""
    tenants = f" of {found.tenants} tenant{'s' * (found.tenants > 1)}" if found.tenants else ""
    return f"{_exact(found.requests)} requests{tenants}{span}."


def _facts(found: LogInsight) -> dict[str, str]:
    facts = {"Time": _times(found), "Requests": _exact(found.requests), "Tenants": _exact(found.tenants)}
    if found.blocks:
        share = show(found.seen_blocks / found.blocks, "share")
        facts["Seen before"] = f"{share} of {_exact(found.blocks)} blocks, in a cache without bounds that starts cold"
    else:
        facts["Seen before"] = "cannot be told: the log has no whole block of any prompt"
    skipped = "; ".join(f"{_exact(count)} {reason}" for reason, count in found.skipped.items())
    return facts | {"Skipped": skipped or "nothing"}


def _times(found: LogInsight) -> str:
    if found.start_s is None or found.end_s is None:
        return "the log has no times"
    if not found.epoch:
        return f"{found.start_s:.0f} s to {found.end_s:.0f} s on the log's own clock"
    try:
        ends = [datetime.fromtimestamp(each, UTC) for each in (found.start_s, found.end_s)]
    except (ValueError, OverflowError, OSError):
        return f"{found.start_s:.0f} s to {found.end_s:.0f} s since 1970"
    return " to ".join(each.strftime("%Y-%m-%dT%H:%M:%SZ") for each in ends)


def _breaks_note(found: LogInsight) -> str:
    if found.breaks is None:
        return "Not told: the profile keeps no text."
    if not found.breaks:
        return "No prefix breaks before text that prompts share, as far as text was kept."
    return (
        f"The costliest {len(found.breaks)} of {found.break_count} places where prompts differ and then share text "
        f"again, which no prefix cache finds. Lost: of {_exact(found.distinct_blocks)} distinct blocks, in a cache "
        "without bounds; redacted."
    )


def _exact(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _picture(topology: Topology) -> Chart:
    title = "How tokens flow"
    caption = (
        f"The {len(topology.hubs)} subwords of highest PageRank among {number(topology.subwords)}, larger with rank; "
        "arrows are the strongest flows out of and into each, wider with how often. "
        f"{number(topology.transitions)} distinct transitions were taken {number(topology.weight)} times, in "
        f"{100 * topology.covered:.0f} % of the prompts' text. "
        "## continues a word. Shown are subwords that several distinct prompts hold."
    )
    strongest = [
        f"{label(topology.hubs[link.source].token)} → {label(topology.hubs[link.target].token)} ({link.weight} times)"
        for link in drawn_links(topology.hubs, topology.links)[:10]
    ]
    described = "Strongest flows: " + "; ".join(strongest) if strongest else "No flow between them."
    return Chart("topology", title, caption, network("topology", title, described, topology))


def _hours(found: LogInsight) -> Chart:
    clock = "UTC" if found.epoch else "the log's own clock"
    title = "When requests come"
    groups = [
        (str(hour) if hour % _HOUR_STEP == 0 else "", [Bar(f"hour.{hour}", float(count), "", "cold")])
        for hour, count in enumerate(found.hours)
    ]
    caption = f"{sum(found.hours)} requests that have a time, by hour of the day ({clock})."
    return Chart("hours", title, caption, bars("hours", title, groups, "requests", number))


def _classes(topology: Topology) -> list[ClassRow]:
    rows = [
        ClassRow(
            name=flow.name,
            requests=flow.requests,
            share=flow.requests / topology.class_requests if topology.class_requests else 0.0,
            mean_in_degree=flow.mean_in_degree,
            words=flow.words,
            top=tuple(label(hub.token) for hub in flow.top[:_TOP]),
            hubs=tuple(label(hub.token) for hub in flow.hubs[:_TOP]),
        )
        for flow in topology.classes
    ]
    return sorted(rows, key=lambda row: (-row.requests, row.name))


def _classes_note(topology: Topology) -> str:
    return (
        f"Estimated from {topology.class_prompts} prompts that stand for {number(topology.class_requests)} requests; "
        "a prompt may have several classes. Mean in-degree: how many distinct subwords precede one, in the flow of so "
        "many words of the class's text."
    )
