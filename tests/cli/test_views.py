"""What ``preheat mine`` writes beside the profile."""

from __future__ import annotations

import stat
from pathlib import Path

import networkx
from command import preheat

LOG = Path(__file__).parents[2] / "examples/data/demo_log.jsonl.xz"


def test_mine_writes_a_graph_that_others_read(tmp_path: Path) -> None:
    ran = preheat("mine", LOG, "-o", "profile.json.zst", "--gexf", "out/flow.gexf", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    path = tmp_path / "out/flow.gexf"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    read = networkx.read_gexf(path)
    assert 50 < read.number_of_nodes() <= 1000
    assert "<|im_start|>" in {data["label"] for _, data in read.nodes(data=True)}
    assert all(data["weight"] > 0 for _, _, data in read.edges(data=True))


def test_without_text_there_is_no_graph_and_no_file(tmp_path: Path) -> None:
    ran = preheat("mine", LOG, "--no-text", "--gexf", "flow.gexf", cwd=tmp_path)
    assert ran.returncode == 2
    assert "--no-text" in ran.stderr
    assert list(tmp_path.iterdir()) == []
