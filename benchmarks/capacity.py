"""Hit rate against cache size on one trace: ours, kvcache-simulator's and libcachesim's, and what each costs.

    pip install --target peers kvcache-simulator==0.1.3 libcachesim==0.3.5
    PYTHONPATH=peers python benchmarks/capacity.py TRACE

TRACE is anything that Preheat reads. All get the same blocks, from one run. kvcache-simulator keeps beginnings before
ends and protects what a request has found, as we do; it counts tokens of the second half of the requests, in a cache
that was full by then, so the same is printed of ours. Its C++ is built on first use, before the clock starts.
libcachesim knows no prefixes: it gets the blocks one after another, and so do we for that comparison. CPU-seconds
are of the processes at work, for all sizes together and with nothing but the policies in them: the blocks are
there, as numbers. Peers that are not installed are left out, which is said.

On two shared cores, Python 3.11 (a log of 120,243 chat requests, 4.05 M blocks of 64 characters, eight sizes): no
difference in any row, of either peer. Million block requests per CPU-second, LRU: ours 48, kvcache-simulator 5.8;
block by block ours 3.4, libcachesim 0.74. Optimal: ours 2.1, kvcache-simulator 10.3.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
from importlib.metadata import version

import numpy as np

from preheat.blocks.accesses import Accesses
from preheat.blocks.curve import ladder
from preheat.blocks.runs import Runs, runs_of
from preheat.blocks.simulator import Simulator
from preheat.prompts.render import renderer_for
from preheat.read.accesses import asked_blocks
from preheat.read.reader import read_requests
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport

Row = list[object]


def cpu_s() -> float:
    """Of this process and of the ones it has started and waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    path = parser.parse_args().trace
    began = cpu_s()
    requests = read_requests([path], report=ReadReport())
    accesses = asked_blocks(requests, renderer_for(Rendering())).accesses
    read_s, began = cpu_s() - began, cpu_s()
    runs = runs_of(accesses)
    simulator = Simulator(runs)
    ceiling = simulator.ceiling().sum() / accesses.blocks
    curve_s = cpu_s() - began
    unit = "tokens" if accesses.in_tokens else "characters"
    print(f"{path}: {accesses.requests} requests, {accesses.blocks} blocks of {accesses.units} {unit}")
    print(f"{accesses.distinct} distinct, in {len(runs.blocks)} runs; read, rendered and named in {read_s:.2f} CPU-s")
    print(f"hit rate without bounds: {ceiling:.4f} of all whole blocks, whole trace, cold start")
    speed("ours, LRU at every size at once", accesses.blocks, curve_s)
    sizes = [size for size in ladder(accesses.distinct) if size < accesses.distinct]
    against_kvcache_simulator(accesses, runs, sizes)
    against_libcachesim(accesses, sizes)


def against_kvcache_simulator(accesses: Accesses, runs: Runs, sizes: list[int]) -> None:
    if importlib.util.find_spec("kvcache_sim") is None:
        print("\nkvcache-simulator is not installed")
        return
    from kvcache_sim.cpp_backend import ensure_cpp_simulator, run_cpp_sweep
    from kvcache_sim.trace import TraceData, block_tokens

    ensure_cpp_simulator()
    tokens, lengths, counts = [], [], np.diff(accesses.starts)
    for count, length in zip(counts.tolist(), accesses.lengths.tolist(), strict=True):
        # Text has no partial blocks here: what comes after the last whole one is no block.
        whole = int(length) if accesses.in_tokens else count * accesses.units
        tokens += [block_tokens(whole, accesses.units, index, count) for index in range(count)]
        lengths.append(whole)
    starts = accesses.starts.tolist()
    trace = TraceData(
        accesses.ids.tolist(),
        tokens,
        starts,
        accesses.units,
        accesses.requests,
        accesses.distinct,
        sum(tokens),
        1.0,
        0,
        0,
    )
    half, length = accesses.requests // 2, np.array(lengths)
    print(f"\nkvcache-simulator {version('kvcache-simulator')} (C++): found tokens / tokens of requests {half} on")
    for policy in ("lru", "optimal"):
        began = cpu_s()
        theirs = run_cpp_sweep(trace, capacities=sizes, policies=[policy], warmup_requests=half).results
        their_s, began, rows = cpu_s() - began, cpu_s(), list[Row]()
        simulator = Simulator(runs)
        for size in sizes:
            found = np.minimum(simulator.found(policy, size) * accesses.units, length)
            ours = found[half:].sum() / length[half:].sum()
            peer = theirs[policy, size]
            full = peer.measurementMode == "fixed_window"
            rows.append(
                [
                    size,
                    f"{ours:.4f}",
                    f"{peer.hitRate:.4f}" if full else "not full",
                    ours - peer.hitRate if full else None,
                ]
            )
        table(policy, rows)
        speed(f"ours, {policy}, {len(sizes)} sizes", accesses.blocks * len(sizes), cpu_s() - began)
        speed(f"theirs, {policy}, {len(sizes)} sizes", accesses.blocks * len(sizes), their_s)


def against_libcachesim(accesses: Accesses, sizes: list[int]) -> None:
    if importlib.util.find_spec("libcachesim") is None:
        print("\nlibcachesim is not installed")
        return
    import libcachesim

    print(f"\nlibcachesim {version('libcachesim')}: found blocks / blocks, each block by itself, whole trace")
    began = cpu_s()
    alone = Simulator(
        Runs(
            accesses.ids,
            np.arange(accesses.blocks + 1),
            np.ones(accesses.distinct, np.int64),
            np.full(accesses.distinct, -1),
        )
    )
    ours = [alone.found("lru", size).sum() / accesses.blocks for size in sizes]
    our_s, their_s, rows = cpu_s() - began, 0.0, list[Row]()
    for size, rate in zip(sizes, ours, strict=True):
        cache, request, found = libcachesim.LRU(size), libcachesim.Request(), 0
        ids = accesses.ids.tolist()
        began = cpu_s()
        for block in ids:
            request.obj_id = block
            found += cache.get(request)
        their_s += cpu_s() - began
        rows.append([size, f"{rate:.4f}", f"{found / accesses.blocks:.4f}", rate - found / accesses.blocks])
    table("lru", rows)
    speed(f"ours, lru, {len(sizes)} sizes, block by block", accesses.blocks * len(sizes), our_s)
    speed(f"theirs, lru, {len(sizes)} sizes", accesses.blocks * len(sizes), their_s)


def table(policy: str, rows: list[Row]) -> None:
    print(f"{policy:>10} blocks      ours    theirs  difference")
    for size, ours, theirs, difference in rows:
        shown = "" if difference is None else f"{difference:+.4f}"
        print(f"{size:>17}{ours:>10}{theirs:>10}{shown:>12}")


def speed(what: str, blocks: int, spent_s: float) -> None:
    print(f"  {what}: {spent_s:.2f} CPU-s, {blocks / max(spent_s, 1e-9) / 1e6:.2f} M block requests/CPU-s")


if __name__ == "__main__":
    main()
