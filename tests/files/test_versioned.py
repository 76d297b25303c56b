"""Saving and loading the files between the stages."""

from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest

from preheat.errors import BadInput, StorageFault
from preheat.files.versioned import digest, load, save
from preheat.records.plan import Plan
from preheat.records.profile import Cluster, Node, Partition, Profile

PLAN = Plan(strategy="greedy", profile_hash="abc", at_s=1.5, window_s=300.0, notes=["é", "预热"])
TEXT = "x" * 64
NODE = Node(parent=-1, hash="h", blocks=1, text=TEXT, count=3, first_s=0, last_s=1, arrivals={30: 2, 4: 1})
PROFILE = Profile(end_s=7, skipped={"b": 1, "a": 2}, partitions=[Partition(None, None, 3)], nodes=[NODE])


@pytest.mark.parametrize("name", ["plan.json", "plan.json.zst", "new/folder/plan.json"])
def test_what_is_saved_is_loaded(tmp_path: Path, name: str) -> None:
    save(tmp_path / name, PLAN)
    assert load(tmp_path / name, Plan) == PLAN
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert [file.name for file in (tmp_path / name).parent.iterdir()] == [Path(name).name]


def test_compression_follows_the_name_when_writing_and_the_bytes_when_reading(tmp_path: Path) -> None:
    save(tmp_path / "plan.json.zst", PLAN)
    assert (tmp_path / "plan.json.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    (tmp_path / "plan.json.zst").rename(tmp_path / "renamed.json")
    assert load(tmp_path / "renamed.json", Plan) == PLAN


def test_small_files_are_indented_and_big_ones_are_not(tmp_path: Path) -> None:
    save(tmp_path / "small.json", PLAN)
    assert b'\n  "schema"' in (tmp_path / "small.json").read_bytes()
    save(tmp_path / "big.json", msgspec.structs.replace(PLAN, notes=["x" * 2_000_000]))
    assert (tmp_path / "big.json").read_bytes().count(b"\n") == 1


def test_node_with_integer_keys_survives(tmp_path: Path) -> None:
    save(tmp_path / "p.json.zst", PROFILE)
    assert load(tmp_path / "p.json.zst", Profile).nodes == [NODE]


def _edited(path: Path, **fields: object) -> Path:
    save(path, PLAN)
    content = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**content, **fields}))
    return path


def test_newer_minor_version_and_unknown_fields_are_read(tmp_path: Path) -> None:
    assert load(_edited(tmp_path / "p.json", version="1.9", news=[1]), Plan).strategy == "greedy"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"version": "2.0"}, "version 2.0 of preheat.plan; this preheat reads 1.x"),
        ({"version": "0.4"}, "write it again"),
        ({"version": "new"}, "not MAJOR.MINOR"),
        ({"schema": "preheat.warm"}, "is a preheat.warm file"),
        ({"schema": None}, "no schema"),
        ({"items": 7}, "damaged"),
        ({"at_s": None}, "Expected `float`, got `null` - at `$.at_s`"),
        ({"version": "9" * 5000}, "not MAJOR.MINOR"),
        ({"version": "9" * 5000 + ".0"}, "not MAJOR.MINOR"),
        ({"version": "\x1b[2J"}, "'\\x1b[2J'"),
        ({"schema": "\x1b]0;x\x07"}, "'\\x1b]0;x\\x07'"),
    ],
)
def test_other_versions_and_schemas_are_refused(tmp_path: Path, fields: dict[str, object], says: str) -> None:
    path = _edited(tmp_path / "p.json", **fields)
    with pytest.raises(BadInput, match=r"p\.json") as caught:
        load(path, Plan)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400
    assert caught.value.remedy


@pytest.mark.parametrize("content", [b"", b"not json", b"[1]", b"\x80\x81", b'"text"', b'{"schema": "preheat.pl'])
def test_what_is_no_preheat_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(BadInput, match=r"x\.json is not a Preheat file"):
        load(tmp_path / "x.json", Plan)


@pytest.mark.parametrize("start", [b"", b'{"schema": "preheat.plan", "version": "1.0", "items": ', b'{"x": '])
@pytest.mark.parametrize("nest", [(b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")])
def test_a_deeply_nested_file_is_bad_input(tmp_path: Path, start: bytes, nest: tuple[bytes, bytes]) -> None:
    opening, closing = nest
    (tmp_path / "x.json").write_bytes(start + opening * 100_000 + b"1" + closing * 100_000 + b"}" * bool(start))
    with pytest.raises(BadInput, match=r"x\.json"):
        load(tmp_path / "x.json", Plan)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_has_no_form_for_is_refused_before_anything_is_written(
    tmp_path: Path, number: float
) -> None:
    save(tmp_path / "p.json", PLAN)
    before = (tmp_path / "p.json").read_bytes()
    with pytest.raises(StorageFault, match=r"p\.json: at_s is not a finite number") as caught:
        save(tmp_path / "p.json", msgspec.structs.replace(PLAN, at_s=number))
    assert caught.value.remedy
    assert (tmp_path / "p.json").read_bytes() == before
    nodes = [NODE, msgspec.structs.replace(NODE, last_s=number)]
    with pytest.raises(StorageFault, match=r"nodes\[1\]\.last_s is not"):
        save(tmp_path / "new.json.zst", Profile(nodes=nodes))
    assert [file.name for file in tmp_path.iterdir()] == ["p.json"]


def test_text_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageFault, match="not Unicode"):
        save(tmp_path / "p.json", msgspec.structs.replace(PLAN, notes=["\udcff"]))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"parent": 0}, "no place in a tree"),
        ({"parent": -2}, "no place in a tree"),
        ({"partition": 1}, "no place in a tree"),
        ({"text": "short"}, "not 1 blocks long"),
        ({"text": None}, "neither its text nor"),
        ({"text": None, "block_hashes": "z" * 12}, "neither its text nor"),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(tmp_path: Path, broken: dict[str, object], said: str) -> None:
    node = msgspec.structs.replace(NODE, **broken)
    save(tmp_path / "p.json", msgspec.structs.replace(PROFILE, nodes=[node]))
    with pytest.raises(BadInput, match=f"damaged or was edited: .*{said}"):
        load(tmp_path / "p.json", Profile)


def test_a_cluster_of_no_node_is_refused(tmp_path: Path) -> None:
    lost = Cluster(representative=None, hash="", size=2, share=1.0, node=1)
    save(tmp_path / "p.json", msgspec.structs.replace(PROFILE, clusters=[lost]))
    with pytest.raises(BadInput, match="a cluster names a node"):
        load(tmp_path / "p.json", Profile)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json: No such file"):
        load(tmp_path / "none.json", Plan)


def test_digest_tells_content_apart_and_nothing_else() -> None:
    assert digest(msgspec.structs.replace(PLAN, at_s=2.0)) != digest(PLAN)
    assert digest(msgspec.structs.replace(PLAN, window_s=300)) == digest(PLAN)


def test_the_digest_survives_saving_and_loading(tmp_path: Path) -> None:
    for record in (PLAN, PROFILE):
        save(tmp_path / "r.json", record)
        assert digest(load(tmp_path / "r.json", type(record))) == digest(record)


def test_saving_to_a_full_device_is_a_storage_fault() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(StorageFault, match="cannot write /dev/full: No space left on device") as caught:
        save("/dev/full", PLAN)
    assert "free some space" in caught.value.remedy
