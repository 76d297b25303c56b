"""Each stage as a command, one after the other, against a sandbox over HTTP; then the whole job."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from cli.command import DEMO_LOG, leftovers, one_line, preheat, process, write_log
from contracts.engine_fixtures import running
from preheat.cli.replay import print_run as print_replay_run
from preheat.cli.warm import print_run as print_warm_run
from preheat.files.versioned import load, save
from preheat.records.evidence import Evidence
from preheat.records.plan import Plan
from preheat.records.profile import Profile
from preheat.records.run import ReplayRun, WarmRun
from preheat.sandbox.server import SandboxServer, serve
from preheat.sandbox.settings import SandboxSettings
from warm.plans import plan_of, singles

QUICK = SandboxSettings(prefill_ms_per_token=0.02, token_interval_ms=0.5)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxServer]:
    with running(serve(QUICK)) as server:
        yield server


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "log.jsonl")


@pytest.fixture(scope="module")
def done(sandbox: SandboxServer, log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all stages have run, one by one."""
    folder = tmp_path_factory.mktemp("stages")
    engine = ("--engine", sandbox.url)
    replay = (log, *engine, "--from", "105m", "--speed", "fastest", "--output-tokens", 2)
    for arguments in (
        ("mine", log, "--until", "105m", "-o", "profile.json.zst"),
        ("plan", "profile.json.zst", *engine, "--budget", "4GiB", "-o", "plan.json"),
        ("replay", *replay, "--salted", "--label", "cold", "--plan", "plan.json", "-o", "cold.json"),
        ("warm", "plan.json", *engine, "-o", "warm.json"),
        ("replay", *replay, "--label", "warm", "--plan", "plan.json", "-o", "warmed.json"),
    ):
        ran = preheat(*arguments, cwd=folder)
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
        assert ran.stdout
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_stage_left_its_file_for_its_owner_alone(done: Path) -> None:
    names = {path.name for path in done.iterdir()}
    assert names >= {"profile.json.zst", "plan.json", "cold.json", "warm.json", "warmed.json"}
    assert not {name for name in names if name.endswith(".journal")}
    assert {mode(done / name) for name in names} == {0o600}


def test_what_the_stages_found(done: Path) -> None:
    profile = load(done / "profile.json.zst", Profile)
    assert profile.requests == 210
    assert profile.end_s < 1_000 + 105 * 60
    plan = load(done / "plan.json", Plan)
    assert plan.cost.source.startswith("measured on http://127.0.0.1")
    warm = load(done / "warm.json", WarmRun)
    assert warm.residency == 1.0
    cold, warmed = load(done / "cold.json", ReplayRun), load(done / "warmed.json", ReplayRun)
    assert [each.id for each in cold.requests] == [each.id for each in warmed.requests]
    assert (cold.label, cold.salted, warmed.salted, cold.window_requests) == ("cold", True, False, 10)
    assert cold.requests[0].cached_tokens == 0
    assert all(each.item for each in warmed.requests)
    assert all((each.cached_tokens or 0) > 300 for each in warmed.requests)


def test_judge_compares_and_a_missed_promise_is_exit_3(done: Path) -> None:
    arguments = ("judge", "warmed.json", "--baseline", "cold.json", "--plan", "plan.json", "--warm-run", "warm.json")
    kept = preheat(*arguments, "--fail-on", "ttft_mean_ratio<1", "--json", "-o", "report", cwd=done)
    assert (kept.returncode, kept.stderr) == (0, "")
    evidence = msgspec.json.decode(kept.stdout, type=Evidence)
    assert evidence == load(done / "report" / "evidence.json", Evidence)
    assert mode(done / "report" / "report.html") == 0o600
    missed = preheat(*arguments, "--fail-on", "ttft_mean_ratio<1000", "-o", "report2", cwd=done)
    assert "report: report2/report.html   evidence: report2/evidence.json" in missed.stdout
    assert missed.returncode == 3
    assert "Promise ttft_mean_ratio>=1000: MISSED" in missed.stdout
    wrong = preheat(*arguments, "--fail-on", "ttft_mean_ratio is bad", "-o", "report3", cwd=done)
    assert wrong.returncode == 2
    assert "is not a condition" in one_line(wrong)
    assert not (done / "report3").exists()


