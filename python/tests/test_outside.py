"""Algorithms written in Python."""

import copy
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import pytest

import cwnd
from cwnd._alike import alike

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from bbr import Bbr
from simd import Simd
from simd_whole import WholeSimd

PATHS: list[dict[str, Any]] = [
    {},
    {"loss": 0.003},
    {"queue": "droptail:10p", "rtt": "80ms"},
    {"queue": "red:60p"},
    {"loss": 0.05},
    {"seeds": 3, "flows": 4},
    {"host": "tso,fq"},
]


def scenario(algorithm: object, **others: Any) -> cwnd.Scenario:
    settings = {"rate": "20mbit", "rtt": "20ms", "duration": "8s", "warmup": "1s", "seeds": 1, **others}
    return cwnd.Scenario.dumbbell(algorithm, **settings)  # type: ignore[arg-type]


class Reno(cwnd.WindowRule):
    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2.0


class Fixed(cwnd.CongestionControl):
    """A window that never changes."""

    def __init__(self, window: float = 20.0) -> None:
        self.window = window

    def control(self) -> cwnd.Control | float:
        return self.window

    def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:
        pass

    def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
        pass


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("algorithm", [Simd, WholeSimd])
def test_simd_has_the_windows_of_the_built_in_one(algorithm: Any, path: dict[str, Any]) -> None:
    ours, theirs = cwnd.run(scenario(algorithm, **path)), cwnd.run(scenario("simd", **path))
    assert ours.digests == theirs.digests
    for column in ("window_packets", "w0", "alpha"):
        assert np.array_equal(ours.trace[column], theirs.trace[column], equal_nan=True)


@pytest.mark.parametrize(
    "path",
    [
        *PATHS,
        {"duration": "25s", "flows": 2},  # with two rounds of ProbeRTT
        {"duration": "15s", "rtt": "80ms", "recovery": "newreno", "loss": 0.01},  # with timeouts
        {"duration": "15s", "queue": "fq_codel:1bdp", "loss": 0.2},
    ],
    ids=str,
)
def test_bbr_sends_what_the_built_in_one_sends(path: dict[str, Any]) -> None:
    ours, theirs = cwnd.run(scenario(Bbr, **path)), cwnd.run(scenario("bbr", **path))
    assert ours.digests == theirs.digests
    for column in ("window_packets", "btl_bw", "rt_prop", "pacing_gain"):
        assert np.array_equal(ours.trace[column], theirs.trace[column], equal_nan=True)


@pytest.mark.parametrize("key", [{"source": "cbr:4mbit"}, {"on": ["0s..3s", "4s..7s", "11s.."]}], ids=str)
def test_bbr_waits_for_its_application_as_the_built_in_one_does(key: dict[str, Any]) -> None:
    def limited(algorithm: object) -> cwnd.Scenario:
        made = scenario(algorithm, duration="15s")
        made["flow"][0].update(key)
        return made

    assert cwnd.run(limited(Bbr)).digests == cwnd.run(limited("bbr")).digests


@pytest.mark.parametrize("wanted", [True, False])
def test_samples_are_for_those_that_want_them(wanted: bool) -> None:
    acks: list[cwnd.Ack] = []
    losses: list[cwnd.Congestion] = []

    class Asks(Fixed):
        def wants_samples(self) -> bool:
            return wanted

        def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:
            acks.append(ack)

        def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
            losses.append(event)

    cwnd.run(scenario(Asks, loss=0.01))
    assert len(acks) > 1000
    assert all((ack.sample is not None) == wanted for ack in acks)
    found = [event for event in losses if event.cause == "loss"]
    assert len(found) > 10
    assert all((event.sample is not None) == wanted for event in found)
    if wanted:
        rates = [ack.sample.rate for ack in acks if ack.sample is not None and ack.sample.rate is not None]
        assert max(rates) <= 20e6 / (8 * 1500) * 1.001  # the line's


SOURCES = Path(__file__).parents[2] / "crates" / "cwnd" / "src"


