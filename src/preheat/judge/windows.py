"""The window that a report's numbers are over, in one line for the terminal and the page."""

from __future__ import annotations

from preheat.records.evidence import Evidence


def windows(evidence: Evidence) -> str:
    """The window of the replays; each with its side where they differ. Every metric of a replay shares it."""
    told = {
        side: next((metric.window for metric in metrics if metric.window), "")
        for side, metrics in (("cold", evidence.cold), ("warm", evidence.warm))
    }
    known = {side: window for side, window in told.items() if window}
    if len(set(known.values())) > 1:
        return "; ".join(f"{side}: {window}" for side, window in known.items())
    return next(iter(known.values()), "not told")
