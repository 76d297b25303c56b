"""The edges of prefix trees on their way into a profile: one canonical order, whoever made the tree.

A profile's nodes stand in an order that depends on nothing but what the log holds: partitions by name, and below each
node the children by when they were first seen, then by their digests. So the same log gives the same nodes, mined at
once or in parts that were merged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import xxhash
from msgspec.structs import force_setattr

from preheat.blocks.digests import DIGEST_BYTES, prefix_name
from preheat.blocks.totals import Total
from preheat.blocks.tree import NO_TENANT, TENANT_BITS, TENANT_MASK, UNTIMED
from preheat.mine.shares import TIME_DIGITS
from preheat.records.profile import Node


class Edge(NamedTuple):
    """One edge, ``parent`` an index into the same list (smaller than its own), -1 at the root of a partition.

    ``node`` says all of it but where it stands: :func:`placed` gives it its parent, partition, name and ends.
    """

    parent: int
    digests: bytes
    node: Node


class NodeMaker:
    """Makes nodes without their place; ``tenants`` by number, 0 standing for none.

    ``end_s`` stands for the times of what was never asked for at a known time. Most nodes were asked for once: those of
    one bucket and tenant share their mappings.
    """

    def __init__(self, tenants: Sequence[str], end_s: float) -> None:
        self._tenants = tenants
        self._end_s = end_s
        self._once: dict[int, tuple[dict[int, int], dict[str, int]]] = {}

    def node(self, total: Total, text: str | None, blocks: int, error: int) -> Node:
        timed = total.first_s <= total.last_s
        first_s, last_s = (total.first_s, total.last_s) if timed else (self._end_s, self._end_s)
        if total.count == 1:
            (use,) = total.uses
            arrivals, tenants = self._once.get(use) or self._of_one(use)
            time_s = round(first_s, TIME_DIGITS)
            return Node(
                parent=-1,
                hash="",
                blocks=blocks,
                text=text,
                count=1,
                count_error=error,
                first_s=time_s,
                last_s=time_s,
                untimed=0 if timed else 1,
                arrivals=arrivals,
                tenants=tenants,
            )
        return _of_many(total, self._tenants, text, blocks, error, first_s, last_s)

    def _of_one(self, use: int) -> tuple[dict[int, int], dict[str, int]]:
        bucket, tenant = use >> TENANT_BITS, use & TENANT_MASK
        arrivals = {} if bucket == UNTIMED else {bucket: 1}
        found = self._once[use] = arrivals, {self._tenants[tenant]: 1} if tenant != NO_TENANT else {}
        return found


def _of_many(
    total: Total, tenants: Sequence[str], text: str | None, blocks: int, error: int, first_s: float, last_s: float
) -> Node:
    arrivals: dict[int, int] = {}
    by_tenant: dict[int, dict[int, int]] = {}
    counts: defaultdict[int, int] = defaultdict(int)
    untimed = 0
    for use, count in sorted(total.uses.items()):
        bucket, tenant = use >> TENANT_BITS, use & TENANT_MASK
        counts[tenant] += count
        if bucket == UNTIMED:
            untimed += count
            continue
        arrivals[bucket] = arrivals.get(bucket, 0) + count
        by_tenant.setdefault(tenant, {})[bucket] = count
    named = sorted([(tenants[tenant], tenant) for tenant in counts if tenant != NO_TENANT])
    return Node(
        parent=-1,
        hash="",
        blocks=blocks,
        text=text,
        count=total.count,
        count_error=error,
        first_s=round(first_s, TIME_DIGITS),
        last_s=round(last_s, TIME_DIGITS),
        untimed=untimed,
        arrivals=arrivals,
        tenants={name: counts[tenant] for name, tenant in named},
        tenant_arrivals={name: by_tenant.get(tenant, {}) for name, tenant in named} if len(counts) > 1 else {},
    )


def uses_of(node: Node, numbers: dict[str, int]) -> dict[int, int]:
    """The inverse: uses by ``bucket << 32 | tenant number``; tenants that ``numbers`` lacks get a new number."""
    rest, untimed = dict(node.arrivals), node.untimed
    uses: dict[int, int] = {}
    for name, count in node.tenants.items():
        tenant = numbers.setdefault(name, len(numbers) + 1)
        only = not node.tenant_arrivals  # and nobody without one
        own = dict(rest) if only else node.tenant_arrivals.get(name, {})
        for bucket, times in own.items():
            uses[bucket << TENANT_BITS | tenant] = times
            rest[bucket] = rest.get(bucket, 0) - times
        without_time = count - sum(own.values())
        if without_time > 0:
            uses[UNTIMED << TENANT_BITS | tenant] = without_time
            untimed -= without_time
    uses |= {bucket << TENANT_BITS | NO_TENANT: times for bucket, times in rest.items() if times > 0}
    if untimed > 0:
        uses[UNTIMED << TENANT_BITS | NO_TENANT] = untimed
    return uses


def placed(edges: Sequence[Edge], partition: int, first_number: int) -> list[Node]:
    """The nodes of one partition in canonical order, numbered from ``first_number`` on.

    All have their names and digests; :func:`preheat.mine.retention.retain` leaves the names where text is kept, and
    the digests where it is not.
    """
    below: list[list[int]] = [[] for _ in edges]
    top: list[int] = []
    passed_on = [0] * len(edges)
    for number, (parent, _, node) in enumerate(edges):
        if parent < 0:
            top.append(number)
        else:
            below[parent].append(number)
            passed_on[parent] += node.count

    def order(child: int) -> tuple[float, bytes]:
        return edges[child].node.first_s, edges[child].digests[:DIGEST_BYTES]

    nodes: list[Node] = []
    stack: list[tuple[int, int, xxhash.xxh3_64]] = []
    root = prefix_name(b"")
    stack += [(child, -1, root) for child in sorted(top, key=order, reverse=True)]
    while stack:
        number, parent, before = stack.pop()
        _, digests, node = edges[number]
        name = prefix_name(digests, before)
        force_setattr(node, "parent", parent)
        force_setattr(node, "partition", partition)
        force_setattr(node, "ends", node.count - passed_on[number])
        force_setattr(node, "block_hashes", digests.hex())
        force_setattr(node, "hash", name.hexdigest())
        children = below[number]
        if children:
            if len(children) > 1:
                children.sort(key=order, reverse=True)
            place = first_number + len(nodes)
            stack += [(child, place, name) for child in children]
        nodes.append(node)
    return nodes