def declared(file: str, begin: str, member: str) -> set[str]:
    """Find the members of a Rust declaration that starts with `begin`."""
    _, _, rest = (SOURCES / file).read_text().partition(begin)
    indent = re.match(r"[^\n]*\n( *)", rest)
    assert indent is not None, begin
    body = rest[: rest.index("\n" + " " * (len(indent[1]) - 4) + "}")]
    return set(re.findall(rf"^ *{member}", body, re.MULTILINE))


@pytest.mark.parametrize(
    ("file", "begin", "ours", "others"),
    [
        # A copy is made by copy.deepcopy.
        ("control.rs", "pub trait CongestionControl:", cwnd.CongestionControl, {"boxed_clone"}),
        # Pacing is the attribute `spread`; the growth of a whole window follows from `grow`.
        ("window/shell.rs", "pub trait WindowRule:", cwnd.WindowRule, {"growth_of", "pacing"}),
    ],
)
def test_every_method_of_the_contract_reaches_python(file: str, begin: str, ours: type, others: set[str]) -> None:
    methods = declared(file, begin, r"fn (\w+)")
    assert len(methods) > 8
    assert methods - others - set(vars(ours)) == set()
    # `start` is the constructor of Rust.
    assert {name for name in vars(ours) if callable(getattr(ours, name)) and name[0] != "_"} - methods == {"start"}


@pytest.mark.parametrize(
    ("file", "ours", "others"),
    [
        # The habits of an era and a saved path are the window shell's.
        ("signal.rs", cwnd.Start, {"policy", "resume"}),
        ("signal.rs", cwnd.View, set()),
        ("signal.rs", cwnd.Rtt, set()),
        ("signal.rs", cwnd.RateSample, set()),
        ("signal.rs", cwnd.Remote, set()),
        ("signal.rs", cwnd.Ack, set()),
        ("signal.rs", cwnd.Congestion, set()),
        # `pacing` is `rate` or `spread`, `probe` is `pair_every`; packets of these algorithms have no header for
        # routers.
        ("control.rs", cwnd.Control, {"pacing", "probe", "stamp"}),
    ],
)
def test_every_field_of_the_contract_reaches_python(file: str, ours: type, others: set[str]) -> None:
    fields = declared(file, f"pub struct {ours.__name__} {{", r"pub (\w+):")
    assert len(fields) > 4
    assert fields - others - set(vars(ours)) == set()
    assert others <= fields


def test_eras_surround_a_rule_in_python_too() -> None:
    for era in ["ns2-2001", "ns2-2006", "linux-2.6"]:
        assert cwnd.run(scenario(Reno, era=era)).digests == cwnd.run(scenario("reno", era=era)).digests


class FromFlight(Reno):
    def cuts_flight(self) -> bool:
        return True


def test_a_rule_may_cut_what_is_in_flight_as_reno_does() -> None:
    def limited(algorithm: object) -> list[str]:
        made = scenario(algorithm, loss=0.01)
        made["flow"][0]["source"] = "cbr:4mbit"
        return cwnd.run(made).digests

    assert limited(FromFlight) == limited("reno")
    assert limited(Reno) != limited("reno")


def test_beside_the_built_in_ones() -> None:
    result = cwnd.compare(
        ["reno", Reno, "cubic", Simd(b=1 / 8)],
        versus="reno",
        rate="20mbit",
        rtt="20ms",
        duration="4s",
        warmup="1s",
        seeds=2,
    )
    assert [row.algorithm for row in result.rows] == ["reno", "Reno", "cubic", "simd in Python"]
    reno, ours = (row.versus for row in result.rows[:2])
    assert result.rows[0].result.digests == result.rows[1].result.digests
    assert reno is not None
    assert ours is not None
    assert reno.share == ours.share


def test_in_the_model() -> None:
    ours, theirs = cwnd.model.rounds([Simd, "simd"], events=2)
    assert [event.before_packets for event in ours.events] == [event.before_packets for event in theirs.events]
    random, closed = cwnd.model.response([Reno, "reno"], loss=[1e-3], random=2)
    assert random.random_window_packets == closed.random_window_packets
    assert random.window_packets is None