def test_plan_show_prints_what_others_rely_on(done: Path) -> None:
    shown = preheat("plan", "show", "plan.json", "--items", "--json", cwd=done)
    assert shown.returncode == 0
    items = [json.loads(line) for line in shown.stdout.splitlines()]
    plan = load(done / "plan.json", Plan)
    assert [each["text"] for each in items] == [each.text for each in plan.items]
    for each in items:
        assert {"kind", "text", "tokens", "expected_uses", "bytes", "cost_ms", "gain_ms", "tenant", "adapter"} <= set(
            each
        )
        assert each["kind"] == "prefix"
    totals = json.loads(preheat("plan", "show", "plan.json", "--json", cwd=done).stdout)
    assert totals["items"] == len(items)
    people = preheat("plan", "show", "plan.json", cwd=done).stdout
    assert "tokens to compute" in people
    assert max(map(len, people.splitlines())) < 200  # excerpts, not prompts


def test_warm_again_finds_it_there_and_says_so(done: Path, sandbox: SandboxServer) -> None:
    for arguments in ((), ("--resume",)):  # with nothing to resume, it is a run like any other
        again = preheat(
            "warm", "plan.json", "--engine", sandbox.url, "-o", "again.json", "--json", *arguments, cwd=done
        )
        said = "nothing to resume at again.json: starting afresh\n" if arguments else ""
        assert (again.returncode, again.stderr) == (0, said)
        run = msgspec.json.decode(again.stdout, type=WarmRun)
        assert run == load(done / "again.json", WarmRun)
        assert set(run.counts) == {"ALREADY"}


def test_a_dry_run_sends_nothing(done: Path, sandbox: SandboxServer) -> None:
    before = sandbox.core.requests
    for arguments in ((), ("--json",)):
        dry = preheat("warm", "plan.json", "--engine", sandbox.url, "--dry-run", "-o", "dry.json", *arguments, cwd=done)
        assert dry.returncode == 0
    assert json.loads(dry.stdout)["strategy"] == "preheat"
    assert sandbox.core.requests == before
    assert not (done / "dry.json").exists()


def test_two_engines_are_both_warmed_and_a_dead_one_does_not_end_the_other(done: Path, sandbox: SandboxServer) -> None:
    with running(serve(QUICK)) as other:
        engines = ("--engine", sandbox.url, "--engine", other.url)
        both = preheat("warm", "plan.json", *engines, "-o", "two.json", cwd=done)
        assert both.returncode == 0
        assert set(load(done / "two.json", WarmRun).counts) == {"ALREADY"}
        assert set(load(done / "two-2.json", WarmRun).counts) == {"LOADED"}
        other.core.switch(error_rate=1.0)
        half = preheat("warm", "plan.json", *engines, "-o", "half.json", "--attempts", 1, cwd=done)
    assert half.returncode == 4
    assert other.url in one_line(half)
    assert load(done / "half.json", WarmRun).residency == 1.0
    assert not (done / "half-2.json").exists()


def test_a_warm_up_that_falls_short_is_exit_3(done: Path) -> None:
    with running(serve(SandboxSettings(prefill_ms_per_token=0.02, report_cached=False))) as server:
        short = preheat("warm", "plan.json", "--engine", server.url, "-o", "short.json", cwd=done)
    assert short.returncode == 3
    assert "UNSUPPORTED: the engine does not report cached tokens" in short.stdout


def test_the_replays_own_report_names_what_was_sent(done: Path, log: Path, sandbox: SandboxServer) -> None:
    arguments = (log, "--engine", sandbox.url, "--from", "105m", "--speed", "1000", "--output-tokens", 1)
    ran = preheat("replay", *arguments, "--max-time", "200ms", "-o", "short-run.json", cwd=done)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "replay 'run' on http://127.0.0.1" in ran.stdout
    assert " of 10 requests of the 5m00s from 7300 s of the log" in ran.stdout
    assert "note: only the first" in ran.stdout
    assert "TTFT, mean" in ran.stdout
    assert "warmed replica" not in ran.stdout
    run = load(done / "short-run.json", ReplayRun)
    assert len(run.requests) < run.window_requests == 10


def test_a_log_on_standard_input_is_as_good_as_a_file(done: Path, log: Path, sandbox: SandboxServer) -> None:
    piped = preheat("mine", "-", "--until", "105m", "-o", "piped.json", "--json", cwd=done, stdin=log.read_bytes())
    assert piped.returncode == 0
    assert json.loads(piped.stdout)["requests"] == 210
    replayed = preheat(
        *("replay", "-", "--engine", sandbox.url, "--from", "105m", "--speed", "fastest", "-o", "piped-run.json"),
        cwd=done,
        stdin=log.read_bytes(),
    )
    assert replayed.returncode == 0
    assert len(load(done / "piped-run.json", ReplayRun).requests) == 10


