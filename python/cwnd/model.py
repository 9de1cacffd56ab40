"""Results on paper: closed forms, and the algorithms under synchronous feedback, without packets.

The computations of ``cwnd model``. Every row has the kind of its numbers: ``closed form``, or
``model`` for numbers that the synchronous-feedback host computed by running the algorithm. Algorithms in Python can be
run too. Windows are packets, times round trips unless a name ends in ``_s``. Lists of rows become data frames:
``polars.DataFrame(rows)``, and a notebook shows them as a table. ``warnings`` of a list name the parameters and
settings on which none of its numbers depends.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from cwnd import _native
from cwnd._algorithm import Algorithm
from cwnd._arguments import algorithms as named
from cwnd._arguments import real, reals, text, texts, whole
from cwnd._estimates import Estimate
from cwnd._html import page
from cwnd._table import Rows, Table, records_html
from cwnd.plot._models import lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Axiom",
    "ConvergenceRow",
    "DelayRow",
    "EquilibriumRow",
    "PathRow",
    "ResponseRow",
    "ResponseRows",
    "Stage",
    "UdtStages",
    "Walk",
    "Walks",
    "axioms",
    "convergence",
    "response",
    "rounds",
    "udt",
]


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """An algorithm at a loss probability.

    Attributes
    ----------
    algorithm : str
        As it was written.
    loss : float
        Loss probability per packet: one packet in every 1/p is lost.
    kind : str
        The kind of all numbers except ``random_window_packets``: ``closed form``, or ``not defined`` if none is known.
    random_window_packets : Estimate or None
        The mean window under random loss, by renewal Monte Carlo over seeds; None unless asked for, and for algorithms
        that set a rate or follow the delay.
    window_packets : float or None
        Mean window, packets.
    peak_packets : float or None
        The window at each loss, packets.
    epoch_rtt : float or None
        Round trips between two losses.
    rate_bps : float or None
        The mean as a rate on the wire, bit/s.
    over_tcp : float or None
        The mean over that of TCP, ``sqrt(3/(2p))``.
    """

    algorithm: str
    loss: float
    kind: str
    random_window_packets: Estimate | None
    window_packets: float | None
    peak_packets: float | None
    epoch_rtt: float | None
    rate_bps: float | None
    over_tcp: float | None


class ResponseRows(Rows[ResponseRow]):
    """Rows of :func:`response`; a notebook draws the windows, too."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        def draw() -> Figure:
            names = dict.fromkeys(row.algorithm for row in self)
            own = ((name, [row for row in self if row.algorithm == name]) for name in names)
            shown = ((name, [row.loss for row in rows], [row.window_packets for row in rows]) for name, rows in own)
            return lines(shown, "Loss probability", "Mean window (packets)", logarithmic=True)

        known = any(row.window_packets is not None for row in self)
        return records_html("Windows against loss", self, notes=self.warnings, draw=draw if known else None)


@dataclass(frozen=True, slots=True)
class ConvergenceRow:
    """The convergence of two flows of an algorithm (Jin et al. 2001, Table 1).

    Attributes
    ----------
    algorithm : str
        As it was written.
    kind : str
        ``closed form``, or ``model`` where none is known.
    t1_rtt : float or None
        Round trips until the windows add up to the capacity; None if they never do.
    delta_packets : float or None
        The gap of the windows there, packets.
    t2_rtt : float or None
        Round trips from there until the gap is below epsilon; None if that was not seen.
    t2_iterated_rtt : float or None
        ``t2_rtt`` summed over epochs of their exact lengths; None where both are equal.
    """

    algorithm: str
    kind: str
    t1_rtt: float | None
    delta_packets: float | None
    t2_rtt: float | None
    t2_iterated_rtt: float | None


@dataclass(frozen=True, slots=True)
class PathRow:
    """A time of common congestion.

    Attributes
    ----------
    algorithm : str
        As it was written.
    event : int
        Counted from 1.
    at_rtt : float
        When, round trips from the start.
    before_packets : tuple of float
        The packets of each flow in the network before its reaction.
    after_packets : tuple of float
        The packets of each flow in the network after its reaction.
    jain : float or None
        Jain's index of the windows before.
    """

    algorithm: str
    event: int
    at_rtt: float
    before_packets: tuple[float, ...]
    after_packets: tuple[float, ...]
    jain: float | None