def test_every_flow_has_an_object_of_its_own() -> None:
    prototype = Fixed(7.0)
    trace = cwnd.run(scenario(prototype, flows=2)).trace
    assert set(trace["window_packets"].tolist()) == {7.0}
    assert prototype.window == 7.0


def test_a_fixed_window_is_delivered_once_per_round_trip() -> None:
    fixed = scenario(Fixed(5.0), variation={"rtt": 0, "jitter": 0, "start": "0s"})
    fixed["flow"][0]["delayed_ack"] = "0s"
    flows = cwnd.run(fixed).flows
    # 5 packets of 1460 bytes in 20 ms and the 0.64 ms that a packet and its acknowledgement take on the line.
    assert flows["goodput_bps"][0] == pytest.approx(5 * 1460 * 8 / 0.020616, rel=0.002)


class Paced(Fixed):
    """100 packets per second, and a note of when it was woken."""

    def __init__(self) -> None:
        super().__init__()
        self.woken: list[float] = []
        self.next = 0.5

    def control(self) -> cwnd.Control:
        return cwnd.Control(float("inf"), rate=100.0, wake=self.next)

    def on_wake(self, view: cwnd.View) -> None:
        self.woken.append(view.now)
        self.next = view.now + 0.25

    def inspect(self) -> dict[str, float]:
        return {"woken": len(self.woken), "last": self.woken[-1] if self.woken else float("nan")}


def test_rates_and_wakes() -> None:
    result = cwnd.run(scenario(Paced, variation={"rtt": 0, "jitter": 0, "start": "0s"}))
    assert result.flows["goodput_bps"][0] == pytest.approx(100 * 1460 * 8, rel=0.002)
    assert result.trace["woken"][-1] == 31
    assert result.trace["last"][-1] == pytest.approx(8.0)


def test_records_say_what_happened() -> None:
    seen: dict[str, Any] = {}

    class Curious(Reno):
        def start(self, start: cwnd.Start) -> None:
            seen["start"] = (start.window, start.threshold, start.packet, start.payload)

        def observe(self, view: cwnd.View, ack: cwnd.Ack) -> None:
            seen.setdefault("limits", set()).add(view.limit)
            seen["ack"] = (ack.newly, ack.marked)
            seen["view"] = view

        def epoch(self, before: float | None, after: float, view: cwnd.View) -> None:
            seen.setdefault("epochs", []).append((before, after))

    cwnd.run(scenario(Curious))
    assert seen["start"] == (10.0, None, 1500, 1460)
    assert seen["ack"] == (1, 0)
    assert seen["limits"] <= {"window", "rate", "source", "peer"}
    view = seen["view"]
    assert 0.019 < view.rtt.min <= view.rtt.smoothed < 0.1
    assert 7.9 < view.now <= 8.0
    assert view.delivered > 10_000
    before, after = seen["epochs"][-1]
    assert after == before / 2
    assert "now" in repr(view)


class Error(Exception):
    pass


def raising(method: str) -> type[cwnd.WindowRule] | type[cwnd.CongestionControl]:
    def fail(*_: object) -> float:
        raise Error(method)

    base: Any = Fixed if method.startswith("on_") or method == "control" else Reno
    return type("Failing", (base,), {method: fail})


@pytest.mark.parametrize(
    "method",
    [
        "start",
        "grow",
        "cut",
        "observe",
        "epoch",
        "ramp",
        "slow_start_done",
        "slowdown",
        "inspect",
        "control",
        "on_ack",
        "on_congestion",
    ],
)
def test_what_is_raised_comes_out_with_its_traceback(method: str) -> None:
    with pytest.raises(Error, match=method) as error:
        cwnd.run(scenario(raising(method), queue="droptail:3p", rate="1mbit"))
    assert error.traceback[-1].name == "fail"
    with pytest.raises(Error, match=method):
        cwnd.compare([raising(method), "reno"], rate="1mbit", queue="droptail:3p", duration="4s", warmup="1s", seeds=1)


