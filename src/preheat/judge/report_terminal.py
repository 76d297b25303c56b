"""The one table on the terminal: cold, warm, ratio, and what each number was divided by."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from preheat.judge.metrics.cold_start_cost import CONTRADICTIONS
from preheat.judge.rerun import placeholders
from preheat.judge.values import ABSTAIN, show, show_change
from preheat.judge.windows import windows
from preheat.records.evidence import Evidence, Metric

Row = tuple[str, str, str, str, str]
HEAD = ("metric", "cold", "warm", "cold / warm", "over")
PLAIN_WIDTH = 400


def print_report(evidence: Evidence, console: Console | None = None) -> None:
    """Print ``evidence`` on ``console`` (standard output): a table on a terminal, aligned plain lines elsewhere."""
    console = console or Console()
    if console.is_terminal:
        _print(evidence, console, box.SIMPLE_HEAD)
        return
    page = io.StringIO()
    _print(evidence, Console(file=page, width=PLAIN_WIDTH, no_color=True, highlight=False), None)
    for line in page.getvalue().splitlines():
        console.file.write(line.rstrip() + "\n")


def _print(evidence: Evidence, console: Console, lines: box.Box | None) -> None:
    console.print(Text(evidence.title, style="bold"))
    console.print(Text(evidence.headline))
    for warning in evidence.warnings:
        console.print(Text(f"WARNING: {warning}", style="bold red"))
    rows = table_rows(evidence)
    if rows:
        table = Table(box=lines, pad_edge=False, caption=f"window: {windows(evidence)}", caption_justify="left")
        for name in HEAD:
            table.add_column(name, justify="right" if name in HEAD[1:4] else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
    for line in (*warmup_lines(evidence), *promise_lines(evidence), *note_lines(evidence)):
        console.print(Text(line))


def table_rows(evidence: Evidence) -> list[Row]:
    """(metric, cold, warm, ratio, denominator): comparisons first, then what was not compared, run by run."""
    rows: list[Row] = []
    for one in evidence.comparisons:
        cells = show(one.cold, one.unit), show(one.warm, one.unit), show_change(one, interval=True)
        why = one.why if ABSTAIN in cells else ""
        rows.append((one.title, *cells, "; ".join(filter(None, (why or one.denominator, one.note)))))
    compared = {one.name for one in evidence.comparisons}
    warm = {metric.name: metric for metric in evidence.warm}
    cold = {metric.name: metric for metric in evidence.cold}
    for name in dict.fromkeys([*cold, *warm]):
        if name not in compared:
            rows.append(_row(cold.get(name), warm.get(name)))
    return rows


def _row(cold: Metric | None, warm: Metric | None) -> Row:
    either = cold or warm
    assert either is not None
    overs = {side: _over(metric) for side, metric in (("cold", cold), ("warm", warm)) if metric is not None}
    alike = len(set(overs.values())) == 1
    over = next(iter(overs.values())) if alike else "; ".join(f"{side}: {text}" for side, text in overs.items())
    cells = ["-" if metric is None else show(metric.value, metric.unit) for metric in (cold, warm)]
    return (either.title, cells[0], cells[1], "", over)


def _over(metric: Metric) -> str:
    return "; ".join(filter(None, (metric.denominator, metric.note))) if metric.value is not None else metric.why


def warmup_lines(evidence: Evidence) -> list[str]:
    """The warm-up: one line a metric, and the outcomes of its items."""
    lines = [
        f"{metric.title}: {show(metric.value, metric.unit)} ({_circumstances(metric)})" for metric in evidence.warmup
    ]
    if evidence.outcomes:
        counts = ", ".join(f"{count} {name}" for name, count in evidence.outcomes.items())
        lines.append(f"Outcomes: {counts} (of {sum(evidence.outcomes.values())} items)")
    return lines


def _circumstances(metric: Metric) -> str:
    return "; ".join(part for part in (metric.why or metric.denominator, metric.window, metric.note) if part)


def promise_lines(evidence: Evidence) -> list[str]:
    """One line a promise: kept or missed."""
    return [f"Promise {name}: {'kept' if kept else 'MISSED'}" for name, kept in evidence.promises.items()]


def note_lines(evidence: Evidence) -> list[str]:
    """The notes, but those that stand beside their number in the table, and those on what only the page shows."""
    beside = {one.note for one in evidence.comparisons if one.note}
    beside |= {metric.note for metric in (*evidence.cold, *evidence.warm) if metric.note}
    elsewhere = {CONTRADICTIONS, placeholders(evidence.commands)}
    return [
        f"Note: {note}"
        for note in evidence.notes
        if note not in elsewhere and not any(note.endswith(f": {said}.") for said in beside)
    ]
