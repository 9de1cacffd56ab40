"""Costs of Python: importing the package, starting a run, an algorithm in Python per acknowledgement, evaluations.

``python costs.py [COMMAND]``: the command line's program is compared with if it is given.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cwnd

SETTINGS: dict[str, Any] = {
    "rate": "100mbit",
    "rtt": "50ms",
    "duration": "60s",
    "warmup": "10s",
    "seeds": 1,
    "sampling": "off",
}


class Rule(cwnd.WindowRule):
    """Reno: the part of an algorithm under the shell."""

    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2.0


class Whole(cwnd.CongestionControl):
    """Roughly Reno, with two calls per acknowledgement."""

    def __init__(self) -> None:
        self.window = 10.0
        self.epoch_from = 0

    def control(self) -> float:
        return self.window

    def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:
        if not view.in_recovery:
            self.window += ack.newly / self.window

    def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
        if event.first >= self.epoch_from:
            self.window = max(1.0, self.window / 2.0)
            self.epoch_from = view.next


def median(work: Callable[[], object], times: int = 7) -> float:
    """Time some work.

    Returns
    -------
    float
        The median, seconds.
    """
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def process(*command: str) -> Callable[[], object]:
    """Start a program.

    Returns
    -------
    callable
        Runs it to its end.
    """
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measured(scenario: cwnd.Scenario) -> object:
    """Do the work of the command.

    Returns
    -------
    dict
        The document that the command prints.
    """
    return cwnd.run(scenario).document


def import_time() -> None:
    """Compare starting Python with starting it and importing the package."""
    bare = median(process(sys.executable, "-c", "pass"))
    numpy = median(process(sys.executable, "-c", "import numpy"))
    ours = median(process(sys.executable, "-c", "import cwnd"))
    print(f"import: {(ours - bare) * 1e3:.0f} ms, of which NumPy {(numpy - bare) * 1e3:.0f} ms")


def overhead(program: str | None) -> None:
    """Compare a short and a long run here with the same on the command line."""
    for duration in ("1s", "600s"):
        settings = {**SETTINGS, "duration": duration, "warmup": "0s"}
        scenario = cwnd.Scenario.dumbbell("reno", **settings)
        here = median(partial(measured, scenario))
        line = f"{duration} of one flow at 100 Mbit/s: cwnd.run {here * 1e3:.1f} ms"
        if program is not None:
            with tempfile.TemporaryDirectory() as directory:
                file = Path(directory, "scenario.toml")
                file.write_text(scenario.to_toml())
                there = median(process(program, "run", str(file), "--json"))
                line += f", the command {there * 1e3:.1f} ms"
        print(line)


def per_ack() -> None:
    """Compare algorithms in Python with the built-in one over the same path."""
    for flow in ("reno", Rule, Whole):
        scenario = cwnd.Scenario.dumbbell(flow, **SETTINGS)
        result = cwnd.run(scenario)
        packets = int(result.trace["delivered_packets"][-1])
        taken = median(partial(cwnd.run, scenario), times=5)
        name = flow if isinstance(flow, str) else flow.__name__
        print(f"{name}: {taken / packets * 1e9:.0f} ns per packet delivered and acknowledged ({packets} packets)")


def evaluations() -> None:
    """Count the cells of the standard grid in an hour, on all cores of which the process has the use."""
    for algorithm, settings in (("simd", {"seeds": 1}), ("simd", {"quick": True}), (Rule, {"quick": True})):
        start = time.perf_counter()
        evaluation = cwnd.evaluate(algorithm, **settings)
        taken = time.perf_counter() - start
        cells, length = (evaluation.document[key] for key in ("cells", "duration_s"))
        print(
            f"cwnd.evaluate, {evaluation.algorithm}, {settings}: {cells} cells of {length:.0f} s in {taken:.1f} s,"
            f" {cells / taken * 3600:,.0f} per hour on {len(os.sched_getaffinity(0))} cores"
        )


if __name__ == "__main__":
    print(json.dumps({"cwnd": cwnd.__version__, "python": sys.version.split()[0]}))
    import_time()
    overhead(sys.argv[1] if len(sys.argv) > 1 else None)
    per_ack()
    evaluations()
