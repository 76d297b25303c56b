"""The layers that import-linter checks are the packages that there are, and the pages name what exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "preheat"
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/schemas/README.md")


def declared() -> list[list[str]]:
    """The layers of pyproject.toml, from the top, each with its siblings."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    assert contract["exhaustive"]
    assert contract["exhaustive_ignores"] == ["__main__"]
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def test_the_layers_are_exactly_the_packages_that_exist() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    named = [name for layer in declared() for name in layer]
    assert sorted(named) == sorted(packages | modules)


def test_every_folder_of_code_is_a_package_that_says_what_it_is_for() -> None:
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        assert (folder / "__init__.py").is_file(), folder


def test_architecture_draws_the_same_layers_and_has_a_row_for_each() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    assert "\n".join(" | ".join(layer) for layer in declared()) in page
    for name in (name for layer in declared() for name in layer):
        assert re.search(rf"^\| `{name}(\.py|/)?` \|", page, re.MULTILINE), name


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), target


def test_paths_that_architecture_names_exist() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    for named in re.findall(r"`([\w./-]+/[\w./-]*\.(?:py|toml|json|md|j2))`", page):
        assert (ROOT / named).exists() or (PACKAGE / named).exists(), named
