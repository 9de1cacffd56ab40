"""A learner of nine numbers, trained in a few minutes, compared with the built-in algorithms on paths it has not seen.

The policy is linear: an action is the hyperbolic tangent of a weighted sum of the observation. The cross-entropy method
finds the weights: try many, keep the best eighth, draw the next ones around these (Rubinstein, 1999; Szita and Lőrincz,
2006). Training sees paths drawn at random. The policy is then compared twice: by its reward, over paths drawn with
other seeds, and as an algorithm by :func:`cwnd.compare`, two flows of a kind, on paths within and outside the ranges of
the training.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cwnd
import cwnd.gym

POLICIES = 64
PATHS = 8  # for each of them
STEPS = 120
# The reward uses numbers that no sender can know: it is Orca's power.
OPTIONS: dict[str, Any] = {"rate": ("2mbit", "20mbit"), "rtt": ("20ms", "80ms"), "queue": (0.5, 4.0), "reward": "power"}


def training(beside: str | None, weights: list[float] | None) -> dict[str, Any]:
    """Give the options of the training: alone or half of the time against an algorithm; by power or by weights."""
    options = OPTIONS if weights is None else {**OPTIONS, "reward": ("linear", weights)}
    if beside is None:
        return options
    flows = [["reno"], ["reno", beside]]  # the first is steered
    scenarios = [cwnd.Scenario.dumbbell(one, duration="10000s", sampling="off") for one in flows]
    return {**options, "scenario": scenarios, "agents": 1, "loss": 0.0}


def train(generations: int, seed: int, options: dict[str, Any]) -> NDArray[np.float64]:
    """Find the weights of the observation's numbers, and of one."""
    random = np.random.default_rng(seed)
    features = len(cwnd.gym.FEATURES)
    mean, spread = np.zeros(features + 1), np.full(features + 1, 0.5)
    env = cwnd.gym.BottleneckVectorEnv(POLICIES * PATHS, copy=False, steps=STEPS, **options)
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
        # Some noise is left in: without, the method settles on early luck.
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        print(f"generation {generation + 1:2}: reward per step {scores.mean():6.3f}, best {scores.max():6.3f}")
    return mean


# Within the ranges of the training, and outside of them.
HELD_OUT = [
    ("6mbit", "40ms", "1bdp"),
    ("40mbit", "40ms", "1bdp"),
    ("10mbit", "160ms", "1bdp"),
    ("10mbit", "40ms", "8bdp"),
]


def scores(of: Any, episodes: int) -> NDArray[np.float64]:
    """Measure goodput, delay, loss and reward per step of episodes whose seeds training has not seen, a row each."""
    found = [cwnd.gym.evaluate(of, episodes=1, seed=2**40 + n, steps=STEPS, **OPTIONS) for n in range(episodes)]
    return np.array([(*score[:3], score.reward / STEPS) for score in found])


def compare(learner: Any, paths: list[tuple[str, str, str]], seeds: int) -> None:
    """Print the results of two flows of the learner, and of CUBIC, on each path, alone and against two of CUBIC."""
    print(f"\n{'path':>20}  algorithm  utilisation  queueing, ms  loss, %  fairness  share against cubic")
    for rate, rtt, queue in paths:
        path: dict[str, Any] = {"rate": rate, "rtt": rtt, "queue": f"droptail:{queue}"}
        result = cwnd.compare([learner, "cubic"], versus="cubic", **path, duration="30s", warmup="10s", seeds=seeds)
        for name in result:
            row = result[name]
            wait, loss = row["queue_delay_mean_s"].mean * 1e3, row["loss_rate"].mean * 100
            share = row.versus.share if row.versus else None
            print(
                f"{f'{rate} {rtt} {queue}':>20}  {name:>9}  {row['utilisation'].mean:11.3f}  {wait:12.1f}"
                f"  {loss:7.3f}  {row['jain'].mean:8.3f}  {share.mean if share else math.nan:18.2f}"
            )


def main() -> None:
    """Train, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=25)
    parser.add_argument("--episodes", type=int, default=64, help="of the comparison")
    parser.add_argument("--paths", type=int, default=len(HELD_OUT), help="on which flows are compared")
    parser.add_argument("--seeds", type=int, default=3, help="of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", help="train with a flow of this algorithm in half of the episodes, such as cubic")
    parser.add_argument("--weights", type=float, nargs=3, help="train by the linear reward: of goodput, delay and loss")
    arguments = parser.parse_args()
    weights = train(arguments.generations, arguments.seed, training(arguments.beside, arguments.weights))
    print("\n" + "".join(f"{name:>16}" for name in [*cwnd.gym.FEATURES, "one"]))
    print("".join(f"{weight:16.2f}" for weight in weights))

    def policy(seen: NDArray[np.float32]) -> NDArray[np.float64]:
        # Sums in a fixed order: a row alone and a row of many have the same.
        sums: NDArray[np.float64] = (seen * weights[:-1]).sum(axis=1, keepdims=True) + weights[-1]
        return np.tanh(sums)

    print(f"\n{'':>12}  goodput   delay    loss  reward per step, and how much it is above cubic's (95 % interval)")
    entrants: dict[str, Any] = {"learner": policy} | {name: name for name in ("reno", "cubic", "vegas")}
    found = {name: scores(each, arguments.episodes) for name, each in entrants.items()}
    for name, rows in found.items():
        goodput, delay, loss, reward = rows.mean(axis=0)
        above = cwnd.statistics.paired(rows[:, 3], found["cubic"][:, 3]) if name != "cubic" else ""
        print(f"{name:>12}  {goodput:7.3f} {delay:7.2f} {loss:7.4f} {reward:15.3f}  {above}")
    compare(cwnd.gym.algorithm(policy, name="learner"), HELD_OUT[: arguments.paths], arguments.seeds)


if __name__ == "__main__":
    main()
