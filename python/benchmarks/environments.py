"""How many steps a second environments do on one core.

Processor time is counted, so that the numbers mean the same on a machine that does other work as well.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import cwnd.gym

CASES: dict[str, dict[str, Any]] = {
    "some 10 packets a step: 2 to 4 Mbit/s, 20 to 40 ms": {"rate": ("2mbit", "4mbit"), "rtt": ("20ms", "40ms")},
    "as they come: 4 to 40 Mbit/s, 10 to 100 ms": {},
}


def steps_per_second(num_envs: int, steps: int, **options: Any) -> float:
    """Keep windows near one bandwidth-delay product by a rule of thumb, with noise, and count."""
    env = cwnd.gym.BottleneckVectorEnv(num_envs, copy=False, **options)
    observations, _ = env.reset(seed=1)
    noise = np.random.default_rng(1).uniform(-0.3, 0.3, (steps, num_envs)).astype(np.float32)
    began = time.process_time()
    for random in noise:
        delay, loss, window = observations[:, 1], observations[:, 3], observations[:, 5]
        actions = np.clip(random - 0.4 * delay - loss - 0.3 * (window - 0.3), -1.0, 1.0)
        observations, *_ = env.step(actions[:, None])
    return steps * num_envs / (time.process_time() - began)


def main() -> None:
    """Print a line for each case."""
    for name, options in CASES.items():
        print(f"{steps_per_second(64, 3000, **options):10,.0f} steps/s  64 environments, {name}")
    print(f"{steps_per_second(1, 20000):10,.0f} steps/s   1 environment, as it comes")


if __name__ == "__main__":
    main()
