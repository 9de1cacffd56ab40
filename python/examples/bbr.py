"""BBR version 1: an algorithm that sets a rate, and reads delivery-rate samples.

draft-cardwell-iccrg-bbr-congestion-control-00 (July 2017); section numbers and names are the draft's. Volumes are
packets, and rates packets per second. Each flow sends what a flow of the built-in `bbr` sends, packet by packet.
"""

from math import log

import cwnd

HIGH_GAIN = 2.0 / log(2.0)
PACING_GAIN_CYCLE = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
BTL_BW_FILTER_LEN = 10  # rounds
RT_PROP_FILTER_LEN = 10_000_000_000  # ns
PROBE_RTT_DURATION = 200_000_000  # ns
MIN_PIPE_CWND = 4.0


def nanoseconds(seconds: float) -> int:
    """Count in the units of hosts, so that sums and differences are exact."""
    return round(seconds * 1e9)


class Bbr(cwnd.CongestionControl):
    """A BBR sender."""

    name = "bbr in Python"

    def start(self, start: cwnd.Start) -> None:  # section 4.3.1
        self.random = start.seed
        self.packet, self.initial, self.max_window = start.packet, start.window, start.max_window
        self.state = "startup"
        self.round_count = self.next_round_delivered = 0
        self.round_start = False
        self.largest: dict[int, float] = {}  # the largest rate of each of the last rounds
        self.btl_bw = 0.0
        self.rt_prop: float | None = None  # seconds
        self.rt_prop_stamp = 0
        self.rt_prop_expired = self.filled_pipe = False
        self.full_bw, self.full_bw_count = 0.0, 0
        self.cycle_index = self.cycle_stamp = 0
        self.probe_rtt_done: int | None = None
        self.probe_rtt_round_done = self.idle_restart = False
        self.marked = (1, 0)  # samples of packets that left while this much was delivered are limited
        self.in_recovery = self.packet_conservation = False
        self.conserved_until = 0
        self.rto_ends: int | None = None
        self.lost = self.prior_cwnd = 0.0
        self.cwnd = start.window
        self.has_rtt = False
        self.pacing_rate = HIGH_GAIN * start.window / 0.001  # section 4.2.1

    def wants_samples(self) -> bool:
        return True

    def control(self) -> cwnd.Control:
        window = min(max(self.cwnd, 1.0), self.max_window)
        return cwnd.Control(window, rate=max(self.pacing_rate, 1e-8), quantum=self.send_quantum())

    def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:  # section 3.4
        self.packet = view.packet
        now = nanoseconds(view.now)
        in_flight = max(view.in_flight - ack.newly - self.lost, 0.0)
        self.update_btl_bw(view, ack.sample)
        self.check_cycle_phase(view, now)
        self.check_full_pipe(ack.sample)
        if self.state == "startup" and self.filled_pipe:
            self.state = "drain"
        if self.state == "drain" and in_flight <= self.inflight(1.0):
            self.enter_probe_bw(now)
        self.update_rt_prop(view, now)
        self.check_probe_rtt(view, now, in_flight)
        self.set_pacing_rate(view)
        if ack.sample is not None and ack.sample.prior_delivered >= self.conserved_until:
            self.packet_conservation = False
        if self.rto_ends is not None and view.delivered >= self.rto_ends:
            self.leave_recovery()
        self.set_cwnd(view, ack.newly, in_flight)

    def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:  # section 4.2.3.4
        if event.cause == "loss":
            if not (view.in_recovery or self.in_recovery):
                self.save_cwnd()
                self.cwnd = max(view.in_flight - event.lost, 0.0) + 1.0
                self.packet_conservation = True
                self.conserved_until = view.delivered
            self.lost += event.lost
            self.in_recovery = True
        elif event.cause == "timeout":
            self.save_cwnd()
            self.in_recovery, self.packet_conservation = True, False
            self.rto_ends = view.delivered + event.lost
            self.cwnd = 1.0

    def on_recovered(self, view: cwnd.View) -> None:
        self.leave_recovery()
        self.set_cwnd(view, 0, view.in_flight)

    def on_spurious(self, view: cwnd.View) -> None:
        self.on_recovered(view)

    def on_restart(self, view: cwnd.View, idle: float) -> None:  # section 4.3.4.4
        if view.in_flight == 0 and view.limit in {"source", "peer"}:
            self.idle_restart = True
            if self.state == "probe_bw":
                self.set_pacing_rate_with_gain(1.0)

    def inspect(self) -> dict[str, float]:
        return {"btl_bw": self.btl_bw, "rt_prop": self.rt_prop or 0.0, "pacing_gain": self.pacing_gain()}

    def pacing_gain(self) -> float:
        gains = {"startup": HIGH_GAIN, "drain": 1.0 / HIGH_GAIN, "probe_bw": PACING_GAIN_CYCLE[self.cycle_index]}
        return gains.get(self.state, 1.0)

    def inflight(self, gain: float) -> float:  # section 4.2.3.2
        if self.rt_prop is None:
            return self.initial
        quanta = 3.0 * self.send_quantum() / self.packet
        return gain * self.btl_bw * self.rt_prop + quanta

    def send_quantum(self) -> int:  # section 4.2.2
        rate = self.pacing_rate * self.packet
        if rate < 1.2e6 / 8.0:
            return self.packet
        return 2 * self.packet if rate < 24e6 / 8.0 else int(min(rate * 0.001, 65_536.0))

    def update_btl_bw(self, view: cwnd.View, sample: cwnd.RateSample | None) -> None:  # sections 4.1.1.2 and 4.1.1.5
        self.round_start = sample is not None and sample.prior_delivered >= self.next_round_delivered
        if self.round_start:
            self.next_round_delivered = view.delivered
            self.round_count += 1
        if sample is None or sample.rate is None or (sample.rate < self.btl_bw and self.is_limited(sample)):
            return
        now = self.round_count
        kept = {then: rate for then, rate in self.largest.items() if then > now - BTL_BW_FILTER_LEN}
        self.largest = kept | {now: max(kept.get(now, 0.0), sample.rate)}
        self.btl_bw = max(self.largest.values())

    def is_limited(self, sample: cwnd.RateSample) -> bool:
        return sample.limited or self.marked[0] <= sample.prior_delivered <= self.marked[1]

    def check_cycle_phase(self, view: cwnd.View, now: int) -> None:  # section 4.3.4.3
        if self.state != "probe_bw":
            return
        full_length = now - self.cycle_stamp > nanoseconds(self.rt_prop or 0.0)
        gain = self.pacing_gain()
        if gain > 1.0:
            done = full_length and (self.lost > 0.0 or view.in_flight >= self.inflight(gain))
        else:
            done = full_length or (gain < 1.0 and view.in_flight <= self.inflight(1.0))
        if done:
            self.advance_cycle_phase(now)

    def advance_cycle_phase(self, now: int) -> None:
        self.cycle_stamp = now
        self.cycle_index = (self.cycle_index + 1) % len(PACING_GAIN_CYCLE)

    def enter_probe_bw(self, now: int) -> None:
        self.state = "probe_bw"
        self.cycle_index = len(PACING_GAIN_CYCLE) - 1 - int(self.draw() * 7.0)
        self.advance_cycle_phase(now)

    def draw(self) -> float:  # SplitMix64 (Steele, Lea and Flood 2014), as the built-in algorithms draw
        self.random = (self.random + 0x9E3779B97F4A7C15) % 2**64
        mixed = (self.random ^ (self.random >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53

    def check_full_pipe(self, sample: cwnd.RateSample | None) -> None:  # section 4.3.2.2
        if self.filled_pipe or not self.round_start or sample is None or self.is_limited(sample):
            return
        if self.btl_bw >= self.full_bw * 1.25:
            self.full_bw, self.full_bw_count = self.btl_bw, 0
        else:
            self.full_bw_count += 1
            self.filled_pipe = self.full_bw_count >= 3

    def update_rt_prop(self, view: cwnd.View, now: int) -> None:  # section 4.1.2.3
        if view.rtt is None:
            return
        known = self.rt_prop
        self.rt_prop_expired = known is not None and now > self.rt_prop_stamp + RT_PROP_FILTER_LEN
        if known is None or self.rt_prop_expired or view.rtt.latest <= known:
            self.rt_prop, self.rt_prop_stamp = view.rtt.latest, now

    def check_probe_rtt(self, view: cwnd.View, now: int, in_flight: float) -> None:  # section 4.3.5
        if self.state != "probe_rtt" and self.rt_prop_expired and not self.idle_restart:
            self.state = "probe_rtt"
            self.save_cwnd()
            self.probe_rtt_done = None
        if self.state == "probe_rtt":
            self.handle_probe_rtt(view, now, in_flight)
        self.idle_restart = False

    def handle_probe_rtt(self, view: cwnd.View, now: int, in_flight: float) -> None:
        goes_on = self.marked[0] <= view.delivered <= self.marked[1]
        since = self.marked[0] if goes_on else view.delivered
        self.marked = (since, max(view.delivered + int(in_flight), 1))
        if self.probe_rtt_done is None:
            if in_flight <= MIN_PIPE_CWND:
                self.probe_rtt_done = now + PROBE_RTT_DURATION
                self.probe_rtt_round_done = False
                self.next_round_delivered = view.delivered
            return
        self.probe_rtt_round_done |= self.round_start
        if self.probe_rtt_round_done and now > self.probe_rtt_done:
            self.rt_prop_stamp = now
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            if self.filled_pipe:
                self.enter_probe_bw(now)
            else:
                self.state = "startup"

    def set_pacing_rate(self, view: cwnd.View) -> None:  # section 4.2.1
        if view.rtt is not None and not self.has_rtt:
            self.has_rtt = True
            if not self.filled_pipe:
                self.pacing_rate = HIGH_GAIN * self.initial / max(view.rtt.smoothed, 1e-9)
        self.set_pacing_rate_with_gain(self.pacing_gain())

    def set_pacing_rate_with_gain(self, gain: float) -> None:
        rate = gain * self.btl_bw
        if self.filled_pipe or rate > self.pacing_rate:
            self.pacing_rate = rate

    def set_cwnd(self, view: cwnd.View, delivered: int, in_flight: float) -> None:  # section 4.2.3.6
        gain = {"probe_bw": 2.0, "probe_rtt": 1.0}.get(self.state, HIGH_GAIN)
        target = self.inflight(gain)
        if self.in_recovery:
            if self.lost > 0.0:
                self.cwnd = max(self.cwnd - self.lost, 1.0)
            if self.packet_conservation:
                self.cwnd = max(self.cwnd, in_flight + delivered)
        self.lost = 0.0
        if not self.packet_conservation:
            if self.filled_pipe:
                self.cwnd = min(self.cwnd + delivered, target)
            elif self.cwnd < target or view.delivered < self.initial:
                self.cwnd += delivered
            self.cwnd = max(self.cwnd, MIN_PIPE_CWND)
        if self.state == "probe_rtt":
            self.cwnd = min(self.cwnd, MIN_PIPE_CWND)

    def save_cwnd(self) -> None:  # section 4.2.3.4
        modulated = self.in_recovery or self.state == "probe_rtt"
        self.prior_cwnd = max(self.prior_cwnd, self.cwnd) if modulated else self.cwnd

    def leave_recovery(self) -> None:
        self.in_recovery = self.packet_conservation = False
        self.rto_ends = None
        self.cwnd = max(self.cwnd, self.prior_cwnd)


if __name__ == "__main__":
    print(cwnd.compare(["bbr", Bbr], rate="20mbit", duration="30s", warmup="10s", seeds=3))
