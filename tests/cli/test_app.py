"""The command line itself: what it loads, where settings come from, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import DEMO_LOG, PREHEAT, environment, one_line, preheat, process, write_log
from preheat.cli.app import COMMANDS, app
from preheat.cli.plan import plan
from preheat.cli.settings import defaults_for
from preheat.cli.typed import command_line
from preheat.cli.up import up
from preheat.cli.warm import numbered, warm
from preheat.errors import BadInput


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profile")
    log = write_log(folder / "log.jsonl", requests=80)
    assert preheat("mine", log, "-o", folder / "profile.json").returncode == 0
    return folder / "profile.json"


def engines(*urls: str) -> list[str]:
    return [part for url in urls for part in ("--engine", url)]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["up", "--help"], ["warm", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    heavy = {"numpy", "scipy", "sklearn", "aiohttp", "rich", "jinja2", "torch", "zstandard", "msgspec", "asyncio"}
    allowed = {"msgspec", "asyncio", "zstandard"} if arguments[0] in COMMANDS else set()
    program = (
        "import sys\nfrom preheat.cli.app import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit as end:\n    assert not end.code\n"
        f"print(sorted(set(sys.modules) & {heavy - allowed}), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment(), timeout=60)
    assert (ran.returncode, ran.stderr.strip()) == (0, "[]")


def test_help_names_every_command_and_the_exit_codes() -> None:
    shown = preheat("--help").stdout
    assert all(f"  {name} " in shown for name in COMMANDS)
    assert "130 interrupted" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nope"], "No such option"),
        (["up", "--nope"], "No such option"),
        (["nope"], "No such command"),
        (["up"], "Missing option"),
        (["warm"], "Missing argument"),
        (["plan", "p.json", "--budget", "many"], "is not a size"),
        (["up", "--logs", "x", "--engine", "http://x", "--window", "soon"], "is not a duration"),
        (["up", "--logs", "x", "--engine", "http://x", "--speed", "-1"], "is not a speed"),
        (["warm", "p.json", "--engine", "http://x", "--concurrency", "0"], "not in the range"),
        (["up", "--logs", "x", *engines("http://a", "http://b", "http://c")], "at most two: the replica to warm and a"),
        (["up", "--logs", "x", *engines("http://a", "http://a")], "both engines are http://a"),
        (["up", "--logs", "x", *engines("http://a/", "http://a/v1")], "both engines are http://a/"),
        (["up", "--logs", "x", *engines("embedded", "http://a")], "starts both replicas by itself"),
        (["up", "--logs", "x", *engines("embedded", "embedded")], "starts both replicas by itself"),
        (["plan", "p.json", "--prefill-ms-per-token", "0"], "'0' is not a number above 0"),
        (["plan", "p.json", "--prefill-ms-per-token", "nan"], "'nan' is not a number above 0"),
        (["plan", "p.json", "--kv-bytes-per-token", "inf"], "'inf' is not a number above 0"),
        (["plan", "p.json", "--kv-bytes-per-token", "-5"], "'-5' is not a number above 0"),
        (["plan", "p.json", "--min-use-probability", "nan"], "'nan' is not a share"),
        (["warm", "p.json", "--engine", "http://x", "--verify-target", "nan"], "'nan' is not a share"),
        (["up", "--logs", "x", "--engine", "http://x", "--verify-target", "1.5"], "'1.5' is not a share"),
        (["sandbox", "serve", "--port", "65536"], "not in the range"),
        (["sandbox", "serve", "--port", "-1"], "not in the range"),
        (["sandbox", "serve", "--token-interval-ms", "nan"], "'nan' is not a number from 0 on"),
        (["up", "--logs", "x", "--engine", "http://x", "--output-tokens", "100001"], "not in the range"),
        (["replay", "x", "--engine", "http://x", "--output-tokens", "100001"], "not in the range"),
        (["mine", "x", "-o", "-"], "a name is needed"),
        (["plan", "p.json", "-o", "-"], "a name is needed"),
        (["warm", "p.json", "--engine", "http://x", "-o", "-"], "a name is needed"),
        (["replay", "x", "--engine", "http://x", "-o", "-"], "a name is needed"),
        (["judge", "r.json", "-o", "-"], "a name is needed"),
        (["up", "--logs", "x", "--engine", "http://x", "-o", "-"], "a name is needed"),
    ],
)
def test_wrong_usage_is_exit_2(arguments: list[str], said: str) -> None:
    ran = preheat(*arguments)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert not ran.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["warm", "nowhere.json", "--engine", "http://127.0.0.1:9"], "nowhere.json"),
        (["judge", "nowhere.json"], "nowhere.json"),
        (["read", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--config", "nowhere.toml", "read", "x"], "nowhere.toml cannot be read"),
        (["mine", str(DEMO_LOG), "--format", "nope"], "there is no format 'nope'"),
        (["mine", str(DEMO_LOG), "--until", "tomorrow"], "is not a time"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    ran = preheat(*arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert said in one_line(ran)
    assert not list(tmp_path.iterdir())


# --- settings: flags, then the environment, then the file


def budget_of(folder: Path, profile: Path, *flags: str, **env: str) -> int | None:
    ran = preheat("plan", profile, *flags, "--json", "-o", "plan.json", cwd=folder, env=env)
    assert ran.returncode == 0, ran.stderr
    budget: int | None = json.loads(ran.stdout)["budget_bytes"]
    return budget


def test_flags_come_before_the_environment_and_that_before_the_file(tmp_path: Path, profile: Path) -> None:
    assert budget_of(tmp_path, profile) is None
    (tmp_path / "preheat.toml").write_text(
        '[plan]\nbudget = "1GiB"\nmin-use-probability = 0.25\n[judge]\nquiet = true\n'
    )
    assert budget_of(tmp_path, profile) == 2**30
    assert budget_of(tmp_path, profile, PREHEAT_PLAN_BUDGET="2GiB") == 2 * 2**30
    assert budget_of(tmp_path, profile, "--budget", "3GiB", PREHEAT_PLAN_BUDGET="2GiB") == 3 * 2**30


def test_another_file_can_be_named(tmp_path: Path, profile: Path) -> None:
    (tmp_path / "other.toml").write_text("[plan]\nbudget = 5000000000\n")
    ran = preheat("--config", "other.toml", "plan", profile, "--json", "-o", "plan.json", cwd=tmp_path)
    assert json.loads(ran.stdout)["budget_bytes"] == 5_000_000_000
    ran = preheat("plan", profile, "--json", "-o", "p.json", cwd=tmp_path, env={"PREHEAT_CONFIG": "other.toml"})
    assert json.loads(ran.stdout)["budget_bytes"] == 5_000_000_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[plan]\nbudgt = 5\n", "there is no flag --budgt"),
        ("[plann]\nbudget = 5\n", "'plann' is not a command's table"),
        ("budget = 5\n", "'budget' is not a command's table"),
        ("[plan\n", "is not TOML"),
        ("[plan]\nbudget = " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
        ('[plan]\nbudget = "many"\n', "is not a size"),
    ],
)
def test_a_mistake_in_the_file_is_said(tmp_path: Path, profile: Path, text: str, said: str) -> None:
    (tmp_path / "preheat.toml").write_text(text)
    ran = preheat("plan", profile, cwd=tmp_path)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert not (tmp_path / "plan.json").exists()


def test_flags_are_known_by_their_own_names_everywhere() -> None:
    table = {"engine": "http://a", "max-time": "5m", "json": True, "header": ["A:1", "B:2"]}
    found = defaults_for(warm, table, "[warm]")
    assert found == {"engine": ["http://a"], "max_time": "5m", "json": True, "header": ["A:1", "B:2"]}
    assert defaults_for(up, {"logs": ["a", "b"], "fail_on": "x"}, "[up]") == {"logs": ["a", "b"], "fail_on": "x"}
    nested = defaults_for(plan, {"budget": "1GiB", "show": {"items": True}, "make": {"strategy": "none"}}, "[plan]")
    assert nested == {"make": {"budget": "1GiB", "strategy": "none"}, "show": {"items": True}}
    sandbox = app.get_command(None, "sandbox")  # type: ignore[arg-type]
    assert sandbox is not None
    assert defaults_for(sandbox, {"serve": {"port": 1}}, "[sandbox]") == {"serve": {"port": 1}}
    with pytest.raises(BadInput, match="none of its commands"):
        defaults_for(sandbox, {"port": 1}, "[sandbox]")
    with pytest.raises(BadInput, match=r"\[plan.show\]: there is no flag --item"):
        defaults_for(plan, {"show": {"item": True}}, "[plan]")


def test_the_environment_knows_engines_and_logs(tmp_path: Path) -> None:
    env = {"PREHEAT_UP_ENGINE": "http://127.0.0.1:9", "PREHEAT_UP_LOGS": str(DEMO_LOG), "PREHEAT_UP_OUTPUT": "out"}
    ran = preheat("up", cwd=tmp_path, env=env)
    assert ran.returncode == 4
    assert "http://127.0.0.1:9" in one_line(ran)


def test_the_line_that_was_typed_is_kept_without_its_secrets() -> None:
    typed = ["up", "--logs", "my log", "--header", "X-Key: s3cret", "--header=Authorization:Bearer s3cret"]
    typed += ["--engine", "http://me:s3cret@host:8000/v1", "--header", "s3cret", "--api-key-env", "NAME"]
    assert command_line(typed) == (
        "preheat up --logs 'my log' --header 'X-Key:***' '--header=Authorization:***' "
        "--engine 'http://***@host:8000/v1' --header '***' --api-key-env NAME"
    )


# --- how it ends


@pytest.mark.parametrize(
    "arguments", [["read", str(DEMO_LOG), "--rendered", "--json"], ["read", str(DEMO_LOG), "--json"]]
)
def test_a_closed_pipe_is_quiet(arguments: list[str]) -> None:
    command = " ".join([*PREHEAT, *arguments])
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"], capture_output=True, env=environment(), timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [["read", str(DEMO_LOG), "--rendered", "--json"], ["read", str(DEMO_LOG)]])
def test_a_full_disk_behind_standard_output_is_said(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run([*PREHEAT, *arguments], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60)
    assert ran.returncode == 2
    assert ran.stderr.decode() == (
        "preheat: cannot use standard output: No space left on device (check the disk and the path)\n"
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-", ">&- 2>&- <&-", "2>/dev/full", "2> >(true)"])
def test_closed_streams_change_nothing(tmp_path: Path, closed: str) -> None:
    log = write_log(tmp_path / "log.jsonl", requests=40)

    def run(arguments: str) -> subprocess.CompletedProcess[bytes]:
        line = f"{' '.join(PREHEAT)} {arguments} {closed}"
        return subprocess.run(["bash", "-c", line], capture_output=True, env=environment(), timeout=60, cwd=tmp_path)

    for arguments, code in (
        (f"mine {log} -o profile.json --progress plain", 0),
        (f"read {log} --json", 0),
        ("plan profile.json -o plan.json", 0),
        ("read nowhere.jsonl", 2),
        ("read", 2),
        ("--version", 0),
        ("--help", 0),
    ):
        ran = run(arguments)
        assert ran.returncode == code, (arguments, ran.stderr)
        assert b"Traceback" not in ran.stderr + ran.stdout
        assert b"bug of ours" not in ran.stderr
    for name in ("profile.json", "plan.json"):
        assert json.loads((tmp_path / name).read_text())["schema"].startswith("preheat.")


def test_nothing_on_standard_input_is_an_empty_log(tmp_path: Path) -> None:
    line = f"{' '.join(PREHEAT)} read - <&-"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, env=environment(), timeout=60, cwd=tmp_path)
    assert ran.returncode == 2
    assert b"no requests in" in ran.stderr


def test_a_terminal_without_the_characters_gets_others(tmp_path: Path) -> None:
    line = {"timestamp": 1.0, "prompt": "H\u00b2O \u6c34 " * 40}
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line | {"timestamp": float(n)}) + "\n" for n in range(9)))
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert process("mine", "log.jsonl", "-o", "profile.json", cwd=tmp_path, env=plain).returncode == 0
    ran = process("plan", "profile.json", "-o", "plan.json", cwd=tmp_path, env=plain)
    assert (ran.returncode, ran.stderr) == (0, "")
    program = "from preheat.cli.streams import open_missing\nopen_missing()\nprint('H\\xb2O')"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment(**plain), timeout=60)
    assert (printed.returncode, printed.stdout) == (0, b"H?O\n")
    exact = process("read", "log.jsonl", "--rendered", "--json", cwd=tmp_path, env=plain)
    assert "H\u00b2O \u6c34" in exact.stdout
    wrong = process("read", "\u6c34.jsonl", cwd=tmp_path, env=plain)
    assert (wrong.returncode, len(wrong.stderr.splitlines())) == (2, 1)


def test_results_of_several_engines_are_numbered() -> None:
    assert [str(numbered(Path("o/warm.json"), n)) for n in range(3)] == [
        "o/warm.json",
        "o/warm-2.json",
        "o/warm-3.json",
    ]
    assert numbered(Path("warm.json.zst"), 1) == Path("warm-2.json.zst")
    assert numbered(Path("warm"), 1) == Path("warm-2")
