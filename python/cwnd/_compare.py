"""Comparing algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from cwnd import _native
from cwnd._algorithm import Algorithm
from cwnd._results import Comparison

__all__ = ["compare"]


def compare(
    algorithms: Sequence[Algorithm] | None = None,
    *,
    rate: str = "100mbit",
    rtt: str = "50ms",
    queue: str = "droptail:1bdp",
    loss: str | float = 0,
    ecn: str | None = None,
    flows: int = 2,
    versus: Algorithm | None = None,
    recovery: str = "sack",
    slow_start: str | None = None,
    era: str = "modern",
    duration: str = "60s",
    warmup: str = "10s",
    seeds: int = 5,
    until: str | None = None,
    max_seeds: int = 100,
    paired: bool = False,
) -> Comparison:
    """Compare algorithms on one path, each alone with equal flows.

    Parameters
    ----------
    algorithms : sequence, optional
        Text such as ``simd`` or ``aimd:b=1/8``, or algorithms in Python; those of the papers beside Reno
        and CUBIC if not given.
    rate : str
        Rate of the bottleneck.
    rtt : str
        Round-trip time without queueing.
    queue : str
        Queue of the bottleneck: ``droptail:``, ``red:``, ``drr:``, ``codel:``, ``fq_codel:``, ``pie:``, ``xcp:``,
        ``vcp:`` or ``decbit:`` and a size in ``bdp`` (bandwidth-delay products), ``p`` (packets) or ``kB``.
    loss : str or float
        Random loss at the bottleneck: a probability, or ``periodic:N`` for every Nth packet.
    ecn : str, optional
        Let packets be marked by a queue with ``ecn=yes``: ``per-packet`` tells the sender of every mark, as DCTCP wants
        it, ``latch`` repeats one until the sender has answered (RFC 3168).
    flows : int
        Flows of each algorithm.
    versus : algorithm, optional
        Set each algorithm against this one too, with as many flows.
    recovery : str
        How senders find and mend losses: ``tahoe``, ``reno``, ``newreno`` or ``sack``.
    slow_start : str, optional
        How slow start grows: ``standard``, ``limited:N`` (RFC 3742) or ``hystart++`` (RFC 9406); the era's if not
        given.
    era : str
        Habits of senders and receivers, such as ``modern`` or ``ns2-2001``.
    duration : str
        Length of a run.
    warmup : str
        Measure after this time, or after the one that MSER-5 finds in runs of each algorithm beforehand: ``auto``.
    seeds : int
        Independent runs of each algorithm.
    until : str, optional
        Add seeds until the 95 % interval of each goodput is narrow enough: ``ci<2%`` for half a width below 2 % of the
        mean. Intervals that decided when to stop are a little too narrow, most so if they began with few seeds: begin
        with ten.
    max_seeds : int
        At most so many seeds with `until`.
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
    KeyboardInterrupt
        Ctrl-C.

    Examples
    --------
    >>> import cwnd
    >>> result = cwnd.compare(["reno", "simd"], rate="20mbit", rtt="20ms", duration="4s", warmup="1s", seeds=2)
    >>> len(result.rows)
    2
    """
    settings = {
        "rate": rate,
        "rtt": rtt,
        "queue": queue,
        "loss": str(loss),
        "recovery": recovery,
        "era": era,
        "duration": duration,
        "warmup": warmup,
    }
    settings |= {key: value for key, value in {"slow_start": slow_start, "ecn": ecn}.items() if value is not None}
    named = None if algorithms is None else list(algorithms)
    return Comparison(_native.compare(named, versus, flows, (seeds, until, max_seeds), settings), paired)
