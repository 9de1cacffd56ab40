"""A learner of nine numbers, trained in a minute, beside the built-in algorithms.

The policy is linear: an action is the hyperbolic tangent of a weighted sum of the observation. The cross-entropy method
finds the weights: try many, keep the best eighth, draw the next ones around these (Rubinstein, 1999; Szita and Lőrincz,
2006). Training sees paths drawn at random, and so does the comparison, with other seeds.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cwnd.gym

POLICIES = 64
PATHS = 8  # for each of them
STEPS = 120
# What no sender can know decides what is good: the reward is Orca's power.
OPTIONS: dict[str, Any] = {"rate": ("2mbit", "20mbit"), "rtt": ("20ms", "80ms"), "queue": (0.5, 4.0), "reward": "power"}


def train(generations: int, seed: int) -> NDArray[np.float64]:
    """Find the weights of the observation's numbers, and of one."""
    random = np.random.default_rng(seed)
    features = len(cwnd.gym.FEATURES)
    mean, spread = np.zeros(features + 1), np.full(features + 1, 0.5)
    env = cwnd.gym.BottleneckVectorEnv(POLICIES * PATHS, copy=False, steps=STEPS, **OPTIONS)
    for generation in range(generations):
        weights = random.normal(mean, spread, (POLICIES, features + 1))
        seen, _ = env.reset(seed=int(random.integers(2**31)))
        total = np.zeros((POLICIES, PATHS))
        for _ in range(STEPS):
            table = seen.reshape(POLICIES, PATHS, features)
            sums = np.einsum("pnf,pf->pn", table, weights[:, :-1]) + weights[:, -1:]
            seen, rewards, *_ = env.step(np.tanh(sums).reshape(-1, 1))
            total += rewards.reshape(POLICIES, PATHS)
        scores = total.mean(axis=1) / STEPS
        best = weights[np.argsort(scores)[-POLICIES // 8 :]]
        # Some noise is left in: without, the method settles on what was lucky early.
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        print(f"generation {generation + 1:2}: reward per step {scores.mean():6.3f}, best {scores.max():6.3f}")
    return mean


def main() -> None:
    """Train, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=25)
    parser.add_argument("--episodes", type=int, default=64, help="of the comparison")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    weights = train(arguments.generations, arguments.seed)
    print("\n" + "".join(f"{name:>16}" for name in [*cwnd.gym.FEATURES, "one"]))
    print("".join(f"{weight:16.2f}" for weight in weights))

    print(f"\n{'':>12}  goodput   delay    loss  reward per step")
    policies: dict[str, Any] = {"learner": lambda seen: np.tanh(seen @ weights[:-1] + weights[-1])[:, None]}
    for name, policy in (policies | {name: name for name in ("reno", "cubic", "vegas")}).items():
        # Seeds that training has not seen.
        score = cwnd.gym.evaluate(policy, episodes=arguments.episodes, seed=2**40, steps=STEPS, **OPTIONS)
        print(f"{name:>12}  {score.goodput:7.3f} {score.delay:7.2f} {score.loss:7.4f} {score.reward / STEPS:16.3f}")


if __name__ == "__main__":
    main()
