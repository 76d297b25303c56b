"""The report as one HTML file that is readable anywhere: no external request, light and dark, under 1 MB."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from preheat.files.versioned import save, write_text
from preheat.judge.charts import draw
from preheat.judge.figures import key_figures
from preheat.judge.log_section import log_section
from preheat.judge.values import show, show_change
from preheat.judge.windows import windows
from preheat.records.evidence import Evidence, LogInsight, Metric
from preheat.records.outcomes import Outcome

EVIDENCE_FILE = "evidence.json"
REPORT_FILE = "report.html"


def write_report(evidence: Evidence, folder: str | Path) -> tuple[Path, Path]:
    """Write ``evidence.json`` and ``report.html`` into ``folder`` (made if missing), mode 0600, atomically.

    Returns both paths. Raises :class:`preheat.errors.StorageFault` where they cannot be written.
    """
    data, page = Path(folder) / EVIDENCE_FILE, Path(folder) / REPORT_FILE
    save(data, evidence)
    write_text(page, render(evidence))
    return data, page


def render(evidence: Evidence) -> str:
    """The whole page. Everything from ``evidence`` is escaped; only our own charts are markup."""
    return _page(
        "report.html.j2",
        evidence=evidence,
        log=log_section(evidence.insight) if evidence.insight is not None else None,
        figures=key_figures(evidence),
        charts=[(chart, Markup(chart.svg)) for chart in draw(evidence)],
        replicas=_side_by_side(evidence),
        residency=_residency(evidence),
        windows=windows(evidence),
    )


def render_log(found: LogInsight, title: str, created: str) -> str:
    """A page of what a log holds, and nothing else."""
    return _page("log_page.html.j2", title=title, created=created, log=log_section(found))


def _page(name: str, **values: Any) -> str:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_part),
    )
    environment.filters |= {"show": show, "show_change": show_change}
    return environment.get_template(name).render(
        style=Markup(_part("report.css")), script=Markup(_part("report.js")), **values
    )


def _part(name: str) -> str:
    return (files("preheat.judge") / "page" / name).read_text(encoding="utf-8")


def _side_by_side(evidence: Evidence) -> list[tuple[Metric, Metric | None, Metric | None]]:
    """(declaration, cold, warm) of every replay metric."""
    cold = {metric.name: metric for metric in evidence.cold}
    warm = {metric.name: metric for metric in evidence.warm}
    return [((cold.get(name) or warm[name]), cold.get(name), warm.get(name)) for name in dict.fromkeys([*cold, *warm])]


def _residency(evidence: Evidence) -> tuple[str, str] | None:
    """(class, words) of the badge beside the headline; none without a warm-up."""
    told = next((metric for metric in evidence.warmup if metric.name == "residency"), None)
    if told is None or not evidence.outcomes:
        return None
    if told.value is None:
        return "unknown", "warm set not verifiable"
    kept = next((kept for name, kept in evidence.promises.items() if name.startswith("residency>=")), False)
    deferred = evidence.outcomes.get(Outcome.DEFERRED.value, 0)
    words = "warm set proven resident" if kept else "warm set not proven resident"
    return ("good" if kept else "bad"), f"{words}: {told.denominator}" if deferred else words
