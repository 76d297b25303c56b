"""Engines that several suites share, started once per test session and only when a test asks for one."""

pytest_plugins = ["contracts.engine_fixtures"]
