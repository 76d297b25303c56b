"""Parquet files (extra ``preheat[parquet]``): rows as objects, read a few at a time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from preheat.errors import BadInput
from preheat.records.request import ReadReport

_MAGIC = b"PAR1"
_BATCH_ROWS = 256
_COPY_BYTES = 1 << 20
Row = dict[str, Any]
"""Column name to value: text, number, list, object, time..."""


class ParquetRows:
    """The framing of Parquet. Its index stands at the end: what cannot be wound back is first copied to a file."""

    name = "Parquet rows"

    def opens(self, head: bytes) -> bool:
        return head.startswith(_MAGIC)

    def records(self, stream: BinaryIO, name: str, report: ReadReport) -> Iterator[tuple[str, Row]]:
        """``FILE:ROW``, from 1."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise BadInput(
                f"{name} is a Parquet file, which needs pyarrow", "pip install 'preheat[parquet]'"
            ) from error
        with _seekable(stream) as source:
            try:
                yield from _rows(pyarrow.parquet.ParquetFile(source), name, report)
                report.bytes += source.seek(0, 2)
            except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as error:
                if isinstance(error, BadInput):
                    raise
                reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
                raise BadInput(f"{name} is a damaged Parquet file: {reason}", "write or copy it again") from error


PARQUET_ROWS = ParquetRows()


def _rows(file: Any, name: str, report: ReadReport) -> Iterator[tuple[str, Row]]:
    number = 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS):
        for row in _whole_microseconds(batch).to_pylist():
            number += 1
            report.lines += 1
            yield f"{name}:{number}", row


def _whole_microseconds(batch: Any) -> Any:
    """Python's times end at microseconds; finer columns are cut to them."""
    import pyarrow

    for at, field in enumerate(batch.schema):
        if pyarrow.types.is_timestamp(field.type) and field.type.unit == "ns":
            coarse = batch.column(at).cast(pyarrow.timestamp("us", field.type.tz), safe=False)
            batch = batch.set_column(at, field.name, coarse)
    return batch


def _seekable(stream: BinaryIO) -> Any:
    if stream.seekable():
        return stream
    copy = tempfile.TemporaryFile(prefix="preheat-")  # noqa: SIM115 - closed by the caller
    shutil.copyfileobj(stream, copy, _COPY_BYTES)
    copy.seek(0)
    return copy
