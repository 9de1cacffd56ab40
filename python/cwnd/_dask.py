"""Sweeps and searches on Dask: chunks and evaluations go to workers as tasks, rows and outcomes come back."""

from __future__ import annotations

from asyncio import CancelledError, sleep
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cwnd import _native
from cwnd.errors import ArgumentError, SimulationError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["evaluating", "run"]


def run(sweeping: _native.Sweeping, client: Client | str, report: Callable[[], None]) -> None:
    """Run a sweep on the workers of a cluster.

    Rows are written here and nowhere else, each chunk's when its task comes back: that a worker is lost, or that a task
    is done twice, can change nothing. Tasks are named after their computation, so that Dask runs equal ones once.

    Parameters
    ----------
    sweeping : Sweeping
        The sweep.
    client : distributed.Client or str
        The cluster, or the address of its scheduler.
    report : callable
        Called now and then.
    """
    with _connected(client) as connected:
        import distributed  # noqa: PLC0415  (an optional dependency)

        left = _tasks(sweeping)
        # By identity: points that are the same scenario have futures of one task.
        running: dict[int, tuple[int, Any]] = {}
        ended: Any = distributed.as_completed(loop=connected.loop, raise_errors=False)  # type: ignore[no-untyped-call]
        work = _work()

        def hand_out() -> None:
            while len(running) < AHEAD and (task := next(left, None)) is not None:
                index, key, text = task
                future = connected.submit(work, text, key=f"cwnd-sweep-{key}", pure=True)
                running[id(future)] = index, future
                ended.add(future)

        try:
            hand_out()
            report()
            while running:
                batch = list(ended.next_batch())
                for future, came in zip(batch, _fetched(connected, batch), strict=True):
                    index, _ = running.pop(id(future))
                    future.release()
                    _come_back(sweeping, index, came)
                hand_out()
                report()
        finally:
            # Not cancelled: that goes by the name, and would end equal tasks of others, or of the next attempt.
            for _, future in running.values():
                future.release()
            # Dask forgets in another thread. The next attempt must not get the failures of this one.
            with suppress(RuntimeError):
                connected.sync(sleep, 0)


@contextmanager
def evaluating(client: Client | str) -> Iterator[Callable[[list[str]], Iterator[list[str] | None]]]:
    """Let the workers of a cluster evaluate for a search.

    Parameters
    ----------
    client : distributed.Client or str
        The cluster, or the address of its scheduler.

    Yields
    ------
    callable
        Takes requests, a task each. Its iterator gives None while they are under way, and then their answers.
    """
    with _connected(client) as connected:
        import distributed  # noqa: PLC0415  (an optional dependency)

        work = _evaluate()

        def answers(requests: list[str]) -> Iterator[list[str] | None]:
            # A cluster keeps no outcome: the next search may have other workers.
            futures = connected.map(work, requests, pure=False)
            try:
                waiting = True
                while waiting:
                    try:
                        distributed.wait(futures, timeout=LOOK)  # type: ignore[no-untyped-call]
                        waiting = False
                    except distributed.TimeoutError:
                        yield None
                yield [_answer(came) for came in _fetched(connected, futures)]
            finally:
                connected.cancel(futures)

        yield answers


def _evaluate() -> Callable[[str], str]:
    """Make the function of the workers that evaluates, for the reason of :func:`_work`."""

    def evaluate(request: str) -> str:
        from cwnd import _falsify, _native  # noqa: PLC0415  (of the worker)

        return _native.falsify_task(_falsify.worker(), request)

    return evaluate


def _answer(came: Any) -> str:
    from distributed import KilledWorker  # noqa: PLC0415  (an optional dependency)

    if isinstance(came, KilledWorker):
        return f"error: its worker was lost, and those that had it after that one: {came}"
    if isinstance(came, BaseException):
        raise SimulationError(_reason(came)) from came
    return str(came)


def _work() -> Callable[[str], Any]:
    """Make the function of the workers.

    A function within a function goes to them as code, not as a name that they would have to find: a worker without
    cwnd fails at its task, with a word about it, instead of ending.
    """

    def work(task: str) -> Any:
        from cwnd import _native  # noqa: PLC0415  (of the worker)

        return _native.sweep_task(task)

    return work


def _tasks(sweeping: _native.Sweeping) -> Iterator[tuple[int, str, str]]:
    """List the runs that the store lacks."""
    for index in range(len(sweeping)):
        task = sweeping.task(index)
        if task is not None:
            yield index, *task


def _fetched(client: Any, futures: list[Any]) -> list[Any]:
    """Fetch the results of tasks: outcomes, or exceptions. Tasks of a lost worker are done again."""
    try:
        # Together, because asking costs more than an answer.
        fetched: list[Any] = client.gather(futures)
    except (Exception, CancelledError):
        fetched = [_each(future) for future in futures]
    return fetched


def _each(future: Any) -> Any:
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        return error


def _come_back(sweeping: _native.Sweeping, index: int, came: Any) -> None:
    from distributed import KilledWorker  # noqa: PLC0415  (an optional dependency)

    if isinstance(came, KilledWorker):
        sweeping.lose(index, f"its worker was lost, and those that had it after that one: {came}")
    elif isinstance(came, BaseException):
        raise SimulationError(_reason(came)) from came
    else:
        sweeping.take(index, came)


def _reason(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return f"client: a worker cannot import cwnd ({error}): install the build of this machine on all of them"
    if isinstance(error, CancelledError):
        return f"client: the cluster has given up: {error}"
    return f"client: a worker refused its task: {error}"


@contextmanager
def _connected(client: Client | str) -> Iterator[Any]:
    try:
        import distributed  # noqa: PLC0415  (an optional dependency)
    except ImportError as error:
        raise ImportError("clusters need Dask: pip install 'cwnd[dask]'") from error
    if isinstance(client, str):
        try:
            opened = distributed.Client(client, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise ArgumentError(f"client: no scheduler at `{client}`: {error}") from error
        with opened:
            yield opened
    elif isinstance(client, distributed.Client) and not client.asynchronous:
        yield client
    else:
        raise ArgumentError(
            "client: expected a distributed.Client that is not asynchronous, or the address of a scheduler"
        )


LOOK = "200ms"
"""How often an interruption is looked for while workers evaluate."""

AHEAD = 2000
"""Tasks handed out at once: an adaptive cluster sees the work ahead, and its scheduler keeps megabytes of it."""
