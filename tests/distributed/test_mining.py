"""Mining in pieces against mining at once: the same profile, the same report, the same refusals."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_cluster import FakeCluster

from cli.command import DEMO_LOG, write_log
from preheat.distributed import work
from preheat.distributed.mining import DistributedSettings, Job, mine_on, mine_with
from preheat.errors import BadInput, EngineFailed, EngineFault
from preheat.files.locate import locate
from preheat.mine.miner import NothingToLearn, mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport

JOB = Job(Rendering(), MineSettings())
_LOOPS = (
    "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}" + "{% endfor %}" * 2
)
PICKY = Rendering(name="picky", template="{{ raise_exception('no') if messages|length > 1 else messages[0].content }}")


def on_cluster(
    cluster: FakeCluster, paths: list[Path], job: Job = JOB, format: str | None = None, **changed: Any
) -> tuple[Profile, ReadReport]:
    report, shown = ReadReport(), list[tuple[str, int, int]]()
    settings = DistributedSettings(**{"piece_bytes": 3_000, "fan_in": 3} | changed)
    files = locate([str(path) for path in paths])
    profile = mine_with(cluster, files, job, format, report, lambda *each: shown.append(each), True, settings)
    assert [done for _, done, _ in shown] == list(range(1, len(shown) + 1))
    assert shown[-1] == ("mine", len(shown), len(shown)) or len(shown) == 1
    return profile, report


def here(paths: list[Path], job: Job = JOB, format: str | None = None) -> tuple[Profile, ReadReport]:
    report = ReadReport()
    read = read_requests([str(path) for path in paths], format=format, report=report)
    wanted = (each for each in read if job.until_s is None or each.time_s is None or each.time_s < job.until_s)
    return mine(wanted, renderer_for(job.rendering), job.settings, report), report


def counts(report: ReadReport) -> ReadReport:
    """Without what depends on who reads first, and on seeing the whole."""
    return msgspec.structs.replace(report, noted={}, quarantine=sorted(report.quarantine))


def _span(number: int, prompt: str) -> dict[str, Any]:
    """One exported span; the same number again is the same span."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": prompt}]}]),
    }
    return {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "chat", "startTimeUnixNano": "5"} | {
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    }


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    lines = lzma.decompress(DEMO_LOG.read_bytes()).splitlines(keepends=True)[:120]
    (folder / "a.jsonl").write_bytes(b"".join(lines))
    trace = json.dumps({"timestamp": 5, "input_length": 900, "output_length": 3, "hash_ids": [1, 2]})
    torn = [b"{\n", b'{"messages": [\n', b"not JSON at all\n", trace.encode() + b"\n"]
    (folder / "b.jsonl").write_bytes(b"".join([*lines[:20], *torn * 20, *lines[20:40]]))
    pretty = [
        {"timestamp": n, "messages": [{"role": "user", "content": f"pretty {n} " + "p" * 200}]} for n in range(30)
    ]
    (folder / "c.json").write_text(json.dumps(pretty, indent=2))
    rows = "".join(f'{n},"a table, {n} {"q" * 100}"\n' for n in range(60))
    (folder / "d.csv").write_text("timestamp,prompt\n" + rows)
    spans = [_span(n % 40, f"a span {n % 40} " + "z" * 200) for n in range(60)]
    (folder / "f.jsonl").write_text("".join(json.dumps(span) + "\n" for span in spans))
    (folder / "e.json").write_text('{"nothing": "of ours"}')
    return folder


@pytest.mark.parametrize("seed", range(3))
def test_the_same_profile_and_the_same_counts(logs: Path, seed: int) -> None:
    cluster = FakeCluster(seed=seed, lose=lambda function, arguments, begun: begun % 7 == 0)
    profile, report = on_cluster(cluster, [logs], attempts=8)
    expected, told = here([logs])
    assert profile == expected
    assert counts(report) == counts(told)
    assert report.skipped["unknown format"] == 1
    assert report.formats.keys() == {"csv", "mooncake", "openai-jsonl", "otlp-json"}
    assert any("exported before" in reason for reason in report.skipped)
    assert cluster.most_at_once == 4


