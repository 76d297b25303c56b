"""Where real engines are required, a skipped test of one must not look green."""

from __future__ import annotations

import pytest

import conftest

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.{marker}
def test_of_an_engine():
    {body}

def test_of_anything_else():
    pass
"""
SKIP = "pytest.skip('not installed')"


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A test session in this process, with this repository's hooks and nothing required so far."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PREHEAT_REQUIRE_ENGINES", raising=False)
    pytester.makeini("[pytest]\nmarkers =\n    llamacpp\n    vllm\n    browser\n    ray\n    slow\n")
    return pytester


def run(session: pytest.Pytester, marker: str, body: str) -> pytest.RunResult:
    session.makepyfile(SUITE.format(marker=marker, body=body))
    others = ("cacheprovider", "hypothesispytest", "asyncio", "anyio")
    without = [part for name in others for part in ("-p", f"no:{name}")]
    return session.runpytest_inprocess(*without, plugins=[conftest])


@pytest.mark.parametrize("marker", ["llamacpp", "vllm", "browser", "ray"])
@pytest.mark.parametrize(("variable", "value"), [("CI", "true"), ("PREHEAT_REQUIRE_ENGINES", "1")])
def test_a_skipped_engine_fails_where_it_is_required(
    session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, marker: str, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    done = run(session, marker, SKIP)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines([f"FAILED: skipped although required: {marker}: *.py::test_of_an_engine"])
    done.stdout.fnmatch_lines(["*1 passed, 1 skipped in *"])


def test_it_is_only_skipped_elsewhere(session: pytest.Pytester) -> None:
    done = run(session, "vllm", SKIP)
    assert done.ret == pytest.ExitCode.OK
    done.stdout.no_fnmatch_line("*although required*")


@pytest.mark.parametrize(("marker", "body"), [("slow", SKIP), ("vllm", "pytest.xfail('known')")])
def test_other_skips_and_expected_failures_are_none_of_it(
    session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, marker: str, body: str
) -> None:
    monkeypatch.setenv("CI", "true")
    assert run(session, marker, body).ret == pytest.ExitCode.OK


def test_a_failure_stays_a_failure(session: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    done = run(session, "browser", "assert False")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.assert_outcomes(passed=1, failed=1)
