"""The cost of a sweep on a Dask cluster, and its scaling from one worker to two.

``python python/benchmarks/sweeps.py [CHUNKS]``, on a quiet machine with two cores. Every chunk is some two seconds of
work. The scheduler runs in this process, the workers in processes of one thread each; nothing is stored. Times are by
the clock, from the call of ``cwnd.sweep`` to its result, with workers that have done a task before.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

from distributed import Client, LocalCluster

import cwnd

CELLS = 4
"""Runs of a chunk."""
RUN = {"rate": "100mbit", "rtt": "50ms", "duration": "120s", "warmup": "10s", "seeds": CELLS}
"""A million packets, which the rule of thumb takes for half a second."""
EMPTY = {"rate": "1mbit", "rtt": "50ms", "duration": "100ms", "warmup": "10ms", "seeds": 1}
"""Hardly anything, so that the cost of a task remains."""


def sweep(chunks: int, path: dict[str, Any]) -> cwnd.Sweep:
    """Make a sweep of `chunks` chunks with different seeds."""
    seeds = [1 + path["seeds"] * chunk for chunk in range(chunks)]
    return cwnd.Sweep(cwnd.Scenario.dumbbell("reno", **path), grid={"first_seed": seeds})


def took(work: cwnd.Sweep, chunk: str, client: Client | None) -> float:
    """Run a sweep, by the clock."""
    began = time.perf_counter()
    result = cwnd.sweep(work, chunk=chunk, client=client, store=False, progress=False)
    assert len(result.table) == work.cells
    assert not result.failed
    return time.perf_counter() - began


def main() -> None:
    """Print a line for each way to run the same sweep."""
    if os.environ.get("RAYON_NUM_THREADS") is None:
        # Runs in this process are compared with one worker of one thread.
        sys.exit(
            subprocess.run(
                [sys.executable, *sys.argv], env={**os.environ, "RAYON_NUM_THREADS": "1"}, check=False
            ).returncode
        )
    chunks = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    work, empty = sweep(chunks, RUN), sweep(25 * chunks, EMPTY)
    here = took(work, "2s", None)
    print(f"{here:8.2f} s  here, on one thread: {work.chunks('2s')} chunks, {work.cells} cells")
    alone = took(empty, "1ms", None)
    of_workers: dict[int, float] = {}
    for workers in (1, 2):
        local = {"processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
        with LocalCluster(n_workers=workers, **local) as cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
            took(sweep(8, EMPTY), "1ms", client)
            of_workers[workers] = took(work, "2s", client)
            share = here / of_workers[workers]
            print(f"{of_workers[workers]:8.2f} s  on {workers} of Dask's workers: {share:.2f} of the speed here")
            if workers == 1:
                each = (took(empty, "1ms", client) - alone) / empty.chunks("1ms")
                print(f"{1e3 * each:8.2f} ms more for every task of {empty.chunks('1ms')} that do hardly anything")
    print(f"{of_workers[1] / of_workers[2]:8.2f} times the speed on two workers")


if __name__ == "__main__":
    main()