@pytest.mark.parametrize("name", ["a.jsonl", "b.jsonl", "c.json", "d.csv", "f.jsonl"])
def test_file_by_file(logs: Path, name: str) -> None:
    assert on_cluster(FakeCluster(), [logs / name])[0] == here([logs / name])[0]


def test_a_forced_format_and_a_template_that_refuses(logs: Path) -> None:
    job = Job(PICKY, MineSettings(keep_text=False))
    paths = [logs / "a.jsonl", logs / "b.jsonl"]
    profile, report = on_cluster(FakeCluster(), paths, job, "openai-jsonl")
    expected, told = here(paths, job, "openai-jsonl")
    assert profile == expected
    assert any(reason.startswith("not renderable") for reason in profile.skipped)
    assert counts(report) == counts(told)


def test_a_cut_by_time(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl")
    job = JOB._replace(until_s=3_000.0)
    profile, _ = on_cluster(FakeCluster(), [log], job)
    assert profile == here([log], job)[0]
    assert 0 < profile.requests < 240
    with pytest.raises(NothingToLearn):
        on_cluster(FakeCluster(), [log], JOB._replace(until_s=0.0))
    untimed = tmp_path / "untimed.jsonl"
    untimed.write_text(json.dumps({"prompt": "what is this?"}))
    with pytest.raises(BadInput, match="has no times"):
        on_cluster(FakeCluster(), [untimed], job)


def test_objects_that_workers_open_themselves(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="fsspec, of the extra preheat[objects], is not installed")
    monkeypatch.setattr("preheat.distributed.pieces._SEEN_FROM_HERE_ONLY", ())
    paths = [f"file://{logs / name}" for name in ("a.jsonl", "d.csv", "e.json")]
    report = ReadReport()
    profile = mine_with(FakeCluster(), paths, JOB, None, report, lambda *_: None, True, DistributedSettings())
    told = ReadReport()
    assert profile == mine(read_requests(paths, report=told), renderer_for(JOB.rendering), JOB.settings, told)
    assert counts(report) == counts(told)


def test_nothing_to_read_and_nothing_to_learn(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(BadInput, match="no requests in"):
        on_cluster(FakeCluster(), [empty])
    log = write_log(tmp_path / "log.jsonl", requests=20)
    with pytest.raises(NothingToLearn, match="20 x not renderable"):
        on_cluster(FakeCluster(), [log], Job(PICKY, MineSettings()))


def test_a_piece_that_kills_its_worker_is_named(logs: Path) -> None:
    poison = b"pretty 17"
    cluster = FakeCluster(lose=lambda function, arguments, begun: poison in arguments[1])
    with pytest.raises(EngineFailed, match=r"lost 4 times while it was at \S+c\.json:1\[\d+\]"):
        on_cluster(cluster, [logs], piece_bytes=100)


def test_a_template_that_never_ends_is_refused_by_the_worker(logs: Path) -> None:
    endless = Rendering(name="x", source="x.jinja", template=_LOOPS)
    with pytest.raises(BadInput, match="does not end") as refusal:
        on_cluster(FakeCluster(), [logs / "a.jsonl"], Job(endless, MineSettings()))
    assert refusal.value.remedy


def test_another_version_on_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    version, request = work.request_of(print, "never")
    monkeypatch.setattr(work, "__version__", "0.0.1")
    with pytest.raises(EngineFault, match=rf"has preheat 0\.0\.1, and here is {version}"):
        work.perform(version, request)


@pytest.mark.parametrize("address", ["", "nonsense", "http://host:1", "ray://host", "host:port"])
def test_what_is_no_cluster(logs: Path, address: str) -> None:
    with pytest.raises(BadInput, match="is no cluster"):
        mine_on(address, [str(logs)], JOB, format=None, report=ReadReport(), progress=lambda *_: None)


def test_bad_paths_and_formats_are_refused_before_anything_starts(logs: Path) -> None:
    for paths, format in (([str(logs / "none")], None), ([str(logs)], "none")):
        with pytest.raises(BadInput, match=r"no file|no format"):
            mine_on("local", paths, JOB, format=format, report=ReadReport(), progress=lambda *_: None)
