"""SIMD with everything around it: the code that `cwnd.WindowRule` spares an algorithm, here in full.

The rule is that of `simd.py`. Slow start, timeouts, one decrease per window of data, and the undo of a decrease that
proves wrong are those of RFC 5681, 6582 and 9002 as the built-in algorithms have them in the era `modern`; the windows
are the same to the last bit.
"""

from dataclasses import dataclass, replace
from math import inf, sqrt

import cwnd


@dataclass(frozen=True)
class State:
    """The state that a decrease changes."""

    window: float  # packets
    threshold: float = inf  # slow start below, congestion avoidance from here on
    epoch_from: int = 0  # the next new packet at the last decrease: congestion of an earlier packet belongs to it
    opened: bool = False  # `w0` and `alpha` are those of the epoch under way
    collapsed: bool = False  # the last decrease left one packet: slow start repairs the loss
    w0: float = 0.0
    alpha: float = 0.0


class WholeSimd(cwnd.CongestionControl):
    """SIMD(b), for the era `modern`."""

    name = "simd, whole"

    def __init__(self, b: float = 1 / 16) -> None:
        self.b = b

    def start(self, start: cwnd.Start) -> None:
        self.state = State(window=start.window, threshold=inf if start.threshold is None else max(start.threshold, 2.0))
        self.initial = start.window
        self.max_window = start.max_window
        self.undo: State | None = None

    def control(self) -> float:
        return self.state.window

    def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:
        repairing = view.in_recovery and not self.state.collapsed
        if repairing or ack.marked > 0 or view.limit in {"source", "peer"}:
            return
        for _ in range(ack.newly):
            state = self.state
            if state.window < state.threshold:
                self.state = replace(state, window=self.bounded(state.window + 1.0))
                if self.state.window >= state.threshold:
                    self.open(self.state.window)
            else:
                self.open(state.window)
                window = self.bounded(state.window + self.grow(state.window))
                self.state = replace(self.state, window=window, threshold=min(state.threshold, window))

    def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
        timeout = event.cause == "timeout"
        if event.first < self.state.epoch_from and not timeout and not event.separate:
            return
        if not event.persistent or self.undo is None:
            self.undo = self.state
        before = max(min(self.state.window, view.peer_window), 1.0)
        self.open(before)
        cut = self.bounded(before - self.b * before)
        if timeout:
            # RFC 5681 section 3.1: the threshold is held where the timer expires again for the same packet.
            threshold = self.state.threshold if event.persistent else max(cut, 2.0)
            self.state = replace(self.state, window=1.0, threshold=threshold, collapsed=True)
        else:
            self.epoch(before, cut)
            self.state = replace(self.state, window=cut, threshold=max(cut, 2.0), collapsed=False)
        opened = self.state.window >= self.state.threshold
        self.state = replace(self.state, opened=opened, epoch_from=view.next)

    def on_restart(self, view: cwnd.View, idle: float) -> None:
        timeout = 1.0 if view.rtt is None else max(view.rtt.smoothed + 4.0 * view.rtt.variation, 1.0)
        if idle > timeout:
            window = self.state.window
            self.state = replace(
                self.state,
                window=min(window, self.initial),
                threshold=max(self.state.threshold, 0.75 * window),
                opened=self.state.opened and window <= self.initial,
            )
            self.undo = None

    def on_spurious(self, view: cwnd.View) -> None:
        if self.undo is not None:
            self.state = replace(self.undo, window=max(self.state.window, self.undo.window))
            self.undo = None

    def slow_start_threshold(self) -> float:
        return self.state.threshold

    def inspect(self) -> dict[str, float]:
        return {"ssthresh": self.state.threshold, "w0": self.state.w0, "alpha": self.state.alpha}

    def bounded(self, window: float) -> float:
        return min(max(window, 1.0), self.max_window)

    def open(self, window: float) -> None:
        if not self.state.opened:
            self.epoch(None, window)
            self.state = replace(self.state, opened=True)

    def epoch(self, before: float | None, after: float) -> None:
        peak = after / (1.0 - self.b) if before is None else before  # footnote 2
        alpha = 3.0 * sqrt(self.b) / ((1.0 - 2.0 * self.b / 3.0) * sqrt(2.0 * peak))  # eq. 3
        self.state = replace(self.state, w0=after, alpha=alpha)

    def grow(self, w: float) -> float:
        if w <= self.state.w0:
            return self.state.alpha * self.state.alpha / (4.0 * self.state.w0)  # appendix B
        return self.state.alpha * sqrt(w - self.state.w0) / w  # eq. 9


if __name__ == "__main__":
    print(cwnd.compare(["simd", WholeSimd], rate="20mbit", duration="30s", warmup="10s", seeds=3))