def test_what_cannot_be_copied_comes_out() -> None:
    class Generators(Reno):
        def __init__(self) -> None:
            self.steps = (step for step in [1.0])

    with pytest.raises(TypeError, match="generator"):
        cwnd.run(scenario(Generators))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: float("nan"), r"^Asks\.control: expected a cwnd\.Control or a finite number of packets, got nan$"),
        (lambda: float("inf"), r"^Asks\.control: .* got inf$"),
        (lambda: "much", r"^Asks\.control: .* got 'much'$"),
        (lambda: None, r"^Asks\.control: .* got None$"),
        (lambda: cwnd.Control(1.0, rate=0.0), "rate: 0"),
        (lambda: cwnd.Control(1.0, rate=1.0, spread=1.0), "one of them"),
        (lambda: cwnd.Control(1.0, pair_every=1), "below 2"),
        (lambda: cwnd.Control(1.0, wake=-1.0), "wake"),
        (lambda: cwnd.Control(1.0, wake=0.5), "ask for a later time"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: Any, message: str) -> None:
    class Asks(Fixed):
        def control(self) -> Any:
            return asked()

    with pytest.raises((cwnd.ArgumentError, TypeError), match=message):
        cwnd.run(scenario(Asks))


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("wants_samples", "yes", r"^Answers\.wants_samples: expected True or False, got 'yes'$"),
        (
            "slow_start_threshold",
            "none",
            r"^Answers\.slow_start_threshold: expected a number of packets or None, got 'none'$",
        ),
        ("slow_start_threshold", float("nan"), r"^Answers\.slow_start_threshold: .* got nan$"),
        ("slow_start_threshold", -1.0, r"^Answers\.slow_start_threshold: .* got -1\.0$"),
    ],
)
def test_what_cannot_be_answered_is_refused(method: str, answer: Any, message: str) -> None:
    answers: Any = type("Answers", (Fixed,), {method: lambda _: answer})
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.run(scenario(answers))


def test_models_pass_packets_at_once() -> None:
    class Counting(Reno):
        acked = 0.0

        def grow_by(self, w: float, acked: float, view: cwnd.View) -> float:
            Counting.acked += acked
            return super().grow_by(w, acked, view)

    ours, theirs = cwnd.model.rounds([Counting, "reno"], events=2)
    assert [event.before_packets for event in ours.events] == [event.before_packets for event in theirs.events]
    assert Counting.acked > 100

    class Fluid(Fixed):
        """Reno without slow start."""

        acked = 0.0

        def on_fluid(self, view: cwnd.View, acked: float) -> None:
            Fluid.acked += acked
            self.window += acked / self.window

        def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
            self.window /= 2.0

    (walk,) = cwnd.model.rounds([Fluid], start=(20, 20), events=3)
    assert len(walk.events) == 3
    assert Fluid.acked > 100


def test_a_slowdown_holds_the_window_that_it_began_with() -> None:
    class Slow(Reno):
        slow = -1.0
        lows: ClassVar[list[int]] = []

        def slowdown(self, view: cwnd.View) -> float | Literal["hold"] | None:
            if view.now < self.slow + 0.2:
                Slow.lows.append(view.in_flight)
                return "hold"
            if view.now > self.slow + 2.0:
                self.slow = view.now
                return 2.0
            return None

    cwnd.run(scenario(Slow))
    assert 0 < min(Slow.lows) <= 2 < max(Slow.lows)


