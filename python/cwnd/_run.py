"""Running scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwnd import _native
from cwnd._arguments import mapping, optional, text, whole
from cwnd._kept import Made
from cwnd._runs import RunResult
from cwnd._scenario import Scenario

__all__ = ["run"]


def run(scenario: Scenario | Mapping[str, Any], *, seed: int | None = None, memory: str | None = None) -> RunResult:
    """Simulate a scenario, once per seed, on all cores.

    The interpreter goes on meanwhile, and Ctrl-C ends the run.

    Parameters
    ----------
    scenario : Scenario or mapping
        The scenario to simulate.
    seed : int, optional
        Run this seed alone; all seeds of the scenario otherwise. The same scenario and seed give the same result on
        every machine.
    memory : str, optional
        Memory for packets and samples of all runs together, such as ``4GB``; half of the machine's if not given.

    Returns
    -------
    RunResult
        Measures, flows, links and their course over time.

    Raises
    ------
    ScenarioError
        The scenario cannot be run; the message names the accepted values.
    ArgumentError
        Another argument is not accepted.
    SimulationError
        A run needs more memory than it may use; the message names the flow or link.
    KeyboardInterrupt
        Ctrl-C.

    Examples
    --------
    >>> import cwnd
    >>> scenario = cwnd.Scenario.dumbbell("reno", rate="20mbit", rtt="20ms", duration="4s", warmup="1s")
    >>> result = cwnd.run(scenario, seed=7)
    >>> result.summary["seed"].tolist()
    [7]
    """
    chosen = Scenario(scenario.document if isinstance(scenario, Scenario) else mapping("scenario", scenario))
    if seed is not None:
        # The largest number of TOML.
        chosen.document.update(first_seed=whole("seed", seed, 0, 2**63 - 1), seeds=1)
    given = (*chosen.serialized(), optional(text, "memory", memory, "4GB"))
    one = "" if seed is None else f", seed={chosen.document['first_seed']}"
    return RunResult(_native.run(*given), Made("run", given), f"cwnd.run(scenario{one})")
