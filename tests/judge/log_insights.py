"""A topology and an insight made up for the tests."""

from __future__ import annotations

import random

from preheat.records.evidence import BreakLine, ClusterLine, LogInsight
from preheat.records.profile import ClassFlow, Hub, Link, Topology

TOKENS = [
    *('"', ",", ".", ":", "{", "}", "(", ")", "the", "of", "and", "to", "<|im_start|>", "<|im_end|>", "schema", "type"),
    *("##ing", "##s", "description", "therefore", "Beschreibung", "天气", "的", "。", "user", "assistant", "&", "<"),
    *(
        "name",
        "string",
        "object",
        "then",
        "conclude",
        "properties",
        "required",
        "1",
        "2",
        "a",
        "is",
        "an extremely long one",
    ),
]


def topology(hubs: int = 40, seed: int = 5) -> Topology:
    draw = random.Random(seed)
    made = tuple(Hub(token=t, rank=0.05 / (n + 1), in_degree=900 // (n + 1)) for n, t in enumerate(TOKENS[:hubs]))
    pairs = {(draw.randrange(hubs), draw.randrange(hubs)): draw.randint(1, 10**6) for _ in range(6 * hubs)}
    links = [Link(source=a, target=b, weight=w) for (a, b), w in pairs.items()]
    flow = {"words": 50_000, "subwords": 4_000}
    return Topology(
        subwords=15_000,
        transitions=300_000,
        weight=70_000_000,
        covered=0.93,
        hubs=made,
        links=tuple(sorted(links, key=lambda link: -link.weight)),
        classes=(
            ClassFlow(name="json-schema", requests=300, mean_in_degree=6.8, top=made[4:6], hubs=made[:3], **flow),
            ClassFlow(name="multi-hop", requests=900, mean_in_degree=4.2, top=made[19:20], hubs=made[:3], **flow),
        ),
        class_requests=1200,
        class_prompts=500,
    )


def insight() -> LogInsight:
    return LogInsight(
        requests=120_000,
        tenants=56,
        span_s=3 * 86_400.0,
        topology=topology(),
        clusters=[ClusterLine(size=900, share=0.6, classes=("rag",), excerpt="Answer <from> the passages & [email]")],
        cluster_count=70,
        cluster_sample=2000,
        hours=[100 + 30 * (hour % 7) for hour in range(24)],
        epoch=True,
        start_s=1_750_032_000.0,
        end_s=1_750_032_000.0 + 3 * 86_400.0,
        blocks=8_000_000,
        seen_blocks=6_000_000,
        distinct_blocks=2_000_000,
        skipped={"not JSON": 3, "no prompt": 1},
        breaks=[
            BreakLine(
                cause="time",
                later=("id",),
                at_chars=312,
                variants=41,
                requests=5_000,
                lost_blocks=70_000,
                lost_share=0.035,
                tenants=[("acme <a>", 4_000), ("b", 900), ("c", 60)],
                tenant_count=5,
                before="It is now",
                examples=("Monday", ""),
                after="Answer & be brief",
            )
        ],
        break_count=4,
    )