# What each method may return, and what it is asked in.
NUMBER = "a finite number of packets"
ANSWERS: dict[str, tuple[str, list[Any]]] = {
    "grow": (NUMBER, [None, "1", float("nan"), float("inf"), [1.0]]),
    "grow_by": (NUMBER, [None, float("nan")]),
    "cut": (NUMBER, [None, "1", float("nan")]),
    "cut_for_marks": (NUMBER, [None, float("nan")]),
    "floor": ("a number of packets from 1 on, or None", ["1", 0.5, float("nan")]),
    "needs_marks": ("True or False", [None, "yes"]),
    "cuts_flight": ("True or False", [None, "yes"]),
    "ramp": ("a finite number of packets or None", ["1", float("nan")]),
    "slow_start_done": ("True or False", [None, "yes"]),
    "slowdown": ("a number of packets from 1 on, 'hold' or None", ["stop", 0.5, float("nan"), [1.0]]),
    "inspect": ("a dictionary of names and numbers", [None, 3, {"a": "b"}]),
    "spread": ("a number above 0 or None", ["1", 0.0, float("nan")]),
}
SILENT = {"start", "observe", "epoch"}
RULE_METHODS = sorted(name for name in vars(cwnd.WindowRule) if not name.startswith("_") and name != "name")


def in_use(rule: Any, method: str) -> None:
    """Run a rule where the method is called."""
    if method == "grow_by":
        cwnd.model.rounds([rule], events=2)
    else:
        marks: dict[str, Any] = (
            {"queue": "red:60p,ecn=yes", "ecn": "per-packet"} if method == "cut_for_marks" else {"loss": 0.01}
        )
        cwnd.compare([rule], rate="20mbit", rtt="20ms", duration="4s", seeds=1, **marks)


def test_the_answers_of_every_method_of_a_rule_are_tried() -> None:
    assert set(RULE_METHODS) == set(ANSWERS) | SILENT


@pytest.mark.parametrize(("method", "answer"), [(name, one) for name, (_, all_) in ANSWERS.items() for one in all_])
def test_an_answer_that_is_refused_names_class_method_and_value(method: str, answer: Any) -> None:
    given = answer if method == "spread" else lambda *_: answer
    rule: Any = type("Lost", (Reno,), {method: given})
    with pytest.raises(cwnd.ArgumentError, match=rf"^Lost\.{method}: expected {ANSWERS[method][0]}, got ") as raised:
        in_use(rule, method)
    assert str(raised.value).endswith(f"got {answer!r}")


@pytest.mark.parametrize("method", [name for name in RULE_METHODS if name != "spread"])
def test_what_a_method_raises_says_where(method: str) -> None:
    def fail(*_: Any) -> Any:
        raise LookupError("lost")

    rule: Any = type("Lost", (Reno,), {method: fail})
    with pytest.raises(LookupError, match=r"^lost") as raised:
        in_use(rule, method)
    if sys.version_info >= (3, 11):
        assert raised.value.__notes__ == [f"raised in Lost.{method}, called by cwnd"]


def test_a_method_that_is_not_there_is_named() -> None:
    rule: Any = type("Half", (cwnd.WindowRule,), {"grow": lambda *_: 1.0})
    with pytest.raises(TypeError, match=r"Half.*cut"):
        cwnd.run(scenario(rule))


def test_names_are_unique_or_refused() -> None:
    one, other = (type("Mine", (Reno,), {}) for _ in range(2))
    refused = pytest.raises(cwnd.ArgumentError, match=r": two different algorithms are called `Mine`, give one of them")
    short: dict[str, Any] = {"rate": "4mbit", "rtt": "20ms", "duration": "1s", "seeds": 1}
    with refused:
        cwnd.compare([one, other], **short)
    with refused:
        cwnd.compare([one], versus=other, **short)
    with refused:
        cwnd.run(scenario([one, other]))
    with refused:
        cwnd.model.rounds([one, other], events=1)
    with pytest.raises(cwnd.ArgumentError, match="called `reno`"):
        cwnd.compare([type("reno", (Reno,), {}), "reno"], **short)
    with pytest.raises(cwnd.ArgumentError, match="called `Fixed`"):
        cwnd.compare([Fixed(2.0), Fixed(3.0)], **short)
    slow = Fixed(2.0)
    slow.name = "slow"  # type: ignore[misc]
    assert list(cwnd.compare([slow, Fixed(3.0)], **short)) == ["slow", "Fixed"]
    # The same twice is no other.
    assert len(cwnd.run(scenario([Fixed(2.0), Fixed(2.0), one, one], duration="1s", warmup="0s")).flows) == 4