@dataclass(frozen=True, slots=True)
class Walk:
    """The path of an algorithm's windows.

    Attributes
    ----------
    algorithm : str
        As it was written.
    events : tuple of PathRow
        Every time of common congestion.
    trace : Table
        The course of every flow, a row per flow and recorded instant.
    """

    algorithm: str
    events: tuple[PathRow, ...]
    trace: Table


class Walks(Rows[Walk]):
    """Paths of :func:`rounds`; a notebook draws the windows."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        def draw() -> Figure:
            return lines(
                ((walk.algorithm, *_flow(walk.trace, flow)) for walk in self for flow in set(walk.trace["flow"])),
                "Time (s)",
                "Window (packets)",
            )

        head = ["algorithm", "events", "last at (RTT)", "windows before", "Jain's index"]
        ends = ((walk, walk.events[-1] if walk.events else None) for walk in self)
        rows = (
            (walk.algorithm, len(walk.events), *((None, None, None) if end is None else _shown(end)))
            for walk, end in ends
        )
        rest = "`[n].events` has every time of common congestion, `[n].trace` is a table of all windows."
        return page("Paths of windows", head, rows, notes=self.warnings, draw=draw, rest=rest)


def _flow(trace: Table, flow: str) -> tuple[list[float], list[float]]:
    own = trace["flow"] == flow
    return (trace["time_ns"][own] * 1e-9).tolist(), trace["window_packets"][own].tolist()


def _shown(event: PathRow) -> tuple[float, str, float | None]:
    return event.at_rtt, ", ".join(f"{window:.4g}" for window in event.before_packets), event.jain


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of UDT's rate control.

    Attributes
    ----------
    stage : int
        Its number, k.
    from_bps, to_bps : float
        Where it begins and ends, bit/s.
    increase_packets : float
        Increase per SYN of 10 ms, packets.
    tcp_ratio : float
        The rate over that of a TCP at the same loss (Gu et al. 2004, eq. 19).
    """

    stage: int
    from_bps: float
    to_bps: float
    increase_packets: float
    tcp_ratio: float


@dataclass(frozen=True, slots=True)
class EquilibriumRow:
    """UDT's rate control at a loss probability.

    Attributes
    ----------
    loss : float
        Per packet.
    stage : int
        The stable stage.
    packets_per_syn : float
        Packets per SYN of 10 ms.
    rate_bps : float
        The rate this is, bit/s.
    clipped_bps : float
        The rate, but at least the lower edge of its stage, bit/s.
    """

    loss: float
    stage: int
    packets_per_syn: float
    rate_bps: float
    clipped_bps: float


@dataclass(frozen=True, slots=True)
class DelayRow:
    """Equal flows of UDT as a fluid, a round trip behind.

    Attributes
    ----------
    kind : str
        Always ``model``.
    rtt_s : float
        Round trip, seconds.
    loss_by_rate_alone, loss : float
        Share of the sent packets that is lost, with rate control alone and with the window.
    utilisation_by_rate_alone, utilisation : float
        Share of the capacity that is used, with rate control alone and with the window.
    """

    kind: str
    rtt_s: float
    loss_by_rate_alone: float
    loss: float
    utilisation_by_rate_alone: float
    utilisation: float


@dataclass(frozen=True, slots=True)
class UdtStages:
    """UDT on a path.

    Attributes
    ----------
    intervals_to_90 : int or None
        SYNs of 10 ms without loss from rest to 90 % of the capacity.
    friendly : bool
        Whether eq. 20 of Gu et al. 2004 calls a flow friendly to TCP here.
    stages : tuple of Stage
        The stages.
    equilibria : tuple of EquilibriumRow
        One per loss probability.
    delays : tuple of DelayRow
        One per round trip.
    """

    intervals_to_90: int | None
    friendly: bool
    stages: tuple[Stage, ...]
    equilibria: tuple[EquilibriumRow, ...]
    delays: tuple[DelayRow, ...]

    def _repr_html_(self) -> str:
        rest = "`.stages`, `.equilibria` and `.delays` are lists of rows."
        return records_html(f"UDT: {self.intervals_to_90} intervals of 10 ms to 90 %", self.stages, rest=rest)