def made_plan(path: Path, **changes: Any) -> Path:
    plan = plan_of(singles(3))
    save(path, msgspec.structs.replace(plan, window_s=300.0, **changes))
    return path


def test_plan_show_explains_its_columns_and_compares_cost_with_saving(tmp_path: Path) -> None:
    items = plan_of(singles(3)).items
    dear = [msgspec.structs.replace(each, cost_ms=1000.0, gain_ms=100.0) for each in items]
    shown = preheat("plan", "show", made_plan(tmp_path / "plan.json", items=dear)).stdout
    assert "P(use), uses" in shown
    assert "within the first 5m00s" in shown
    assert "warming costs 3.0 s of prefill and is expected to save 0.3 s in the first 5m00s" in shown
    cheap = [msgspec.structs.replace(each, cost_ms=1.0) for each in items]
    assert "warming costs" not in preheat("plan", "show", made_plan(tmp_path / "plan.json", items=cheap)).stdout


def test_plan_show_hides_secrets_that_its_excerpt_would_cut(tmp_path: Path) -> None:
    secret = "sk-" + "a1b2c3d4" * 8
    text = f"{'word ' * 40}the key is {secret} and \x1b[31mthen"
    items = [msgspec.structs.replace(plan_of(singles(1)).items[0], text=text, tenant="t\x1b[31mx")]
    shown = preheat("plan", "show", made_plan(tmp_path / "plan.json", items=items)).stdout
    assert "a1b2" not in shown
    assert "[key]" in shown
    assert "\x1b" not in shown


def test_reasons_are_redacted_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str], done: Path, tmp_path: Path
) -> None:
    run = load(done / "warm.json", WarmRun)
    item = run.items[0]
    items = [
        msgspec.structs.replace(
            item, id=str(number), reason=f"engine {number}: \x1b[2J key sk-abcdefgh12345678{number}"
        )
        for number in range(11)
    ]
    engine = msgspec.structs.replace(run.engine, capacity_tokens=16)
    print_warm_run(msgspec.structs.replace(run, items=items, engine=engine), load(done / "plan.json", Plan))
    shown = capsys.readouterr().out
    assert shown.count(" x LOADED: engine") == 8
    assert "  and 3 more\n" in shown
    assert "sk-abc" not in shown
    assert "\x1b" not in shown
    needed = load(done / "plan.json", Plan).distinct_tokens
    assert f"the plan needs {needed} tokens, the engine holds 16" in shown
    replayed = load(done / "cold.json", ReplayRun)
    failed = [
        msgspec.structs.replace(each, error=f"bad \x07 sk-abcdefgh12345678{each.id}") for each in replayed.requests
    ]
    print_replay_run(msgspec.structs.replace(replayed, requests=failed))
    shown = capsys.readouterr().out
    assert "  failed: 1 x bad" in shown or "  failed: 10 x bad" in shown
    assert "sk-abc" not in shown
    assert "\x07" not in shown


# --- logs without times


def timeless(path: Path) -> Path:
    log = write_log(path, requests=80)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in each.items() if k != "timestamp"}) + "\n" for each in lines))
    return path


def test_times_that_were_made_up_are_said(sandbox: SandboxServer, tmp_path: Path) -> None:
    timeless(tmp_path / "log.jsonl")
    ran = up(sandbox, "--logs", "log.jsonl", "-o", "out", "--progress", "plain", cwd=tmp_path)
    assert ran.returncode == 0
    said = "the log has no times: its requests are taken to come one a second, in its order"
    assert ran.stderr.count(said) == 1
    for name in ("cold-run.json", "warm-run.json"):
        assert said in load(tmp_path / "out" / name, ReplayRun).notes
    replay = ("replay", "log.jsonl", "--engine", sandbox.url, "--speed", "fastest", "--output-tokens", 1)
    assert f"note: {said}" in preheat(*replay, cwd=tmp_path).stdout


def test_a_log_without_times_has_no_before(tmp_path: Path) -> None:
    timeless(tmp_path / "log.jsonl")
    ran = preheat("mine", "log.jsonl", "--until", "30s", "-o", "profile.json", cwd=tmp_path)
    assert ran.returncode == 2
    assert "the log has no times" in one_line(ran)
    assert not (tmp_path / "profile.json").exists()
    assert preheat("mine", "log.jsonl", "-o", "profile.json", cwd=tmp_path).returncode == 0


# --- read