class Weighted(Reno):
    """Has attributes without an `==` that says yes or no, and itself."""

    def __init__(self, *weights: float) -> None:
        self.weights = np.array(weights)
        self.parts = {"random": np.random.default_rng(len(weights)), "inner": [Inner(self.weights)]}
        self.me = self

    def grow(self, w: float, view: cwnd.View) -> float:
        return float(self.weights.sum()) / w


class Inner:
    def __init__(self, weights: Any) -> None:
        self.weights = weights


class Slotted(Reno):
    __slots__ = ("__own", "by", "never")

    def __init__(self, by: Any) -> None:
        self.by = by
        self.__own = self.by

    def grow(self, w: float, view: cwnd.View) -> float:
        return float(self.__own[0]) / w


ALIKE: list[tuple[object, object, bool]] = [
    (Weighted(1.0, 2.0), Weighted(1.0, 2.0), True),
    (Weighted(1.0, 2.0), Weighted(2.0, 1.0), False),
    (Weighted(1.0, 2.0), Weighted(1.0, 2.0, 0.0), False),
    (Weighted(float("nan")), copy.deepcopy(Weighted(float("nan"))), True),
    (Slotted([1.0]), Slotted([1]), True),
    (Slotted([1.0]), Slotted([2.0]), False),
    (Slotted(lambda: 1), Slotted(lambda: 1), False),
    (Slotted({"a": {1, 2}}), Slotted({"a": {2, 1}}), True),
    (Slotted({"a": 1}), Slotted({"b": 1}), False),
    (Slotted("a"), Slotted("b"), False),
    (Slotted(np.array([1, "a"], object)), Slotted(np.array([1, "b"], object)), False),
    (Slotted(pd.Series([1.0])), Slotted(pd.Series([1.0])), True),
    (Slotted(pd.Series([1.0])), Slotted(pd.Series([2.0])), False),
    (Slotted(step for step in [1]), Slotted(step for step in [1]), False),
    (Reno, Reno(), False),
    (Reno(), Weighted(), False),
]


@pytest.mark.parametrize(("one", "other", "expected"), ALIKE)
def test_objects_are_one_algorithm_where_nothing_tells_them_apart(one: Any, other: Any, expected: bool) -> None:
    assert alike(one, other) is expected
    assert alike(other, one) is expected
    assert alike(one, one)
    short: dict[str, Any] = {"rate": "4mbit", "rtt": "20ms", "duration": "1s", "warmup": "0s", "seeds": 1}
    if expected:
        assert len(cwnd.Sweep(scenario([one, "reno"], **short), grid={"flow.1.algorithm": [other]}).keys) == 1
    elif type(one) is type(other):
        with pytest.raises(cwnd.CwndError, match=r": two different algorithms are called |cannot copy .*generator"):
            cwnd.run(scenario([one, other], **short))


def test_attributes_in_slots_are_copied() -> None:
    assert cwnd.run(scenario([Slotted([1.0])], flows=2)).digests == cwnd.run(scenario([Reno], flows=2)).digests


def test_less_than_a_packet_is_one() -> None:
    assert set(cwnd.run(scenario(Fixed(0.1))).trace["window_packets"].tolist()) == {1.0}


def test_files_cannot_hold_them() -> None:
    with pytest.raises(cwnd.ScenarioError, match=r"flow\.0\.algorithm is in Python"):
        scenario(Reno).to_toml()
    assert scenario(Reno).complete()["flow.0.algorithm"] is Reno


def test_ctrl_c_ends_them(ends_by_ctrl_c: Callable[[str], None]) -> None:
    ends_by_ctrl_c("cwnd.run(cwnd.Scenario.dumbbell(Reno, rate='1gbit', duration='10000s', seeds=1))")
