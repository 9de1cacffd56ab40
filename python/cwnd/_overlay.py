"""Runs laid over each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._documented import Calls, Documented, Named, Reported
from cwnd._html import page
from cwnd._scenario import overrides
from cwnd._table import Table
from cwnd.plot._models import lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["OverlaidFlow", "Overlay", "overlay"]

# A full frame of Ethernet with time stamps.
DEFAULT_MSS = 1448


@dataclass(frozen=True, slots=True)
class OverlaidFlow:
    """A flow of an overlay. Means are over time, after the warm-up: a sample holds until the next.

    Attributes
    ----------
    flow : str
        The label of its input, and its name there.
    input : str
        The label of its input.
    source : str
        Where its numbers come from: ``simulated``, ``kernel``, ``qlog`` or ``capture``.
    algorithm : str
        The algorithm as its input names it, or ``unknown``.
    from_s, to_s : float
        Where its samples begin and end, seconds of the common time.
    goodput_bps : float or None
        Payload delivered for the first time, bit/s; None where its input does not tell, or nothing of it lies after
        the warm-up.
    window_packets : float or None
        The mean window; None where its input does not tell.
    in_flight_packets : float or None
        The mean number of packets sent and not acknowledged.
    srtt_s : float or None
        The mean smoothed round-trip time, seconds.
    retransmitted_packets : int or None
        Packets sent again after the warm-up; None where its input does not tell, or nothing of it lies there.
    """

    flow: str
    input: str
    source: str
    algorithm: str
    from_s: float
    to_s: float
    goodput_bps: float | None
    window_packets: float | None
    in_flight_packets: float | None
    srtt_s: float | None
    retransmitted_packets: int | None


class Overlay(Reported[_native.Overlaid], Named[OverlaidFlow]):
    """Flows of several runs and recordings on a common time. ``print`` shows the table of the command line.

    It is a mapping of the flows by their names, which begin with the labels of their inputs. To libraries that read
    Arrow it is a table: ``polars.DataFrame(overlay)`` has a row per flow.
    """

    _calls: ClassVar[Calls] = (*Documented._calls, ("warnings",), ("table", "flows"), ("table", "trace"))

    def _asked(self) -> Calls:
        # Files may change: a pickle has the report, too, and reads none of them again.
        return (*self._calls, ("html", self._command))

    @cached_property
    def flows(self) -> tuple[OverlaidFlow, ...]:
        """The flows in the order of the inputs."""
        return tuple(OverlaidFlow(**flow) for flow in self.document["flows"])

    @cached_property
    def table(self) -> Table:
        """A row per flow, with the attributes of :class:`OverlaidFlow`; missing values are ``nan``."""
        return Table(self._native.table("flows"))

    @cached_property
    def trace(self) -> Table:
        """The course of every flow, a row per flow and instant of the common time.

        An input that does not tell of losses, marks or timeouts has 0 there.
        """
        return Table(self._native.table("trace"))

    @property
    def warmup_s(self) -> float:
        """Means begin at this time, seconds: the longest warm-up of the runs."""
        warmup: float = self.document["warmup_s"]
        return warmup

    @property
    def warnings(self) -> list[str]:
        """Warnings to read before the numbers.

        Files that end too early, connections that were left out, and an offset that changes nothing.
        """
        return self._native.warnings()

    def frame(self) -> Any:
        """Make a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            That of :attr:`table`.
        """
        return self.table.to_pandas()

    def _named(self) -> dict[str, OverlaidFlow]:
        found: dict[str, OverlaidFlow] = {}
        for flow in self.flows:
            found.setdefault(flow.flow, flow)
        return found

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand :attr:`table` over through Arrow's C stream interface."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        inputs = ", ".join(dict.fromkeys(flow.input for flow in self.flows))
        return f"<cwnd.Overlay of {inputs}>"

    def _repr_html_(self) -> str:
        def draw() -> Figure:
            trace = self.trace
            drawn = ((flow, trace["flow"] == flow) for flow in islice(self, MOST_DRAWN))
            curves = (
                (flow, (trace["time_ns"][own] * 1e-9).tolist(), trace["in_flight_packets"][own].tolist())
                for flow, own in drawn
            )
            return lines(curves, "Time (s)", "In flight (packets)")

        head = ["flow", "source", "algorithm", "goodput_bps", "in_flight_packets", "srtt_s", "retransmitted_packets"]
        rows = ([getattr(flow, name) for name in head] for flow in self.flows)
        rest = (
            "`[flow]` is a flow, `.frame()` has all numbers, `.trace` what the flows did over time, "
            "`.report(path)` writes the page, `print` shows the text."
        )
        return page(repr(self)[1:-1], head, rows, notes=self.warnings, draw=draw, rest=rest)


def overlay(
    *paths: str | os.PathLike[str],
    labels: Iterable[str] = (),
    offsets: str | timedelta | Iterable[str | timedelta] = (),
    set: Mapping[str, object] | None = None,  # noqa: A002  (the word of the command line)
    mss: int = DEFAULT_MSS,
    memory: str | None = None,
) -> Overlay:
    """Lay runs and recordings over each other on a common time.

    A file is recognised by its content. Runs show their first seed and begin at 0, as does the first event of each
    recording; samples after the end of the last run are left out.

    Parameters
    ----------
    *paths : path
        Directories of results of ``cwnd run``, ``compare`` or ``overlay``, files of their traces (CSV), scenarios
        (TOML), which are run, or recordings: events of ``tcp:tcp_probe`` (ftrace, trace-cmd, perf), outputs of
        ``ss -ti`` with times, qlog, pcap or pcapng at the sender.
    labels : iterable of str
        The names of the flows of the first inputs, in their order, instead of the file.
    offsets : str, timedelta, or iterable of them
        Where the first event of each recording lies on the common time, such as ``1.5s``; a list with one for each path
        says where each begins, runs too.
    set : mapping, optional
        Dotted keys of the scenarios and their values: ``{"duration": "20s"}``. A directory of ``cwnd run`` is then
        run again.
    mss : int
        Payload bytes of a segment, where a recording has none.
    memory : str, optional
        Memory for files and runs together, such as ``4GB``; half of the machine's if not given.

    Returns
    -------
    Overlay
        A row per flow; ``print`` shows the table of the command line, :meth:`Overlay.report` writes the page.

    Raises
    ------
    ArgumentError
        An argument is not accepted, or the inputs need more memory than they may use.
    FileError
        A file cannot be read, or is nothing that can be laid over a run; the message names the line.
    ScenarioError
        A scenario cannot be run.
    KeyboardInterrupt
        Ctrl-C.
    """
    given = [arguments.path("paths", path) for path in paths]
    named = arguments.texts("labels", labels, "before")
    begins = arguments.plain(offsets)
    times = arguments.texts("offsets", [begins] if isinstance(begins, str) else begins, "1.5s")
    changes = overrides("set", set)
    segment = arguments.whole("mss", mss, 1, 65_535)
    budget = arguments.optional(arguments.text, "memory", memory, "4GB")
    overlaid = _native.overlay(given, (named, times, changes), segment, budget)
    words = [repr(path) for path in given]
    words += [f"labels={named!r}"] * bool(named) + [f"offsets={times!r}"] * bool(times)
    words += [f"set={dict(change.split('=', 1) for change in changes)!r}"] * bool(changes)
    words += [f"mss={segment}"] * (segment != DEFAULT_MSS)
    return Overlay(overlaid, None, f"cwnd.overlay({', '.join(words)})")


# Flows of the plot in a notebook: more cannot be told apart.
MOST_DRAWN = 12
