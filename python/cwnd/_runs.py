"""Runs of one scenario, as :func:`cwnd.run` gives them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from cwnd import _arguments as arguments
from cwnd import _native
from cwnd._documented import Calls, Documented, Reported
from cwnd._estimates import Estimates
from cwnd._html import page
from cwnd._table import Columns, Table
from cwnd.plot import RunCharts, RunPlots

__all__ = ["RunResult"]


class RunResult(Reported[_native.Runs], Columns):
    """The runs of one scenario over its seeds. ``print`` shows the output of the command line.

    It is a table itself, that of :attr:`summary`: ``polars.DataFrame(result)`` has a row per seed.
    """

    _calls: ClassVar[Calls] = (
        *Documented._calls,
        *(("table", name) for name in ("summary", "flows", "trace", "links", "link_trace")),
    )

    @cached_property
    def estimates(self) -> Estimates:
        """Every measure of all flows together, over all seeds."""
        return Estimates(self.document)

    @cached_property
    def summary(self) -> Table:
        """Every measure, a row per seed."""
        return Table(self._native.table("summary"))

    @cached_property
    def flows(self) -> Table:
        """Every flow with its results, a row per seed and flow."""
        return Table(self._native.table("flows"))

    @cached_property
    def trace(self) -> Table:
        """The course of every flow, a row per seed, flow and sampled instant. Counts are since the start of the run."""
        return Table(self._native.table("trace"))

    @cached_property
    def links(self) -> Table:
        """Every link, a row per seed and link."""
        return Table(self._native.table("links"))

    @cached_property
    def link_trace(self) -> Table:
        """The course of every link, a row per seed, link and sampled instant. Counts are since the start of the run."""
        return Table(self._native.table("link_trace"))

    @property
    def warnings(self) -> list[str]:
        """Warnings to read before the numbers."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    @property
    def path(self) -> str:
        """The path in one line: the settings of the scenario, and the era."""
        path: str = self.document["path"]
        return path

    @property
    def digests(self) -> list[str]:
        """A digest of everything each run delivered, per seed. Equal digests are equal runs."""
        digests: list[str] = self.document["digests"]
        return digests

    def _as_table(self) -> Table:
        return self.summary

    def export(self, directory: str | os.PathLike[str], formats: str | Iterable[str]) -> Path:
        """Write the traces for other tools, as ``cwnd run --trace`` does.

        Parameters
        ----------
        directory : path
            The parent of the directory ``traces``, which has the files.
        formats : str or iterable of str
            Some of ``pcapng`` (Wireshark), ``qlog`` or ``qlog:legacy`` (qvis), ``flent`` and ``parquet``. The first two
            have every packet at the senders in the first seed, which is run again for that.

        Returns
        -------
        Path
            The directory ``traces``.

        Raises
        ------
        ArgumentError
            There is no such format.
        FileError
            A file cannot be written.
        """
        target = arguments.path("directory", directory)
        chosen = [formats] if isinstance(formats, str) else arguments.texts("formats", formats, "pcapng")
        self._native.export(target, chosen, self._command)
        return Path(target) / "traces"

    @property
    def plot(self) -> RunPlots:
        """Plots on matplotlib; ``result.plot()`` draws the usual ones, its methods one each."""
        return RunPlots(self._native)

    @property
    def chart(self) -> RunCharts:
        """Charts on Altair, one per method."""
        return RunCharts(self._native)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<cwnd.RunResult of {len(self.digests)} seeds>"

    def _repr_html_(self) -> str:
        flows = self.flows
        names = ["seed", "flow", "algorithm", "goodput_bps", "loss_rate"]
        names = [name for name in names if name in flows]
        rest = (
            "`.plot()` draws more, `.frame()` has the measures per seed, `.flows` and `.trace` are tables, "
            "`.report(path)` writes the page, `print` shows the text."
        )
        rows = zip(*(flows[name].tolist() for name in names), strict=True)
        return page(
            f"Runs: {self.path}",
            names,
            rows,
            notes=self.warnings,
            draw=lambda: self.plot.goodput().figure,
            rest=rest,
        )
