"""What ``preheat mine`` writes beside the profile."""

from __future__ import annotations

import stat
from html import escape
from pathlib import Path

import networkx
from command import preheat

from preheat.files.versioned import load
from preheat.prompts.tokenizer import load_tokenizer
from preheat.records.profile import Profile
from prompts.tiny_model import write_model

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


def test_the_graph_is_of_a_models_own_tokens_where_it_is_given(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    ran = preheat("mine", LOG, "--model", model, "--gexf", "flow.gexf", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    labels = {data["label"] for _, data in networkx.read_gexf(tmp_path / "flow.gexf").nodes(data=True)}
    tokenizer = load_tokenizer(model)
    whole = [label for label in labels if label.isalpha() and label.isascii()]
    assert len(whole) > 20
    assert all(len(tokenizer.pieces([label])[0]) == 1 or len(label) == 1 for label in whole)


def test_without_text_there_is_no_graph_and_no_file(tmp_path: Path) -> None:
    ran = preheat("mine", LOG, "--no-text", "--gexf", "flow.gexf", cwd=tmp_path)
    assert ran.returncode == 2
    assert "--no-text" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_mine_writes_a_page_of_what_the_log_holds(tmp_path: Path) -> None:
    ran = preheat("mine", LOG, "-o", "profile.json.zst", "--report", "log.html", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    path = tmp_path / "log.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    page = path.read_text(encoding="utf-8")
    profile = load(tmp_path / "profile.json.zst", Profile)
    assert profile.topology is not None
    for hub in profile.topology.hubs:
        assert f'data-name="hub.{escape(hub.token)}" data-value="{hub.rank!r}"' in page
    assert "demo_log.jsonl.xz" in page
    assert path.stat().st_size < 1 << 20


def test_a_trace_has_no_graph_and_still_a_page(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(
        "".join(
            f'{{"timestamp": {n}, "input_length": 1024, "output_length": 5, "hash_ids": [1, {n}]}}\n' for n in range(9)
        )
    )
    ran = preheat("mine", trace, "--report", "log.html", "--gexf", "flow.gexf", cwd=tmp_path)
    assert ran.returncode == 2
    assert "no text" in ran.stderr
    assert "leave out --gexf" in ran.stderr
    assert "What the log holds" in (tmp_path / "log.html").read_text(encoding="utf-8")
    assert not (tmp_path / "flow.gexf").exists()
