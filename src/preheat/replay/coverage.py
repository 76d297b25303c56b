"""Which plan item covers a request."""

from __future__ import annotations

from collections.abc import Callable

from preheat.blocks.tree import PrefixTree
from preheat.prompts.render import PromptNotRenderable, Renderer
from preheat.records.plan import Plan
from preheat.records.request import Request
from preheat.replay.player import Coverage


def coverage_of(plan: Plan, renderer: Renderer) -> Callable[[Request], Coverage]:
    """A look-up: request → the deepest item whose text is a prefix of the rendered prompt."""
    trees: dict[tuple[str | None, str | None], PrefixTree] = {}
    items: dict[tuple[str | None, str | None], dict[str, str]] = {}
    for item in plan.items:
        key = (item.model, item.adapter)
        if item.text:
            trees.setdefault(key, PrefixTree(plan.block_chars)).insert(item.text, 0.0)
            items.setdefault(key, {})[item.text] = item.id

    def look_up(request: Request) -> Coverage:
        key = (request.model, request.adapter)
        if key not in trees:
            return Coverage(None, 0.0)
        try:
            prompt = renderer.render(request)
        except PromptNotRenderable:
            return Coverage(None, 0.0)
        path, _ = trees[key].match(prompt)
        length = sum(len(node.text) for node in path)
        for node in reversed(path):
            item = items[key].get(prompt[:length])
            if item is not None:
                return Coverage(item, round(length / len(prompt), 4))
            length -= len(node.text)
        return Coverage(None, 0.0)

    return look_up
