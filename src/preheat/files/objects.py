"""Object stores (extra ``preheat[objects]``): logs named by URL, listed and opened through fsspec."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from preheat.errors import BadInput, EngineUnreachable, PreheatError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
}
"""What fsspec itself needs for the commonest stores."""
_MAGIC = re.compile(r"[*?\[]")
T = TypeVar("T")


def is_url(path: str) -> bool:
    """Whether ``path`` names an object rather than a file."""
    return _URL.match(path) is not None


def list_objects(url: str, is_log: Callable[[str], bool]) -> list[str]:
    """The objects that ``url`` names: one, those that a pattern matches, or the logs below a prefix; sorted.

    Raises :class:`BadInput` for one that leads to nothing, for a store that there is no package for, and for what the
    store refuses; the credentials are the store's own (environment, configuration files).
    """
    store, path = _store(url)

    def find() -> list[str]:
        if _MAGIC.search(path):
            return sorted(map(str, store.glob(path)))
        if store.isfile(path):
            return [path]
        return sorted(found for found in map(str, store.find(path)) if is_log(found.removeprefix(path)))

    found = _asked(url, find)
    if not found:
        raise BadInput(f"nothing matches {shown(url)}", "check the address; a prefix is searched for log extensions")
    scheme = url.split("://", 1)[0]
    return [each if is_url(each) else f"{scheme}://{each}" for each in found]


def open_object(url: str) -> BinaryIO:
    """The object's bytes, as a stream. Raises :class:`BadInput`, here and from reads, see :func:`list_objects`."""
    store, path = _store(url)
    return cast(BinaryIO, _Object(url, _asked(url, lambda: store.open(path, "rb"))))


class _Object(io.RawIOBase):
    """An object's bytes, with the store's own exceptions turned into ours."""

    def __init__(self, url: str, inner: Any) -> None:
        super().__init__()
        self._url, self._inner = url, inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._inner.seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(_asked(self._url, lambda: self._inner.seek(offset, whence)))

    def readinto(self, buffer: WriteableBuffer) -> int:
        return int(_asked(self._url, lambda: self._inner.readinto(buffer)))

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()


def shown(url: str) -> str:
    """The address without what may be a secret in it: a user, a password, a signature."""
    return re.sub(r"\?.*", "", re.sub(r"//[^/@]*@", "//", url))[:200]


def _store(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise BadInput(
            f"{shown(url)} is in an object store, which needs fsspec", "pip install 'preheat[objects]'"
        ) from error
    scheme = url.split("://", 1)[0].lower()
    package = _PACKAGES.get(scheme, "a package for it")
    try:
        found: tuple[Any, str] = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise BadInput(
            f"{shown(url)}: {scheme}:// cannot be read here: {error}", f"pip install {package}, or copy the log here"
        ) from error
    except Exception as error:
        raise _refused(url, error) from error
    return found


def _asked(url: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except PreheatError:
        raise
    except FileNotFoundError as error:
        raise BadInput(f"there is no {shown(url)}", "check the address") from error
    except Exception as error:
        raise _refused(url, error) from error


def _refused(url: str, error: Exception) -> PreheatError:
    kind = EngineUnreachable if isinstance(error, ConnectionError | TimeoutError) else BadInput
    return kind(
        f"cannot read {shown(url)}: {type(error).__name__}",
        "check the address, the network and the store's credentials",
    )
