"""Mine a log in two parts, merge the profiles, and recognise the templates of prompts that come later.

    python examples/06-merge-profiles-and-recognise.py

A merge gives what mining both parts at once would have given, so mining can be spread over days, regions or machines.
What follows from a profile's nodes, its clusters among it, is derived anew.
"""

from itertools import islice
from pathlib import Path

from preheat.mine.library import Library
from preheat.mine.merge import merge
from preheat.mine.miner import mine
from preheat.prompts.redaction import excerpt
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport

LOG = Path(__file__).parent / "data" / "demo_log.jsonl.xz"
PART = 800


def main() -> None:
    requests = read_requests([str(LOG)], report=ReadReport())
    renderer = renderer_for(Rendering())
    first, second = list(islice(requests, PART)), list(islice(requests, PART))
    merged = merge([mine(first, renderer), mine(second, renderer)])
    whole = mine(first + second, renderer)
    same = merged == whole
    print(f"merged: {merged.requests} requests, {len(merged.nodes)} nodes; the same as mined at once: {same}")

    print("\nThe largest clusters (text is redacted wherever it is shown):")
    for cluster in merged.clusters[:5]:
        classes = ", ".join(cluster.classes)
        print(f"{cluster.size:5} requests, {cluster.share_blocks:6.1%} of all blocks, {classes}")
        print(f"      {len(cluster.slots)} variable places in: {excerpt(cluster.template or '')}")

    # The library holds hashes only, and needs neither the clusters' texts nor a model.
    library = Library(merged.library)
    later = [renderer.render(request) for request in requests]
    known = [found for found in map(library.recognise, later) if found is not None]
    print(f"\n{len(known)} of the {len(later)} prompts that came later are of a template that was seen before")


if __name__ == "__main__":
    main()
