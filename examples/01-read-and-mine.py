"""Read a log and see what its prompts share. No engine is needed.

    python examples/01-read-and-mine.py

Reading gives requests, mining gives a profile: a prefix tree over the prompts as an engine would see them, with who
asks for each prefix and when.
"""

from pathlib import Path

from preheat.mine.miner import mine
from preheat.prompts.redaction import excerpt
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport

LOG = Path(__file__).parent / "data" / "demo_log.jsonl.xz"


def main() -> None:
    # The report is filled while requests are read: what was left out is counted, by reason, and never silently lost.
    report = ReadReport()
    requests = read_requests([str(LOG)], report=report)

    # Prompts are compared as text. Without a model's chat template they are rendered in a stated default form.
    profile = mine(requests, renderer_for(Rendering()))
    print(f"{report.requests} requests in {report.lines} lines, {sum(report.skipped.values())} left out")

    # An edge that n requests pass through need be computed only once: the other n - 1 times are what a cache can save.
    shared = sum(node.blocks * (node.count - 1) for node in profile.nodes)
    print(f"{shared / profile.blocks:.1%} of {profile.blocks} blocks of {profile.block_chars} characters repeat")
    print(f"{len(profile.clusters)} clusters among {profile.cluster_sample} sampled prompts")

    print("\nThe edges of the tree that most requests pass (text is redacted wherever it is shown):")
    for node in sorted(profile.nodes, key=lambda node: node.count, reverse=True)[:8]:
        chars = node.blocks * profile.block_chars
        print(
            f"{node.count:5} requests, {len(node.tenants):2} tenants, {chars:5} characters: {excerpt(node.text or '')}"
        )


if __name__ == "__main__":
    main()
