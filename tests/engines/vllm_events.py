"""Runs in vLLM's environment: prints the ``BlockStored`` events published at an address, one JSON object a line.

Argument: ADDRESS. Says ``listening`` first. Events are arrays with their type in front, or maps with ``type``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec
import zmq

FIELDS = ("type", "block_hashes", "parent_block_hash", "token_ids", "block_size")


def main(address: str) -> None:
    """Listens until it is killed."""
    socket = zmq.Context().socket(zmq.SUB)
    socket.setsockopt(zmq.SUBSCRIBE, b"")
    socket.connect(address)
    print("listening", flush=True)
    while True:
        _topic, _number, payload = socket.recv_multipart()
        _time, events, *_rank = msgspec.msgpack.decode(payload)
        for event in map(_by_name, events):
            if event["type"] == "BlockStored":
                print(json.dumps({name: event.get(name) for name in FIELDS}, default=bytes.hex), flush=True)


def _by_name(event: Any) -> dict[str, Any]:
    return event if isinstance(event, dict) else dict(zip(FIELDS, event, strict=False))


if __name__ == "__main__":
    main(sys.argv[1])
