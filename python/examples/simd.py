"""SIMD, written whole in Python and compared with the built-in one.

Jin, Guo, Matta and Bestavros, "A spectrum of TCP-friendly window-based congestion control algorithms",
BU-CS-2001-006; equation numbers are theirs. Between two congestion events the window rises with the square of time, the
faster the smaller it was: of two flows the smaller gains more.
"""

from math import sqrt

import cwnd


class Simd(cwnd.WindowRule):
    """``w += alpha sqrt(w - w0) / w`` per acknowledged packet, ``w -= b w`` on congestion."""

    name = "simd in Python"

    def __init__(self, b: float = 1 / 16) -> None:
        self.b = b
        self.w0 = 0.0  # the window right after the last decrease
        self.alpha = 0.0  # friendly to TCP for the window at which the last congestion hit

    def grow(self, w: float, view: cwnd.View) -> float:
        if w <= self.w0:
            # The rule stands still at w = w0: appendix B takes the first step from w(t) at one round trip.
            return self.alpha * self.alpha / (4.0 * self.w0)
        return self.alpha * sqrt(w - self.w0) / w  # eq. 9

    def cut(self, w: float, view: cwnd.View) -> float:
        return w - self.b * w

    def epoch(self, before: float | None, after: float, view: cwnd.View) -> None:
        # Footnote 2: after a slow start without loss, the window this one would have been cut from.
        peak = after / (1.0 - self.b) if before is None else before
        self.alpha = 3.0 * sqrt(self.b) / ((1.0 - 2.0 * self.b / 3.0) * sqrt(2.0 * peak))  # eq. 3
        self.w0 = after

    def inspect(self) -> dict[str, float]:
        return {"w0": self.w0, "alpha": self.alpha}


if __name__ == "__main__":
    print(cwnd.compare(["simd", Simd, Simd(b=1 / 8), "reno"], rate="20mbit", duration="30s", warmup="10s", seeds=3))
