"""Comparisons."""

from typing import Any

import polars as pl
import pytest

import cwnd

SHORT: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "duration": "4s", "warmup": "1s", "seeds": 2}


def test_rows_have_estimates_with_intervals() -> None:
    result = cwnd.compare(["reno", "aimd:b=1/8"], **SHORT)
    assert [row.algorithm for row in result.rows] == ["reno", "aimd:b=1/8"]
    utilisation = result["reno"]["utilisation"]
    assert utilisation.n == 2
    assert utilisation.low <= utilisation.mean <= utilisation.high
    assert len(result["reno"].flow_goodput_bps) == 2
    assert result.rows[0].versus is None
    # Flows start together: nobody converges to them.
    assert "convergence_time_s" not in result.rows[0]


def test_the_text_is_that_of_the_command_line() -> None:
    text = str(cwnd.compare(["reno", "simd"], **SHORT))
    assert text.startswith("2 flows of each algorithm on 20mbit, 20ms, droptail:1bdp, era modern\n2 seeds of 4 s")


def test_a_transient_is_not_called_the_best() -> None:
    path: dict[str, Any] = {"rate": "200mbit", "rtt": "100ms", "duration": "15s", "warmup": "5s", "seeds": 3}
    result = cwnd.compare(["reno", "scalable"], **path)
    assert result.path == "200mbit, 100ms, droptail:1bdp, era modern"
    found = result["reno"].stationarity
    assert (found.stationary, found.cycles, found.counted) == (False, 0, "congestion events")
    assert found.reason == "no congestion event of reno in the window"
    assert found.try_duration_s is not None
    assert found.try_duration_s > 600
    assert not any(row.best_in for row in result.rows)


def test_below_five_seeds_the_range_is_shown() -> None:
    row = cwnd.compare(["reno"], **SHORT)["reno"]
    values = row.result.summary["jain"]
    assert (row["jain"].low, row["jain"].high) == (min(values), max(values))
    assert " to " in str(row["jain"])
    assert str(cwnd.metrics.estimate([1, 2, 3, 4])) == "2.5 (1.0 to 4.0)"


def test_against_another() -> None:
    [row] = cwnd.compare(["simd"], versus="reno", **SHORT).rows
    assert row.versus is not None
    assert row.versus.algorithm == "reno"
    assert row.versus.share is not None
    assert 0 < row.versus.share.mean < 1
    assert list(row.versus.result.flows["algorithm"][:4]) == ["simd", "simd", "reno", "reno"]


def test_the_table_is_tidy() -> None:
    result = cwnd.compare(["reno", "simd"], **SHORT)
    frame = pl.DataFrame(result)
    assert frame.columns == ["algorithm", "measure", "unit", "mean", "ci95", "low", "high", "n"]
    jain = frame.filter(algorithm="simd", measure="jain")
    assert jain["mean"].item() == result["simd"]["jain"].mean


def test_the_papers_algorithms_are_compared_by_default() -> None:
    result = cwnd.compare(rate="2mbit", rtt="20ms", duration="2s", warmup="1s", seeds=1)
    assert len(result.rows) == 13
    assert result["reno"]["jain"].ci95 is None
    assert result["bbr3"].versus is None


def test_a_path_that_is_not_described_is_that_of_the_command() -> None:
    result = cwnd.compare(["rule:grow=max(1/w, 0.01),cut=w*3/4"], duration="2s", seeds=1)
    assert result.path == "50mbit, 50ms, droptail:0.25bdp, era modern"
    [row] = result.rows
    assert row.algorithm == "rule:grow=max(1/w, 0.01),cut=w*3/4"
    assert row.versus is not None
    assert row.versus.algorithm == "reno"
    assert [parameter.name for parameter in cwnd.algorithm("rule:grow=2/w").parameters] == ["grow", "cut", "u", "v"]
    with pytest.raises(cwnd.AlgorithmError, match="at character 3"):
        cwnd.compare(["rule:grow=2*x"], duration="2s", seeds=1)


def test_seeds_are_added_until_the_goodput_is_known() -> None:
    few = cwnd.compare(["reno", "simd"], loss=1e-3, **SHORT)
    assert not all(narrow(row) for row in few.rows)
    known = cwnd.compare(["reno", "simd"], loss=1e-3, until="ci<2%", **SHORT)
    assert all(narrow(row) for row in known.rows)
    seeds = {row["goodput_bps"].n for row in known.rows}
    assert seeds <= {3, 4, 6, 9, 13, 19, 28, 42, 63, 94, 100}  # half as many again, every time
    # The first of them are the same runs.
    assert known["reno"].result.digests[:2] == few["reno"].result.digests
    bounded = cwnd.compare(["reno", "simd"], loss=1e-3, until="ci<0.001%", max_seeds=3, **SHORT)
    assert {row["goodput_bps"].n for row in bounded.rows} == {3}


def narrow(row: cwnd.ComparisonRow) -> bool:
    goodput = row["goodput_bps"]
    return goodput.ci95 is not None and goodput.ci95 <= 0.02 * goodput.mean


class Reno(cwnd.WindowRule):
    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2.0


