"""What several files of tests share."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import dask
import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    """Two workers, each a process."""
    local = {"processes": True, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "silence_logs": "CRITICAL"}
    # A worker that is killed twice within this time would not be replaced.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with patient, LocalCluster(n_workers=2, threads_per_worker=1, **local) as cluster, Client(cluster) as connected:  # type: ignore[no-untyped-call]
        yield connected


@pytest.fixture
def client(cluster: Client) -> Client:
    """Wait for workers that a test before this one has killed."""
    cluster.wait_for_workers(2, timeout=60)
    return cluster


@pytest.fixture
def ends_by_ctrl_c() -> Callable[[str], None]:
    """Run a line that would take minutes in a process of its own, where ``Reno`` is in Python, and interrupt it."""
    return _ends_by_ctrl_c


def _ends_by_ctrl_c(line: str) -> None:
    code = (
        "import cwnd, sys\n"
        "class Reno(cwnd.WindowRule):\n"
        "    def grow(self, w, view): return 1 / w\n"
        "    def cut(self, w, view): return w / 2\n"
        "print('go', flush=True)\n"
        "try:\n"
        f"    {line}\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 7
        assert time.monotonic() - began < 10
