"""From a path as people write it to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from preheat.errors import BadInput
from preheat.files.locate import locate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ["b.jsonl", "a.jsonl.gz", "sub/c.ndjson.zst", "sub/d.JSON", ".hidden.jsonl", ".git/x.json", "readme.md"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    return tmp_path


def _names(found: list[str], folder: Path) -> list[str]:
    return [str(Path(file).relative_to(folder)) for file in found]


def test_a_folder_is_searched_in_order(folder: Path) -> None:
    assert _names(locate([str(folder)]), folder) == ["a.jsonl.gz", "b.jsonl", "sub/c.ndjson.zst", "sub/d.JSON"]


def test_a_glob_is_sorted_and_may_be_recursive(folder: Path) -> None:
    assert _names(locate([f"{folder}/*.jsonl*"]), folder) == ["a.jsonl.gz", "b.jsonl"]
    assert _names(locate([f"{folder}/**/*.zst"]), folder) == ["sub/c.ndjson.zst"]


def test_files_keep_the_order_given_and_come_once(folder: Path) -> None:
    given = [f"{folder}/readme.md", f"{folder}/b.jsonl", "-", f"{folder}/*.jsonl"]
    assert locate(given) == [f"{folder}/readme.md", f"{folder}/b.jsonl", "-"]


def test_a_name_with_brackets_is_a_file_first(tmp_path: Path) -> None:
    (tmp_path / "log[1].jsonl").write_text("{}")
    assert locate([f"{tmp_path}/log[1].jsonl"]) == [f"{tmp_path}/log[1].jsonl"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("{}/none.jsonl", "there is no file"),
        ("{}/*.parquet", "nothing matches"),
        ("{}/empty", "no log files in the folder"),
        ("nosuch://bucket/log.jsonl", "nosuch:// cannot be read here"),
    ],
)
def test_what_leads_to_nothing_is_named(folder: Path, path: str, says: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(BadInput) as caught:
        locate([path.format(folder)])
    assert says in str(caught.value)
    assert path.format(folder) in str(caught.value)


@pytest.mark.parametrize(("path", "says"), [("", "is empty"), ("x" * 5000, "too long"), ("a\0b", "a\\x00b|null")])
def test_what_is_no_path_is_bad_input(path: str, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        locate([path])
    assert caught.value.remedy
    assert len(str(caught.value)) < 400


def test_no_path_at_all_is_refused() -> None:
    with pytest.raises(BadInput, match="no log was named"):
        locate([])


def test_links_in_circles_and_other_names_count_once(folder: Path) -> None:
    (folder / "sub/up").symlink_to(folder, target_is_directory=True)
    (folder / "sub/self").symlink_to(folder / "sub", target_is_directory=True)
    (folder / "0-latest.jsonl").symlink_to("b.jsonl")
    whole = ["a.jsonl.gz", "b.jsonl", "sub/c.ndjson.zst", "sub/d.JSON"]
    assert _names(locate([str(folder)]), folder) == whole
    assert _names(locate([f"{folder}/**/*.*[zlN]"]), folder) == ["a.jsonl.gz", "b.jsonl", "sub/d.JSON"]
    assert _names(locate([f"{folder}/**/*.json*", f"{folder}/0-latest.jsonl"]), folder) == ["a.jsonl.gz", "b.jsonl"]
    assert _names(locate([f"{folder}/0-latest.jsonl", f"{folder}/*.jsonl"]), folder) == ["0-latest.jsonl"]
    assert _names(locate([f"{folder}/**"]), folder) == ["a.jsonl.gz", "b.jsonl", "readme.md", *whole[2:]]
    assert locate([f"{folder}/sub/self/c.ndjson.zst"]) == [f"{folder}/sub/self/c.ndjson.zst"]
