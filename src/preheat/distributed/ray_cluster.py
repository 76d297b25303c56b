"""Ray: joined or started, asked to run functions, and left as it was. Imported here and nowhere else."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from preheat.distributed.settings import DistributedSettings
from preheat.distributed.tasks import Executor, Lost
from preheat.errors import BadInput, EngineDenied, EngineFailed, EngineFault, EngineUnreachable, PreheatError

LOCAL = "local"
_ADDRESS = re.compile(r"(ray://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})")
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "GRPC_VERBOSITY": "NONE",
    "RAY_ENABLE_AUTO_CONNECT": "0",
}
"""Nothing is told to Ray's makers, nor written between our own lines; and no cluster takes the place of a lost one."""
_LARGE_BYTES = 100_000
_TICK_S = 2.0
_SLOTS_EVERY_S = 5.0
_SHORT_PATH = 30
"""Ray lays sockets below its folder, whose names may have no more than 107 characters."""
_INSTALL = "pip install 'preheat[ray]'"


@contextlib.contextmanager
def connected(cluster: str, settings: DistributedSettings) -> Iterator[Executor]:
    """A cluster to run on; one that was started for it ends with it, and leaves no file."""
    if cluster != LOCAL and not _ADDRESS.fullmatch(cluster):
        raise BadInput(f"{cluster!r} is no cluster", "give local, HOST:PORT, or ray://HOST:PORT")
    ray = _ray()
    with contextlib.ExitStack() as stack:
        if cluster == LOCAL:
            folder = stack.enter_context(_folder())
            options = {
                "address": "local",
                "num_cpus": len(os.sched_getaffinity(0)),
                "include_dashboard": False,
                "object_store_memory": settings.object_store_bytes,
                "_temp_dir": folder,
            }
        else:
            _knock(cluster, settings.connect_s)
            options = {"address": cluster}
        sink = stack.enter_context(Path(os.devnull).open("w"))
        stack.enter_context(contextlib.redirect_stdout(sink))  # where Ray's driver tells of nodes that died
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", module="ray")
        stack.callback(_leave, ray)
        _join(ray, cluster, options)
        yield _Ray(ray, cluster, settings.without_workers_s)


def _ray() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import grpc  # noqa: F401
        import ray
    except ImportError as error:
        raise BadInput(f"mining on a cluster needs Ray, and {error.name} is missing", _INSTALL) from error
    return ray


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    """For a local cluster's sockets, and for what of the log does not fit in its memory; mode 0700."""
    usual = tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="preheat-ray-", dir=usual if len(usual) <= _SHORT_PATH else "/tmp")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_JOINS = 3


def _knock(cluster: str, timeout_s: float) -> None:
    """Raises where nothing at the address speaks Ray's protocol: Ray itself would wait for it for minutes."""
    import grpc

    if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
        return
    channel = grpc.insecure_channel(cluster.removeprefix("ray://"))
    try:
        grpc.channel_ready_future(channel).result(timeout=timeout_s)
    except grpc.FutureTimeoutError as error:
        raise EngineUnreachable(f"no Ray cluster answers at {cluster}", _address_remedy(cluster)) from error
    finally:
        channel.close()


def _address_remedy(cluster: str) -> str:
    if cluster.startswith("ray://"):
        return "start it, and give the port of its Ray client server (10001 unless told otherwise)"
    return "start it, and give the address that 'ray start --head' printed; or ray://HOST:10001 from elsewhere"


def _join(ray: Any, cluster: str, options: dict[str, Any]) -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        _init(ray, cluster, options)
        logging.getLogger("ray").setLevel(logging.CRITICAL)
    except PreheatError:
        raise
    except ray.exceptions.AuthenticationError as error:
        raise EngineDenied(
            f"the Ray cluster at {cluster} refuses us", "set RAY_AUTH_TOKEN, see Ray's manual"
        ) from error
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:300] or type(error).__name__
        if "mismatch" in said.lower():
            raise EngineFault(
                f"the Ray cluster at {cluster} is of other versions: {said}",
                "use the same Python and Ray on both sides",
            ) from error
        what = "a local Ray cluster does not start" if cluster == LOCAL else f"cannot join the Ray cluster at {cluster}"
        remedy = "see that memory and /dev/shm are free" if cluster == LOCAL else _address_remedy(cluster)
        raise EngineUnreachable(f"{what}: {said}", remedy) from error
    finally:
        for number, handler in handlers.items():
            with contextlib.suppress(ValueError):  # not in the main thread, where it was not changed either
                signal.signal(number, handler)


