"""Engines that several suites share, started once per test session and only when a test asks for one.

Where real engines are required (``CI=true`` or ``PREHEAT_REQUIRE_ENGINES=1``), a skipped test of one, or of the
browser, fails the session: green must mean that they ran.
"""

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["contracts.engine_fixtures"]

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")  # a busy machine fails no property

REQUIRED = ("llamacpp", "vllm", "browser", "ray")
_skipped = pytest.StashKey[list[str]]()


def _engines_required() -> bool:
    return os.environ.get("CI") == "true" or os.environ.get("PREHEAT_REQUIRE_ENGINES") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        for marker in REQUIRED:
            if item.get_closest_marker(marker):
                item.config.stash.setdefault(_skipped, []).append(f"{marker}: {item.nodeid}")
                break
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash.get(_skipped, None) and _engines_required() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    missing = config.stash.get(_skipped, [])
    if missing and _engines_required():
        terminalreporter.section("required engines were skipped", red=True)
        for line in missing:
            terminalreporter.write_line(f"FAILED: skipped although required: {line}", red=True)
