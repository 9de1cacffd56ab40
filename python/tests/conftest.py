"""What several files of tests share."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest


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