def _init(ray: Any, cluster: str, options: dict[str, Any]) -> None:
    """A busy head node may fail to start a client's server in the time that Ray allows; then it is asked anew."""
    for left in reversed(range(_JOINS if cluster.startswith("ray://") else 1)):
        try:
            ray.init(**options, log_to_driver=False, logging_level=logging.CRITICAL)
        except ConnectionError:
            if not left:
                raise
            _leave(ray)
        else:
            return


def _leave(ray: Any) -> None:
    with contextlib.suppress(Exception):
        ray.shutdown()


class _Ray:
    """See :class:`Executor`."""

    def __init__(self, ray: Any, cluster: str, without_workers_s: float) -> None:
        self._ray, self._cluster, self._patience_s = ray, cluster, without_workers_s
        self._functions: dict[Callable[..., Any], Any] = {}
        self._slots, self._asked_s = 1, float("-inf")
        self._worked_s = time.monotonic()
        failures = ray.exceptions
        self._losses = (
            failures.WorkerCrashedError,
            failures.NodeDiedError,
            failures.OutOfMemoryError,
            failures.ObjectLostError,
            failures.LocalRayletDiedError,
        )

    def slots(self) -> int:
        now_s = time.monotonic()
        if now_s - self._asked_s > _SLOTS_EVERY_S:
            processors = self._told(lambda: self._ray.cluster_resources().get("CPU", 0))
            self._asked_s, self._slots = now_s, max(1, 2 * int(processors))
            if processors >= 1:
                self._worked_s = now_s
            elif now_s - self._worked_s > self._patience_s:
                raise EngineUnreachable(
                    f"the Ray cluster at {self._cluster} has had no processor for {self._patience_s:.0f} s",
                    "add a node to it",
                )
        return self._slots

    def start(self, function: Callable[..., Any], *arguments: Any) -> Any:
        remote = self._functions.get(function)
        if remote is None:
            remote = self._ray.remote(num_cpus=1, max_retries=0)(function)
            self._functions[function] = remote
        return self._told(lambda: remote.remote(*map(self._placed, arguments)))

    def _placed(self, argument: Any) -> Any:
        """What is large goes by way of the object store; a client would warn of it otherwise."""
        large = isinstance(argument, bytes) and len(argument) > _LARGE_BYTES
        return self._ray.put(argument) if large else argument

    def wait(self, handles: Sequence[Any]) -> Sequence[Any]:
        self.slots()
        ended: Sequence[Any] = self._told(lambda: self._ray.wait(handles, num_returns=1, timeout=_TICK_S))[0]
        return ended

    def result(self, handle: Any) -> Any:
        try:
            return self._told(lambda: self._ray.get(handle))
        except self._losses as loss:
            raise Lost(f"{type(loss).__name__}: {' '.join(str(loss).split())[:200]}") from loss
        except self._ray.exceptions.RayTaskError as error:
            raise self._cause(error) from error
        except self._ray.exceptions.RayError as error:
            raise EngineFailed(
                f"Ray fails: {type(error).__name__}: {' '.join(str(error).split())[:300]}", "see the cluster's log"
            ) from error

    def cancel(self, handle: Any) -> None:
        with contextlib.suppress(Exception):
            if self._ray.is_initialized():
                self._ray.cancel(handle, force=True)

    def _cause(self, error: Any) -> Exception:
        cause = error.cause
        missing = cause.name if isinstance(cause, ImportError) else None
        if missing is None and "failed to import" in str(error):
            missing = "preheat"
        if missing is not None:
            return EngineFault(
                f"the cluster's workers lack {missing}", "install this version of preheat on all its nodes"
            )
        return cause if isinstance(cause, Exception) else EngineFailed(" ".join(str(error).split())[:300])

    def _told(self, call: Callable[[], Any]) -> Any:
        import grpc

        try:
            return call()
        except (OSError, grpc.RpcError, self._ray.exceptions.RayError) as error:
            if isinstance(error, self._ray.exceptions.RayError) and self._ray.is_initialized():
                raise
            raise EngineUnreachable(
                f"the connection to the Ray cluster at {self._cluster} is lost", "see its head node, and mine again"
            ) from error
