#!/usr/bin/env python3
"""Composes demo_log.jsonl.xz from the segment form of the 3-day log (see README.md beside this file).

    python compose.py DATA_DIR -o FILE

DATA_DIR holds log/prodlog_3day.requests.jsonl.gz and log/prodlog_3day.segments.jsonl.gz. The output depends on
these two files and the constants below only.
"""

import argparse
import gzip
import hashlib
import json
import lzma
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# Where a text comes from -> its licence. A request with a segment from anywhere else is left out.
LICENCES = {
    "prompts_chat": "CC0-1.0",
    "fabric": "MIT",
    "bbh": "MIT",
    "bbh_tasks": "MIT",
    "bbh_cot_prompts": "MIT",
    "gsm8k": "MIT",
    "humaneval": "MIT",
    "mt_bench_questions": "Apache-2.0",
    "vicuna_bench_questions": "Apache-2.0",
    "mt_bench_101": "Apache-2.0",
    "self_instruct_seed_tasks": "Apache-2.0",
    "user_oriented_instructions": "Apache-2.0",
}
TEMPLATE_KINDS = ("chat", "fewshot")
CONVERSATION_APPS = "multiturn-"
# One system prompt asks for nude pictures; nobody expects that in a demo.
UNSUITABLE = frozenset({"prompts_chat:Nano Banana Pro Prompt Generator Instruction (Outputs JSON blocks like these)"})

PROMPT_CHARS = (500, 2000)  # all messages of a request together
PREFIX_CHARS = (400, 1800)  # what all the fitting requests of a template share
PREFIX_SHARE = 0.75  # of a request's characters, at least
MIN_REQUESTS = 30  # a template needs this many requests
PER_TEMPLATE = 75  # expected requests kept of a template that has more
CONVERSATIONS_KEPT = 0.05  # share of the conversations
MAX_NON_ASCII = 0.02  # share of a prompt's characters; keeps it English

Request = dict[str, Any]


def read_lines(path: Path) -> Iterator[Request]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def fraction(name: str) -> float:
    """A number in [0, 1) drawn from a name: the same in every run."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big") / 2**56


def prompt_text(request: Request) -> str:
    return "".join(message["content"] for message in request["messages"])


def shared_prefix(requests: Iterable[Request]) -> int:
    """Characters of message text that all the requests begin with, roles and message borders alike."""
    keyed = ["".join(f"\x00{m['role']}\x01{m['content']}" for m in r["messages"]) for r in requests]
    first, last = min(keyed), max(keyed)  # what these two share, all between them share
    end = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    parts = first[:end].split("\x00")[1:]
    return sum(len(part.partition("\x01")[2]) for part in parts)


def resolve(row: Request, segments: dict[int, Request]) -> Request | None:
    """The request with its texts; None if it has tools or a text that may not be passed on here."""
    ids = [i for _, part in row["messages"] for i in part]
    if row.get("tools") or any("text" not in segments[i] for i in ids):
        return None
    sources = [segments[i]["src"] for i in ids]
    if any(s.partition(":")[0] not in LICENCES or s in UNSUITABLE for s in sources):
        return None
    messages = [{"role": role, "content": "".join(segments[i]["text"] for i in part)} for role, part in row["messages"]]
    return {**row, "messages": messages, "sources": sources}


def english(request: Request) -> bool:
    text = prompt_text(request)
    return sum(not c.isascii() for c in text) <= MAX_NON_ASCII * len(text)


def choose(requests: list[Request]) -> list[Request]:
    templates: dict[str, list[Request]] = defaultdict(list)
    conversations: dict[str, list[Request]] = defaultdict(list)
    low, high = PROMPT_CHARS
    for request in requests:
        if request["kind"] in TEMPLATE_KINDS:
            if low <= len(prompt_text(request)) <= high and english(request):
                templates[request["app"]].append(request)
        elif request["app"].startswith(CONVERSATION_APPS):
            conversations[request["session_id"]].append(request)

    chosen = []
    for rows in templates.values():
        prefix = shared_prefix(rows)
        if not PREFIX_CHARS[0] <= prefix <= PREFIX_CHARS[1]:
            continue
        rows = [r for r in rows if prefix >= PREFIX_SHARE * len(prompt_text(r))]
        if len(rows) >= MIN_REQUESTS:
            share = PER_TEMPLATE / len(rows)
            chosen += [r for r in rows if fraction(r["request_id"]) < share]
    for session, rows in conversations.items():
        whole = [r["turn"] for r in rows] == list(range(1, len(rows) + 1))
        longest = max(len(prompt_text(r)) for r in rows)
        if whole and low <= longest <= high and all(map(english, rows)) and fraction(session) < CONVERSATIONS_KEPT:
            chosen += rows
    return sorted(chosen, key=lambda r: (r["timestamp"], r["request_id"]))


def line(request: Request) -> str:
    """The request as a server would have logged it: no labels, an opaque session id."""
    session = request["session_id"]
    kept = {
        "request_id": request["request_id"],
        "timestamp": request["timestamp"],
        "tenant": request["tenant"],
        "session_id": session and "s-" + hashlib.sha256(session.encode()).hexdigest()[:12],
        "turn": request["turn"],
        "messages": request["messages"],
    }
    return json.dumps(kept) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compose the demo log.")
    parser.add_argument("data_dir", type=Path, metavar="DATA_DIR", help="folder that holds log/prodlog_3day.*")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the .jsonl.xz to write")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="also write request_id -> app as JSON, for checks")
    args = parser.parse_args()

    log = args.data_dir / "log"
    segments = {row["id"]: row for row in read_lines(log / "prodlog_3day.segments.jsonl.gz")}
    resolved = (resolve(row, segments) for row in read_lines(log / "prodlog_3day.requests.jsonl.gz"))
    chosen = choose([r for r in resolved if r is not None])

    text = "".join(map(line, chosen)).encode()
    args.output.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    if args.labels:
        args.labels.write_text(json.dumps({r["request_id"]: r["app"] for r in chosen}), encoding="utf-8")

    by_source: Counter[str] = Counter()
    for request in chosen:
        by_source.update({s.partition(":")[0] for s in request["sources"]})
    tenants = len({r["tenant"] for r in chosen})
    print(f"{len(chosen)} requests, {tenants} tenants, {len({r['app'] for r in chosen})} apps", file=sys.stderr)
    for source, count in sorted(by_source.items()):
        print(f"{count:6} requests have text of {source} ({LICENCES[source]})", file=sys.stderr)


if __name__ == "__main__":
    main()
