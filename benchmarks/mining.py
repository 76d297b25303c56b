"""Mining one log: what Preheat costs beside the floor and beside its peers, each in a process of its own.

    pip install --target peers llmtrafficlens==0.13.4 kvcache-simulator==0.1.3 drain3==0.9.11
    PYTHONPATH=peers python benchmarks/mining.py LOG [--only ROW,...] [--growth]

LOG is JSON Lines of chat requests (``messages``, ``tools``), compressed or not. The rows:

    floor            decompress and decode every line, nothing else (msgspec, the fastest decoder there is here)
    json             the same with the standard library's decoder, as the peers have it
    read             preheat: requests
    tree             preheat: requests, rendered, in the prefix tree
    mine             preheat mine, the whole command: tree, profile, clusters, classes, topology, breaks, file
    llmtrafficlens   its `profile` of the same requests as the CSV that it takes (written beforehand, not counted)
    kvcache-sim      kvcache-simulator, LRU and optimal at 7 sizes, on our anonymous export (written beforehand)
    drain3           log template mining over the rendered prompts, until --patience CPU-seconds are spent
    scikit-learn     TF-IDF (1- and 2-grams) and all-pairs cosine on 4,000 distinct prompts: what 2 GB bear

CPU-seconds are user + system of the whole process, start and imports included; memory is its peak resident set. What
does not take the whole log says how much it took. ``--growth`` runs floor, tree and mine on the first 10, 30 and 100 %.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from preheat.files.compressed import open_stream

PEERS = {
    "llmtrafficlens": "llmtrafficlens",
    "kvcache-sim": "kvcache_sim",
    "drain3": "drain3",
    "scikit-learn": "sklearn",
}
GROWING = ("floor", "tree", "mine")
ROWS = ["floor", "json", "read", "tree", "mine", *PEERS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--only", default=",".join(ROWS), help="rows to run, by name")
    parser.add_argument("--growth", action="store_true", help="also the first 10 and 30 %%")
    parser.add_argument("--patience", type=float, default=20.0, help="CPU-seconds for what cannot take the whole log")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.row:
        print(WORK[flags.row](flags.log, flags.patience), file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="preheat-mining-") as folder:
        rows = flags.only.split(",")
        compare(flags.log, rows, Path(folder), flags.patience)
        if flags.growth:
            grow(flags.log, Path(folder), flags.patience)


def compare(log: str, rows: list[str], folder: Path, patience_s: float) -> None:
    size = sum(len(chunk) for chunk in chunks(log))
    print(f"{log}: {size / 1e6:.0f} MB unpacked")
    print(f"{'row':<16}{'CPU-s':>8}{'x floor':>9}{'peak MB':>9}  what it took")
    floor_s = 0.0
    for row in rows:
        module = PEERS.get(row)
        if module and importlib.util.find_spec(module) is None:
            print(f"{row:<16}not installed")
            continue
        cpu_s, peak_mb, said = run(row, prepared(row, log, folder), patience_s)
        floor_s = cpu_s if row == "floor" else floor_s
        times = f"{cpu_s / floor_s:.2f}" if floor_s else "-"
        print(f"{row:<16}{cpu_s:>8.2f}{times:>9}{peak_mb:>9.0f}  {said}", flush=True)


def grow(log: str, folder: Path, patience_s: float) -> None:
    """Linear or better: CPU-seconds per request must not rise with the log."""
    lines = sum(1 for _ in lines_of(log))
    heads = "".join(f"{row + ' CPU-s':>14}{'us/req':>8}" for row in GROWING)
    print(f"\n{'share':<8}{'requests':>10}{heads}")
    for percent in (10, 30, 100):
        part = folder / f"first{percent}.jsonl"
        count = lines * percent // 100
        with part.open("wb") as file:
            for number, line in enumerate(lines_of(log)):
                if number == count:
                    break
                file.write(line)
        spent = [run(row, str(part), patience_s)[0] for row in GROWING]
        shown = "".join(f"{each:>14.2f}{1e6 * each / count:>8.1f}" for each in spent)
        print(f"{percent:>3} %   {count:>10}{shown}", flush=True)
        part.unlink()


def run(row: str, log: str, patience_s: float) -> tuple[float, float, str]:
    """CPU-seconds and peak memory (MB) of a process that does this row, and what it said last."""
    if row == "mine":
        output = str(Path(tempfile.gettempdir()) / f"preheat-mining-{os.getpid()}.json.zst")
        command = [sys.executable, "-m", "preheat", "mine", log, "--quiet", "-o", output]
    elif row == "llmtrafficlens":
        command = [
            sys.executable,
            "-c",
            "from llmtrafficlens.cli import main; main()",
            "profile",
            log,
            "-o",
            log + ".out",
        ]
    elif row == "kvcache-sim":
        command = [sys.executable, "-c", "from kvcache_sim.cli import main; main()", "run", "--trace", log]
        command += ["--model", "glm-5.2", "--block-size", "512", "--budgets-gib", "1,2,4,8,16,32,64"]
        command += ["--policies", "lru,optimal", "--no-progress"]
    else:
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            str(Path(log).resolve()),
            "--row",
            row,
            "--patience",
            str(patience_s),
        ]
    with tempfile.TemporaryFile() as said:
        where = Path(log).parent if row == "llmtrafficlens" else None  # it leaves its key where it runs
        found = os.pathsep.join(str(Path(each).resolve()) for each in sys.path if each)
        environment = os.environ | {"PYTHONPATH": found}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, cwd=where, env=environment)
        _, status, used = os.wait4(process.pid, 0)
        said.seek(0)
        last = (said.read().decode(errors="replace").strip().splitlines() or [""])[-1]
    if row == "mine" and Path(output).exists():
        last = f"profile of {Path(output).stat().st_size / 1e6:.2f} MB"
        Path(output).unlink()
    if status:
        last = f"FAILED: {last}"
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, last


def prepared(row: str, log: str, folder: Path) -> str:
    """The log in the form that a row takes."""
    if row == "llmtrafficlens":
        path = folder / "log.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["timestamp", "request_json"])
            for line in lines_of(log):
                record = json.loads(line)
                body = {name: record[name] for name in ("model", "tools", "messages") if record.get(name)}
                writer.writerow([record.get("timestamp", ""), json.dumps(body, ensure_ascii=False)])
        return str(path)
    if row == "kvcache-sim":
        path = folder / "trace.jsonl"
        command = [sys.executable, "-m", "preheat", "read", log, "--as", "mooncake", "-o", str(path), "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return str(path)
    return log


def chunks(log: str) -> Iterator[bytes]:
    with open_stream(log) as stream:
        while chunk := stream.read(1 << 20):
            yield chunk


def lines_of(log: str) -> Iterator[bytes]:
    with open_stream(log) as stream:
        yield from io.BufferedReader(stream, 1 << 18)


def work_floor(log: str, patience_s: float) -> str:
    decode = msgspec.json.Decoder().decode
    count = 0
    for line in lines_of(log):
        decode(line)
        count += 1
    return f"{count} records"


def work_json(log: str, patience_s: float) -> str:
    return f"{sum(1 for line in lines_of(log) if json.loads(line))} records"


def work_read(log: str, patience_s: float) -> str:
    from preheat.read.reader import read_requests
    from preheat.records.request import ReadReport

    return f"{sum(1 for _ in read_requests([log], report=ReadReport()))} requests"


def work_tree(log: str, patience_s: float) -> str:
    from preheat.mine.collection import no_collection
    from preheat.mine.miner import Miner
    from preheat.prompts.render import renderer_for
    from preheat.read.reader import read_requests
    from preheat.records.rendering import Rendering
    from preheat.records.request import ReadReport

    miner = Miner(renderer_for(Rendering()))
    with no_collection():
        for request in read_requests([log], report=ReadReport()):
            miner.add(request)
    return f"{miner.bounds.nodes} nodes, {miner.bounds.chars} distinct characters"


def prompts(log: str) -> Iterator[str]:
    from preheat.prompts.render import renderer_for
    from preheat.read.reader import read_requests
    from preheat.records.rendering import Rendering
    from preheat.records.request import ReadReport

    render = renderer_for(Rendering()).render
    yield from map(render, read_requests([log], report=ReadReport()))


def work_drain3(log: str, patience_s: float) -> str:
    from drain3 import TemplateMiner
    from drain3.template_miner_config import TemplateMinerConfig

    miner = TemplateMiner(config=TemplateMinerConfig())
    began, count = time.process_time(), 0
    for prompt in prompts(log):
        miner.add_log_message(prompt)
        count += 1
        if time.process_time() - began > patience_s:
            break
    speed = count / (time.process_time() - began)
    return f"{count} prompts, {speed:.0f} a CPU-s, {len(miner.drain.clusters)} templates"


def work_sklearn(log: str, patience_s: float) -> str:
    from scipy.sparse.csgraph import connected_components
    from sklearn.feature_extraction.text import TfidfVectorizer

    kept: dict[str, None] = {}
    for prompt in prompts(log):
        kept[prompt] = None
        if len(kept) == 4_000:
            break
    rows = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(kept)
    near = (rows @ rows.T).tocsr()
    near.data[near.data < 0.72] = 0
    near.eliminate_zeros()
    return f"{len(kept)} distinct prompts, {connected_components(near)[0]} clusters"


WORK: dict[str, Callable[[str, float], str]] = {
    "floor": work_floor,
    "json": work_json,
    "read": work_read,
    "tree": work_tree,
    "drain3": work_drain3,
    "scikit-learn": work_sklearn,
}

if __name__ == "__main__":
    main()
