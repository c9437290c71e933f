"""The cluster: made for one run and closed, or reached at an address; and what can go wrong."""

from __future__ import annotations

import gc
import logging
import os
import platform
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.metadata import version
from multiprocessing import resource_tracker
from typing import Any

from gscli.base import CannotRead, CannotWrite, UsageError, check_rule
from gscli.base.words import sanitize
from gscli.files.content import import_extra
from gscli.stream.cluster.tasks import SAME_NAMES

# Seconds to wait for a scheduler, and for its first worker.
CONNECT_TIMEOUT = 10

# Seconds to wait for tasks in mid-work when a run has failed.
CANCEL_TIMEOUT = 30

# A level of logging above all that is logged.
SILENT_LOG_LEVEL = 60

# Of our own cluster nothing is shown by HTTP (no dashboard, no metrics, no tasks), nor of its end.
#
# A callback that was due when a worker's connection closed fails; Tornado, not Dask, would log
# that.
CONFIG = {
    "distributed.comm.retry.count": 2,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING": "{'tornado.application': 'critical'}",
}

LOOPBACK = "127.0.0.1"

# After Ctrl-C Python's watcher frees what workers shared, which it need not say.
TRACKER_WARNINGS = "ignore:resource_tracker"

PACKAGES = ("gscli", "numpy", "zarr", "distributed")


@contextmanager
def cluster_client(address: str, *, workers: int | None = None) -> Iterator[Any]:
    """A client of the scheduler at an address; without one, of workers of this machine's cores.

    Raises CannotRead where nobody answers, CannotWrite where the cluster goes away in mid-work.
    """
    distributed = import_extra("distributed", "dask")
    import dask  # comes with distributed

    with _silence_dask_logs(), dask.config.set(CONFIG), ExitStack() as stack:
        where: Any = address
        if not address:
            where = _start_local_cluster(distributed, workers or os.cpu_count() or 1)
            stack.callback(where.close)
        client = stack.enter_context(closing(_connect(distributed, where)))
        with _translate_dask_errors(distributed, address):
            yield client


@contextmanager
def _silence_dask_logs() -> Iterator[None]:
    """Dask logs tracebacks of what is told of here as an error, and warns of large inputs.

    So do asyncio, when tasks of Dask that failed are freed and nobody waited for them, and Tornado,
    when a callback comes late and finds its connection closed.
    """
    loggers = logging.root.manager.loggerDict
    names = ["asyncio", *(name for name in loggers if name.startswith(("distributed", "tornado")))]
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in levels:
        logger.setLevel(SILENT_LOG_LEVEL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            yield
    except BaseException:
        gc.collect()
        raise
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _start_local_cluster(distributed: Any, workers: int) -> Any:
    """Workers of this machine that nobody else reaches: on loopback, with their own certificates.

    A scheduler runs what a client sends. Whoever has no certificate of this run is turned away when
    it connects (`distributed.security`, "TLS/SSL").
    """
    import_extra("cryptography", "dask")
    try:
        with _block_sigint():
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host=LOOPBACK,
                protocol="tls://",
                security=distributed.Security.temporary(),
                scheduler_kwargs={"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
                silence_logs=SILENT_LOG_LEVEL,
            )
    except (OSError, RuntimeError, TimeoutError) as error:
        problem = "no workers could be started on this machine"
        where = f"--engine dask: {sanitize(str(error), 100)}"
        hint = "leave --engine out: the result is the same"
        raise CannotRead(problem, where=where, hint=hint) from error


@contextmanager
def _block_sigint() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; workers started here wait for this one to act.

    A process begins with the signals blocked that its starter blocked. Python's own watcher of
    resources would let them in again when it is started, and so must be there before.
    """
    sys.warnoptions.append(TRACKER_WARNINGS)
    resource_tracker.ensure_running()
    sys.warnoptions.remove(TRACKER_WARNINGS)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connect(distributed: Any, where: Any) -> Any:
    try:
        client = distributed.Client(where, timeout=CONNECT_TIMEOUT, set_as_default=False)
        client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        place = f"--engine dask={sanitize(str(where), 100)}: {sanitize(str(error), 100)}"
        legal = "the address of a scheduler with workers, such as tcp://host:8786"
        raise CannotRead("no Dask cluster answers", where=place, valid=legal) from error
    return client


@contextmanager
def _translate_dask_errors(distributed: Any, address: str) -> Iterator[None]:
    """What Dask raises in mid-work, as CannotWrite: the folder in the making is removed."""
    from concurrent.futures import CancelledError

    gone = distributed.KilledWorker, distributed.comm.CommClosedError, OSError, TimeoutError
    try:
        yield
    except (*gone, CancelledError, distributed.client.FutureCancelledError) as error:
        raise CannotWrite(
            "the cluster did not finish the work",
            where=f"{sanitize(address) or 'its workers'}: {type(error).__name__}",
            details=(
                "nothing was put in place",
                "what a worker may have left, OUT.gscli-xxxxxxxx, is removed by the next run",
                sanitize(" ".join(str(error).split()), 200),
            ),
            hint="run the command again",
        ) from error


def package_versions() -> dict[str, str]:
    """What runs here: Python and the packages that must be the same everywhere."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def missing_paths(paths: Sequence[str]) -> list[str]:
    """Which of some paths are not there for this process."""
    return [path for path in paths if not os.path.exists(path)]


def _ask_workers(client: Any, function: Any, *arguments: Any) -> dict[str, Any]:
    """What each worker says; of one that dies meanwhile, nothing."""
    answers = client.run(function, *arguments, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, ImportError):
            where = f"{worker}: {sanitize(str(answer), 100)}"
            hint = "install gscli[dask] where workers run"
            raise UsageError("a worker of the cluster has no gscli", where=where, hint=hint)
    return {worker: a for worker, a in answers.items() if not isinstance(a, Exception)}


def check_workers(client: Any, paths: Sequence[str]) -> None:
    """Every worker must run the same versions and see the same files. Raises UsageError."""
    own = package_versions()
    for worker, there in _ask_workers(client, package_versions).items():
        other = [name for name in own if own[name] != there[name]]
        details = (f"{name} {own[name]} here, {there[name]} there" for name in other)
        problem = "a worker runs other versions"
        hint = "install the same where workers run: bits and formats depend on them"
        check_rule(not other, problem, worker, *details, kind=UsageError, hint=hint)
    for worker, missing in _ask_workers(client, missing_paths, list(paths)).items():
        problem = f"a worker cannot see {', '.join(map(sanitize, missing[:3]))}"
        check_rule(not missing, problem, worker, kind=CannotRead, hint=SAME_NAMES)


def cancel_futures(client: Any, futures: Iterable[Any]) -> None:
    """Cancel the tasks of a run that failed, and wait for those that are in mid-work.

    A worker that still writes would bring the folder back that is removed next.
    """
    deadline = time.monotonic() + CANCEL_TIMEOUT
    with suppress(Exception):  # the cluster may be what failed
        client.cancel(list(futures), force=True)
        while client.status == "running" and time.monotonic() < deadline:
            if not any(_ask_workers(client, count_running_tasks).values()):
                return
            time.sleep(0.05)


def count_running_tasks(dask_worker: Any) -> int:
    """Tasks that a worker is at, cancelled ones too."""
    return int(dask_worker.state.executing_count)
