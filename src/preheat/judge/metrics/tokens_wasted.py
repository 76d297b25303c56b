"""What was warmed for nobody, as far as the replayed traffic shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from preheat.judge.metrics.metric import Reading, Subject, abstain, window_of
from preheat.records.plan import Plan, PlanItem
from preheat.records.run import ReplayRun


def asked_items(plan: Plan, replayed: Iterable[ReplayRun]) -> set[str]:
    """Ids of the plan's items that a replayed request asked for.

    A request names the deepest item that is a prefix of its prompt; every item whose text is a prefix of that
    item's text (same model, same adapter) was asked for with it.
    """
    asked = {request.item for run in replayed for request in run.requests if request.item is not None}
    above: list[PlanItem] = []
    for item in sorted(plan.items, key=lambda item: (item.model or "", item.adapter or "", item.text or "")):
        while above and not _continues(item, above[-1]):
            above.pop()
        if item.id in asked:
            asked.update(ancestor.id for ancestor in above)
        above.append(item)
    return asked


def _continues(item: PlanItem, above: PlanItem) -> bool:
    if item.text is None or above.text is None or (item.model, item.adapter) != (above.model, above.adapter):
        return False
    return item.text.startswith(above.text)


NOTE = "whole items, over the replayed requests alone; redundancy counts blocks, over up to a day of the log"


class TokensWasted:
    """Tokens computed for items that no replayed request asked for, probes included.

    It knows the replayed window only; *redundancy* looks at the whole first day, and block by block: here an item
    that nobody asked for counts whole, even where its first part served another.
    """

    tag = "tokens_wasted"
    title = "Tokens computed for nobody"
    unit = "tokens"
    formula = "sum(computed_tokens + probe_tokens) over items that no replayed request has as a prefix"
    denominator = "tokens computed by the warm-up"
    depends = ("tokens_computed",)

    def read(self, subject: Subject, known: Mapping[str, Reading]) -> Reading:
        if subject.warm_run is None:
            return abstain("no warm-up")
        if subject.plan is None:
            return abstain("without the plan it is not known which items build on which")
        if any(item.text is None for item in subject.plan.items):
            return abstain("the plan holds no texts, so it is not known which items build on which")
        if not subject.replayed:
            return abstain("no replay")
        if not any(request.item is not None for run in subject.replayed for request in run.requests):
            return abstain("the replay does not say which items its requests asked for")
        asked = asked_items(subject.plan, subject.replayed)
        attempted = subject.warm_run.attempted
        lost = [item for item in attempted if item.id not in asked]
        wasted = sum(item.computed_tokens + item.probe_tokens for item in lost)
        counted = f"{subject.warm_run.tokens_computed} tokens computed; {len(lost)} of {len(attempted)} items attempted"
        return Reading(float(wasted), counted, window_of(subject.replayed[0]), note=NOTE)
