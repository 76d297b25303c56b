"""How truly the sandbox's HTTP server keeps its promised times, seen by a client in another process.

Peer: the mock server of guidellm (Apache-2.0). Version 0.8.1 against the same load, to be started by hand:

    guidellm mock-server --port 8001 --ttft-ms 100 --itl-ms 20 --output-tokens 64
    python benchmarks/sandbox_latency.py --peer-url http://127.0.0.1:8001

Input: 16 streams at once, 64 tokens each, 5 rounds; a chat prompt of two lines. TTFT is from sending the request on
an open connection to the first event with content, ITL from one such event to the next; the p95 is of the absolute
error. ``bare timer`` is a loop that only sleeps for ITL, in this process: what the machine itself is late by. On a
busy machine run client and servers under ``chrt -f 10``; otherwise the neighbours are what is measured.

Measured on 2 shared cores (load 5), all three under ``chrt -f 10``, Python 3.11, aiohttp 3.14, errors in ms:
sandbox TTFT +3.6 (p95 6.5), ITL +0.01 (p95 0.97); guidellm 0.8.1 TTFT +38.8 (75.5), ITL +0.85 (1.36); timer 0.77.
Without it, at loads of 2.7 to 5.8, the ITL p95 was 2.6 to 20 ms for the sandbox and 4.1 to 11 ms for guidellm.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from urllib.parse import urlsplit

SERVER = """
import sys
from preheat.sandbox.server import run
from preheat.sandbox.settings import SandboxSettings
ttft_ms, itl_ms = float(sys.argv[1]), float(sys.argv[2])
settings = SandboxSettings(prefill_ms_per_token=0.0, first_token_ms=ttft_ms, token_interval_ms=itl_ms)
run(settings, port=0, on_ready=lambda url: print(url, flush=True))
"""
CONTENT = re.compile(rb'"content": ?"[^"]')
END = b"[DONE]"


class Stream(asyncio.Protocol):
    """One raw HTTP exchange: nothing between the socket and the clock but a search for events."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        now_s = time.perf_counter()
        self.times_s += [now_s] * len(CONTENT.findall(data))
        if END in data and not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection before the end"))


async def one_stream(url: str, model: str, tokens: int, together: asyncio.Barrier) -> tuple[float, list[float]]:
    """TTFT and the intervals of one streamed chat, in ms."""
    parts = urlsplit(url)
    transport, stream = await asyncio.get_running_loop().create_connection(
        Stream, parts.hostname or "", parts.port or 80
    )
    messages = [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "Hello?"}]
    asked = {"model": model, "messages": messages, "stream": True, "max_tokens": tokens}
    body = json.dumps(asked).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
    await together.wait()
    sent_s = time.perf_counter()
    transport.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    async with asyncio.timeout(120):
        await stream.done
    transport.close()
    gaps_ms = [(later - earlier) * 1000 for earlier, later in pairwise(stream.times_s)]
    return (stream.times_s[0] - sent_s) * 1000, gaps_ms


async def bare_timer(args: argparse.Namespace) -> list[float]:
    """Intervals of a deadline schedule that does nothing but sleep, in ms: the floor of any server on this machine."""
    due_s, times_s = time.perf_counter(), []
    for _ in range(args.tokens * args.rounds):
        due_s += args.itl_ms / 1000
        await asyncio.sleep(due_s - time.perf_counter())
        times_s.append(time.perf_counter())
    return [(later - earlier) * 1000 for earlier, later in pairwise(times_s)]


async def measure(url: str, model: str, args: argparse.Namespace) -> tuple[list[float], list[float]]:
    ttfts: list[float] = []
    gaps: list[float] = []
    for round_number in range(args.rounds + 1):
        together = asyncio.Barrier(args.streams)
        streams = [one_stream(url, model, args.tokens, together) for _ in range(args.streams)]
        results = await asyncio.gather(*streams)
        if round_number:  # the first round warms the processes
            ttfts += [ttft for ttft, _ in results]
            gaps += [gap for _, gaps_ms in results for gap in gaps_ms]
    return ttfts, gaps


def row(name: str, *columns: tuple[list[float], float]) -> str:
    cells = [f"{name:<24}"]
    for values, wanted in columns:
        errors = [value - wanted for value in values]
        p95 = statistics.quantiles([abs(error) for error in errors], n=20)[-1] if errors else float("nan")
        mean = statistics.fmean(errors) if errors else float("nan")
        cells.append(f"{len(values):>7} {mean:>+10.2f} {p95:>9.2f}")
    return "  ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ttft-ms", type=float, default=100.0)
    parser.add_argument("--itl-ms", type=float, default=20.0)
    parser.add_argument("--peer-url", help="a running mock server of guidellm, set to the same times")
    parser.add_argument("--peer-name", default="guidellm mock-server")
    parser.add_argument("--peer-model", default="llama-3.1-8b-instruct")
    args = parser.parse_args()
    print(f"{args.streams} streams, {args.tokens} tokens, {args.rounds} rounds; TTFT {args.ttft_ms:g} ms, ", end="")
    print(f"ITL {args.itl_ms:g} ms; errors in ms\n{'':<24}  {'TTFT n':>7} {'mean':>10} {'p95 |.|':>9}", end="")
    print(f"  {'ITL n':>7} {'mean':>10} {'p95 |.|':>9}")
    print(row("bare timer", ([], args.ttft_ms), (asyncio.run(bare_timer(args)), args.itl_ms)), flush=True)
    command = [sys.executable, "-c", SERVER, str(args.ttft_ms), str(args.itl_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            compare("preheat sandbox", server.stdout.readline().strip(), "sandbox", args)
        finally:
            server.kill()
    if args.peer_url:
        compare(args.peer_name, args.peer_url, args.peer_model, args)


def compare(name: str, url: str, model: str, args: argparse.Namespace) -> None:
    ttfts, gaps = asyncio.run(measure(url, model, args))
    print(row(name, (ttfts, args.ttft_ms), (gaps, args.itl_ms)), flush=True)


if __name__ == "__main__":
    main()
