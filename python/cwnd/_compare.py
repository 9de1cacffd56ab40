"""Comparing algorithms."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._algorithm import Algorithm, label
from cwnd._arguments import flag, plain, real, text, whole
from cwnd._comparison import Comparison
from cwnd._kept import Made
from cwnd.errors import ArgumentError

__all__ = ["compare"]


def compare(
    algorithms: Sequence[Algorithm] | None = None,
    *,
    rate: str | None = None,
    rtt: str | None = None,
    queue: str | None = None,
    loss: str | float | None = None,
    dumbbell: Mapping[str, object] | None = None,
    ecn: str | None = None,
    flows: int = 2,
    versus: Algorithm | None = None,
    recovery: str | None = None,
    host: str | None = None,
    slow_start: str | None = None,
    era: str | None = None,
    duration: str = "60s",
    warmup: str | None = None,
    seeds: int = 5,
    until: str | None = None,
    max_seeds: int | None = None,
    memory: str | None = None,
    paired: bool = False,
) -> Comparison:
    """Compare algorithms on one path, each alone with equal flows.

    Where none of `rate`, `rtt`, `queue`, `loss`, `dumbbell`, `ecn`, `recovery`, `host`, `slow_start` and `era` is
    given, the path is 50 Mbit/s and 50 ms behind ``droptail:0.25bdp``, its rate falls to a quarter from 5 s to 10 s,
    measuring starts after 25 s, and each algorithm also runs against Reno. Any of them replaces all of that by the
    defaults below.

    Parameters
    ----------
    algorithms : sequence, optional
        Text such as ``simd``, ``aimd:b=1/8`` or ``rule:grow=1/w,cut=w/2``, or algorithms in Python; Reno, CUBIC, BBRv3
        and those of the papers if not given.
    rate : str, optional
        Rate of the bottleneck; ``100mbit`` if not given.
    rtt : str, optional
        Round-trip time without queueing; ``50ms`` if not given.
    queue : str, optional
        Queue of the bottleneck: ``droptail:``, ``red:``, ``drr:``, ``codel:``, ``fq_codel:``, ``cake:``, ``pie:``,
        ``dualpi2:``, ``dualpi2_linux:``, ``xcp:``, ``vcp:`` or ``decbit:`` and a size in ``bdp`` (bandwidth-delay
        products), ``p`` (packets) or ``kB``; ``droptail:1bdp`` if not given.
    loss : str or float, optional
        Random loss at the bottleneck: a probability, or ``periodic:N`` for every Nth packet; none if not given.
    dumbbell : mapping, optional
        Further keys of ``[dumbbell]`` in scenarios, such as
        ``{"impairments": {"jitter": "wifi:7ms"}, "duplex": "half"}``; none if not given.
        ACKs meet what ``reverse_impairments`` has.
    ecn : str, optional
        Let packets be marked by a queue with ``ecn=yes`` or ``dualpi2``: ``per-packet`` reports every mark to the
        sender, as DCTCP wants it, ``latch`` repeats one until the sender has answered (RFC 3168), and ``l4s`` reports
        marks of packets with ECT(1) for algorithms that follow the share of marks, and is ``latch`` for all others;
        ``accecn`` and ``accecn-l4s`` count marks modulo 8 instead (RFC 9768), ``counts`` and ``counts-l4s`` count
        all (QUIC, RFC 9000).
    flows : int
        Flows of each algorithm.
    versus : algorithm, optional
        Set each algorithm against this one too, with as many flows; Reno if no path is given either.
    recovery : str, optional
        How senders detect and repair losses: ``tahoe``, ``reno``, ``newreno``, ``sack`` or ``rack``; that of `era`
        if not given.
    host : str, optional
        Features of a Linux host for TCP flows: some of ``tso``, ``fq``, ``gro=TIME``, ``autotune=SIZE``,
        ``whole`` and ``min_rto=TIME`` with commas between, such as ``tso,gro=50us``; nothing if not given.
    slow_start : str, optional
        How slow start grows: ``standard``, ``limited:N`` (RFC 3742), ``hystart++`` (RFC 9406) or ``search``
        (draft-chung-ccwg-search); that of `era` if not given.
    era : str, optional
        Stack profile of senders and receivers, such as ``modern`` or ``ns2-2001``; ``modern`` if not given.
    duration : str
        Length of a run.
    warmup : str, optional
        Measure after this time; ``auto`` measures after the time that MSER-5 finds in first runs of each algorithm. Ten
        seconds if not given, and at most half of `duration`.
    seeds : int
        Independent runs of each algorithm.
    until : str, optional
        Add seeds until the 95 % interval of each goodput is narrow enough: ``ci<2%`` for half a width below 2 % of the
        mean. Intervals that decided when to stop are a little too narrow, most so if they began with few seeds: begin
        with ten.
    max_seeds : int, optional
        The maximum number of seeds with `until`, not below `seeds`; 100 if not given.
    memory : str, optional
        Memory for packets and samples of all runs together, such as ``4GB``; half of the machine's if not given.
    paired : bool
        Print the differences from the first algorithm, taken seed by seed, too. They are in
        :attr:`Comparison.differences` in any case.

    Returns
    -------
    Comparison
        A row per algorithm; ``print`` shows the table of the command line.

    Raises
    ------
    AlgorithmError
        An algorithm is unknown or one of its parameters is not accepted.
    ArgumentError
        Another argument is not accepted.
    SimulationError
        A run needs more memory than it may use; the message names the flow or link.
    KeyboardInterrupt
        Ctrl-C.

    Examples
    --------
    >>> import cwnd
    >>> result = cwnd.compare(["reno", "simd"], rate="20mbit", rtt="20ms", duration="4s", warmup="1s", seeds=2)
    >>> len(result.rows)
    2
    """
    named = arguments.optional(arguments.algorithms, "algorithms", algorithms)
    settings = {
        "duration": text("duration", duration, "60s"),
    }
    if loss is not None:
        settings["loss"] = loss if isinstance(loss, str) else _number("loss", loss)
    if dumbbell is not None:
        settings["dumbbell"] = _further(arguments.mapping("dumbbell", dumbbell))
    others = {
        "rate": (rate, "100mbit"),
        "rtt": (rtt, "50ms"),
        "queue": (queue, "droptail:1bdp"),
        "era": (era, "modern"),
        "recovery": (recovery, "sack"),
        "host": (host, "tso,gro=50us"),
        "slow_start": (slow_start, "standard"),
        "ecn": (ecn, "per-packet"),
        "warmup": (warmup, "10s"),
        "memory": (memory, "4GB"),
    }
    settings |= {key: text(key, value, example) for key, (value, example) in others.items() if value is not None}
    count = whole("flows", flows, 1, MAX_FLOWS)
    least = whole("seeds", seeds, 1, MAX_SEEDS)
    rule = arguments.optional(text, "until", until, "ci<2%")
    if rule is None and max_seeds is not None:
        raise ArgumentError("max_seeds: nothing adds seeds without `until`")
    most = max(DEFAULT_MAX_SEEDS, least) if max_seeds is None else whole("max_seeds", max_seeds, least, MAX_SEEDS)
    differences = flag("paired", paired)
    given = (named, versus, count, (least, rule, most), settings)
    compared = _native.compare(*given)
    shown = {
        "versus": versus and label(versus),
        **settings,
        "dumbbell": dumbbell,
        "flows": count,
        "seeds": least,
        "until": rule,
    }
    names = [label(algorithm) for algorithm in named or []]
    command = ", ".join(
        [repr(names)] * bool(names) + [f"{key}={value!r}" for key, value in shown.items() if value is not None]
    )
    # The given object may be changed later.
    return Comparison(compared, differences, Made("compare", copy.deepcopy(given)), f"cwnd.compare({command})")


def _further(keys: Mapping[str, object]) -> str:
    for key in ("rate", "rtt", "queue", "loss"):
        if key in keys:
            raise ArgumentError(f"dumbbell: give `{key}` as the argument of that name")
    try:
        return json.dumps(plain(keys))
    except TypeError as error:
        raise ArgumentError(f"dumbbell: {error}") from None


def _number(name: str, value: object) -> str:
    real(name, value)
    return str(plain(value))


# Of seeds with `until`.
DEFAULT_MAX_SEEDS = 100
# The limits of scenarios.
MAX_FLOWS = 4_000_000
MAX_SEEDS = 100_000