def test_read_rendered_prints_what_others_rely_on(tmp_path: Path) -> None:
    ran = preheat("read", DEMO_LOG, "--rendered", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(lines) == 2532
    assert all({"id", "time", "rendered"} <= set(line) for line in lines)
    assert all(line["rendered"].startswith("<|im_start|>") for line in lines)
    assert len({line["id"] for line in lines}) == 2532


def test_read_counts_says_what_was_skipped_and_writes_lines(tmp_path: Path, log: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text(log.read_text() + "not json\n" + '{"model": "m"}\n')
    counted = json.loads(preheat("read", odd, "--json").stdout)
    assert (counted["requests"], sum(counted["skipped"].values())) == (240, 2)
    people = preheat("read", odd, "-o", tmp_path / "out.jsonl.zst")
    assert f"{odd}:241" in people.stdout
    written = tmp_path / "out.jsonl.zst"
    assert mode(written) == 0o600
    raw = zstandard.ZstdDecompressor().decompressobj().decompress(written.read_bytes())
    assert len(raw.splitlines()) == 240
    again = preheat("read", written, "--json")  # what it wrote, it reads
    assert json.loads(again.stdout)["requests"] == 240


def test_read_writes_to_a_device_as_it_is_and_through_a_link(tmp_path: Path, log: Path) -> None:
    ran = process("read", log, "-o", "/dev/stdout", "--quiet")
    assert ran.returncode == 0
    assert json.loads(ran.stdout.splitlines()[0])["id"] == "r0"
    assert not Path("/dev/stdout").is_file() or Path("/dev/stdout").is_symlink()
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    preheat("read", log, "-o", tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len((tmp_path / "real.jsonl").read_text().splitlines()) == 240


def test_read_prints_requests_where_the_output_is_standard_output(tmp_path: Path, log: Path) -> None:
    for more in ((), ("--json",)):
        ran = preheat("read", log, "-o", "-", *more, cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == [f"r{n}" for n in range(240)]
    assert not list(tmp_path.iterdir())


# --- up


FILES = ["cold-run.json", "evidence.json", "plan.json", "profile.json.zst", "report.html", "warm-run.json", "warm.json"]


def up(sandbox: SandboxServer, *more: object, **how: Any) -> Any:
    quick = ("--speed", "fastest", "--output-tokens", 1)
    return preheat("up", "--engine", sandbox.url, *quick, *more, **how)


def test_up_does_the_whole_job(sandbox: SandboxServer, log: Path, tmp_path: Path) -> None:
    ran = up(sandbox, "--logs", log, "-o", "out", "--json", "--fail-on", "residency<0.95", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    evidence = msgspec.json.decode(ran.stdout, type=Evidence)
    assert evidence == load(tmp_path / "out" / "evidence.json", Evidence)
    assert evidence.promises == {"residency>=0.95": True}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    assert {mode(path) for path in (tmp_path / "out").iterdir()} == {0o600}
    assert str(log) in evidence.facts["log"]
    assert len(evidence.commands) == 1
    typed = evidence.commands[0]
    assert typed.startswith(f"preheat up --engine {sandbox.url} --speed fastest --output-tokens 1 --logs {log} ")
    assert typed.endswith(" -o out --json --fail-on 'residency<0.95'")


def test_up_says_what_it_does_where_it_is_asked_to(sandbox: SandboxServer, log: Path, tmp_path: Path) -> None:
    arguments = ("--until", "105m", "--progress", "plain", "--fail-on", "residency<1.5", "-o", "out")
    quick = ("--engine", sandbox.url, "--speed", "fastest", "--output-tokens", 1)
    ran = process("up", *quick, "--logs", "-", *arguments, cwd=tmp_path, stdin=log.read_bytes())
    assert ran.returncode == 3
    assert "Promise residency>=1.5: MISSED" in ran.stdout
    assert "report: out/report.html" in ran.stdout
    assert "learnt from 210 requests of 4 tenants" in ran.stderr
    assert "the replay runs at" in ran.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES


def test_up_dry_run_stops_at_the_plan(sandbox: SandboxServer, log: Path, tmp_path: Path) -> None:
    ran = up(sandbox, "--logs", log, "--dry-run", "-o", "out", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "expected saving" in ran.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["plan.json", "profile.json.zst"]


def test_up_reads_its_conditions_before_it_works(sandbox: SandboxServer, log: Path, tmp_path: Path) -> None:
    before = sandbox.core.requests
    ran = up(sandbox, "--logs", log, "--fail-on", "speed<2", "-o", "out", cwd=tmp_path)
    assert ran.returncode == 2
    assert "there is no value named 'speed'" in one_line(ran)
    assert sandbox.core.requests == before
    assert not (tmp_path / "out").exists()
    assert not leftovers(tmp_path)