@dataclass(frozen=True, slots=True)
class Axiom:
    """A score of an algorithm for one property (Zarchy et al. 2019).

    Attributes
    ----------
    name : str
        Of the axiom.
    value : float or None
        How far it holds; None where that cannot be said.
    unit : str
        Of the value.
    definition : str
        Its meaning.
    source : str
        Where the definition comes from.
    """

    name: str
    value: float | None
    unit: str
    definition: str
    source: str


def response(
    algorithms: Sequence[Algorithm],
    *,
    loss: Sequence[float] = (1e-4, 1e-3, 1e-2),
    rtt: str = "100ms",
    packet: str = "1500B",
    random: int = 0,
) -> ResponseRows:
    """Compute windows against loss, in closed form.

    Parameters
    ----------
    algorithms : sequence
        Text such as ``aimd:b=1/8``, or algorithms in Python.
    loss : sequence of float
        Loss probabilities per packet.
    rtt : str
        Round-trip time, for algorithms that grow by the clock and for rates.
    packet : str
        Packet on the wire.
    random : int
        Also run the algorithms under random loss, over this many seeds.

    Returns
    -------
    list of ResponseRow
        A row per algorithm and loss probability.

    Examples
    --------
    >>> import cwnd
    >>> [row] = cwnd.model.response(["reno"], loss=[1e-4])
    >>> round(row.window_packets, 1)
    122.5
    """
    settings = {
        "loss": reals("loss", loss),
        "rtt": text("rtt", rtt, "100ms"),
        "packet": text("packet", packet, "1500B"),
        "random": whole("random", random, 0, 1000),
    }
    document, warnings = _native.response(named("algorithms", algorithms), settings)
    rows = (
        ResponseRow(**{**row, "random_window_packets": _estimate(row["random_window_packets"])})
        for row in json.loads(document)["rows"]
    )
    return ResponseRows(rows, warnings)


def convergence(
    algorithms: Sequence[Algorithm],
    *,
    capacity: float = 100,
    start: tuple[float, float] = (10, 40),
    epsilon: float = 1,
) -> Rows[ConvergenceRow]:
    """Compute how fast two flows become efficient and fair under synchronous feedback.

    Parameters
    ----------
    algorithms : sequence
        Text such as ``aimd:b=1/8``, or algorithms in Python.
    capacity : float
        The sum of windows at which both flows are signalled congestion, packets.
    start : tuple of float
        The two windows at the start, packets.
    epsilon : float
        Windows closer than this count as equal, packets.

    Returns
    -------
    list of ConvergenceRow
        A row per algorithm.

    Examples
    --------
    >>> import cwnd
    >>> [row] = cwnd.model.convergence(["reno"])
    >>> row.t1_rtt, row.delta_packets
    (25.0, 30.0)
    """
    settings = {
        "capacity": real("capacity", capacity),
        "start": reals("start", start),
        "epsilon": real("epsilon", epsilon),
    }
    document, warnings = _native.convergence(named("algorithms", algorithms), settings)
    return Rows((ConvergenceRow(**row) for row in json.loads(document)["rows"]), warnings)