def test_the_warm_up_is_found() -> None:
    path: dict[str, Any] = {"rate": "10mbit", "rtt": "40ms", "seeds": 2, "flows": 1}
    found = cwnd.compare(["reno", Reno], warmup="auto", duration="12s", until="ci<50%", **path)
    warmup = found.document["warmup_s"]
    assert 0 <= warmup <= 6
    assert warmup == pytest.approx(round(warmup))  # five intervals of 200 ms
    given = cwnd.compare(["reno"], warmup=f"{warmup}s", duration="12s", **path)
    assert dict(given["reno"]) == dict(found["reno"]) == dict(found["Reno"])
    with pytest.raises(cwnd.ArgumentError, match=r"warmup: .*longer `duration`"):
        cwnd.compare(["reno"], warmup="auto", duration="1s", **path)


def test_differences_are_taken_seed_by_seed() -> None:
    result = cwnd.compare(["reno", "cubic"], **{**SHORT, "seeds": 5}, paired=True)
    assert "Differences from reno, seed by seed" in str(result)
    assert "Differences from" not in str(cwnd.compare(["reno", "cubic"], **SHORT))
    assert not result["reno"].differences
    difference = result["cubic"].differences["queue_delay_mean_s"]
    cubic, reno = (result[name].result.summary["queue_delay_mean_s"] for name in ("cubic", "reno"))
    expected = cwnd.statistics.paired(cubic, reno)
    assert expected is not None
    assert (difference.mean, difference.low) == pytest.approx((expected.value, expected.low))
    frame = pl.DataFrame(result.differences)
    assert frame.columns == ["algorithm", "measure", "unit", "mean", "ci95", "low", "high", "n"]
    delay = frame.row(by_predicate=pl.col("measure") == "queue_delay_mean_s", named=True)
    assert (delay["algorithm"], delay["unit"], delay["mean"]) == ("cubic", "s", difference.mean)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"until": "2%"}, "until: cannot read `2%`"),
        ({"rate": "fast"}, "rate: "),
        ({"warmup": "9s"}, "warmup: .*less than the duration"),
        ({"flows": 0}, "flows: .*from 1 to"),
        ({"loss": 2}, "loss: "),
        ({"era": "modren"}, "did you mean `modern`"),
    ],
)
def test_errors_name_the_argument(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.compare(["reno"], **{**SHORT, **given})


def test_unknown_algorithms() -> None:
    with pytest.raises(cwnd.AlgorithmError, match="did you mean `reno`"):
        cwnd.compare(["rneo"], **SHORT)
    with pytest.raises(cwnd.ArgumentError, match="expected an algorithm"):
        cwnd.compare([3], **SHORT)  # type: ignore[list-item]
    with pytest.raises(cwnd.ArgumentError, match="at least one"):
        cwnd.compare([], **SHORT)
    with pytest.raises(cwnd.AlgorithmError, match="did you mean `simd`"):
        cwnd.algorithm("simmd")


def test_algorithms_are_described() -> None:
    simd = cwnd.algorithm("simd")
    assert simd in cwnd.algorithms()
    assert [parameter.name for parameter in simd.parameters] == ["beta", "loss"]


def test_packets_can_be_marked() -> None:
    queue = "red:50p,min=5p,max=5p,weight=1,ecn=yes"
    result = cwnd.compare(["dctcp"], queue=queue, ecn="per-packet", **SHORT)
    assert result["dctcp"]["queue_delay_mean_s"].mean < 12 * 12_000 / 20e6
    with pytest.raises(
        cwnd.ArgumentError,
        match=r"ecn: unknown value `always` \(accepted: latch, per-packet, l4s, accecn, accecn-l4s, counts, counts-",
    ):
        cwnd.compare(["dctcp"], ecn="always", **SHORT)


def test_an_argument_that_changes_nothing_is_named() -> None:
    result = cwnd.compare(["reno"], ecn="latch", rate="10mbit", duration="2s", warmup="1s", seeds=1)
    (warning,) = result.warnings
    assert warning.startswith("reno: ecn=latch has no effect: no queue on its path marks packets")


def test_further_keys_of_the_path() -> None:
    plain = cwnd.compare(["reno"], **SHORT)
    noisy = cwnd.compare(["reno"], dumbbell={"impairments": {"jitter": "wifi:7ms"}, "duplex": "half"}, **SHORT)
    assert noisy["reno"]["goodput_bps"].mean < plain["reno"]["goodput_bps"].mean
    as_scenario = cwnd.Scenario.dumbbell("reno", flows=2, **SHORT)
    as_scenario["dumbbell"] |= {"impairments": {"jitter": "wifi:7ms"}, "duplex": "half"}
    assert cwnd.run(as_scenario).digests == noisy["reno"].result.digests


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"rate": "1mbit"}, "^dumbbell: give `rate` as the argument of that name$"),
        ({"impairments": {"jiter": "5ms"}}, "dumbbell: unknown field `jiter`"),
        ({"duplex": "simplex"}, "dumbbell: .*simplex"),
        ({"loss_model": object()}, "dumbbell: .*object"),
        (["jitter"], "dumbbell: "),
    ],
)
def test_wrong_keys_of_the_path_are_named(keys: Any, message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.compare(["reno"], dumbbell=keys, **SHORT)
