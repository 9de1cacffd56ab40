"""Environments in which a learner steers flows: Gymnasium for one flow, and for many at once; PettingZoo for several.

Needs the extra ``gym``: ``pip install 'cwnd[gym]'``. Importing it registers ``cwnd/Bottleneck-v0`` with Gymnasium.

>>> import gymnasium
>>> import cwnd.gym
>>> env = gymnasium.make("cwnd/Bottleneck-v0", rate="12mbit", rtt="40ms", steps=50)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([0.5])
>>> dict(zip(cwnd.gym.FEATURES, observation))["loss"]
np.float32(0.0)
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as _error:  # pragma: no cover
    raise ImportError("cwnd.gym needs Gymnasium and PettingZoo: pip install 'cwnd[gym]'") from _error

from cwnd.gym._course import FEATURES, Feature
from cwnd.gym._evaluate import Score, evaluate
from cwnd.gym._options import Options
from cwnd.gym._parallel import SharedBottleneckEnv
from cwnd.gym._policy import algorithm
from cwnd.gym._single import BottleneckEnv
from cwnd.gym._step import MEASURED, Path, Step
from cwnd.gym._vector import BottleneckVectorEnv

__all__ = [
    "FEATURES",
    "MEASURED",
    "BottleneckEnv",
    "BottleneckVectorEnv",
    "Feature",
    "Options",
    "Path",
    "Score",
    "SharedBottleneckEnv",
    "Step",
    "algorithm",
    "evaluate",
]

gymnasium.register(
    id="cwnd/Bottleneck-v0",
    entry_point="cwnd.gym:BottleneckEnv",
    vector_entry_point="cwnd.gym:BottleneckVectorEnv",
)