def rounds(
    algorithms: Sequence[Algorithm],
    *,
    capacity: float = 100,
    start: Sequence[float] = (10, 40),
    rtt: str = "100ms",
    flow_rtt: Sequence[str] = (),
    events: int = 8,
    rounds: int = 100_000,
    steps: int = 64,
    decrease_rounds: int = 0,
    loss: float = 0,
    seed: int = 1,
) -> Walks:
    """Run algorithms under synchronous feedback: all flows are signalled congestion when their windows fill the path.

    Parameters
    ----------
    algorithms : sequence
        Text such as ``aimd:b=1/8``, or algorithms in Python; each is run with one flow per window of `start`.
    capacity : float
        The sum at which all flows are signalled congestion, packets per round trip.
    start : sequence of float
        The windows at the start, packets.
    rtt : str
        Round-trip time, in which time and capacity are counted.
    flow_rtt : sequence of str
        Round-trip times of the flows, one per window of `start`; all have `rtt` if not given.
    events : int
        Stop after this number of common congestion events.
    rounds : int
        Round trips to run at most.
    steps : int
        How often per round trip the rules are applied; 1 is the papers' form, with congestion seen at its end.
    decrease_rounds : int
        Round trips that a decrease takes: 0 in the model of SIMD's authors, 1 in New AIMD's.
    loss : float
        Probability per packet of a loss that only its flow reacts to.
    seed : int
        For these losses.

    Returns
    -------
    list of Walk
        A path per algorithm.

    Examples
    --------
    >>> import cwnd
    >>> [walk] = cwnd.model.rounds(["reno"], steps=1, events=1)
    >>> walk.events[0].before_packets
    (35.0, 65.0)
    """
    settings = {
        "capacity": real("capacity", capacity),
        "start": reals("start", start),
        "rtt": text("rtt", rtt, "100ms"),
        "flow_rtt": texts("flow_rtt", flow_rtt, "100ms"),
        "events": whole("events", events, 1, 10_000),
        "rounds": whole("rounds", rounds, 1, 1_000_000),
        "steps": whole("steps", steps, 1, 4096),
        "decrease_rounds": whole("decrease_rounds", decrease_rounds, 0, 10),
        "loss": real("loss", loss),
        "seed": whole("seed", seed, 0, 2**64 - 1),
    }
    (document, warnings), found = _native.rounds(named("algorithms", algorithms), settings)
    rows = iter([_path_row(row) for row in json.loads(document)["rows"]])
    walks = (Walk(label, tuple(islice(rows, count)), Table(trace)) for label, count, trace in found)
    return Walks(walks, warnings)


def udt(
    capacity: str = "1gbit",
    *,
    loss: Sequence[float] = (1e-6, 1e-5, 1e-4, 1e-3),
    rtt: str = "100ms",
    packet: str = "1500B",
    flows: int = 10,
    delays: Sequence[str] = ("10ms", "100ms", "200ms", "1s"),
) -> UdtStages:
    """Compute UDT's stages and equilibria, and the effect of its window.

    Parameters
    ----------
    capacity : str
        Capacity of the path.
    loss : sequence of float
        Loss probabilities per packet.
    rtt : str
        Round-trip time, for the comparison with TCP.
    packet : str
        Packet on the wire.
    flows : int
        Flows that share the capacity in ``delays``.
    delays : sequence of str
        Round-trip times over which flows are run as a fluid.

    Returns
    -------
    UdtStages
        Rate control in closed form; the fluid is a model.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.model.udt("1gbit").intervals_to_90
    750
    """
    settings = {
        "capacity": text("capacity", capacity, "1gbit"),
        "loss": reals("loss", loss),
        "rtt": text("rtt", rtt, "100ms"),
        "packet": text("packet", packet, "1500B"),
        "flows": whole("flows", flows, 1, 1_000_000),
        "delays": texts("delays", delays, "100ms"),
    }
    found = json.loads(_native.udt(settings))
    return UdtStages(
        found["intervals_to_90"],
        found["friendly"],
        tuple(Stage(**stage) for stage in found["stages"]),
        tuple(EquilibriumRow(**row) for row in found["rows"]),
        tuple(DelayRow(**row) for row in found["delays"]),
    )


def axioms(algorithm: Algorithm) -> Rows[Axiom]:
    """Measure the scores of an algorithm under synchronous feedback: efficiency, fairness, smoothness and more.

    Parameters
    ----------
    algorithm : algorithm
        Text such as ``aimd:b=1/8``, or one in Python.

    Returns
    -------
    list of Axiom
        With definitions and sources.

    Examples
    --------
    >>> import cwnd
    >>> cwnd.model.axioms("reno")[0].name
    'efficiency'
    """
    card = json.loads(_native.axioms(algorithm))
    return Rows((Axiom(**axiom) for axiom in card["axioms"]), card["warnings"])


def _path_row(row: dict[str, Any]) -> PathRow:
    windows = {key: tuple(row[key]) for key in ("before_packets", "after_packets")}
    return PathRow(**{**row, **windows})


def _estimate(found: dict[str, Any] | None) -> Estimate | None:
    return None if found is None else Estimate(**found)
