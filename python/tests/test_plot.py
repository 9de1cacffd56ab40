"""Plots: what is drawn is what the tables have."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

mpl.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

import cwnd
from cwnd.plot import colour, heatmap
from cwnd.plot._colour import MUTED

PATH: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "duration": "6s", "warmup": "2s", "seeds": 2}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def result() -> cwnd.RunResult:
    return cwnd.run(cwnd.Scenario.dumbbell(["reno", "simd"], **PATH))


@pytest.fixture(scope="module")
def comparison() -> cwnd.Comparison:
    return cwnd.compare(["reno", "simd:beta=1/8"], **PATH)


def of(table: cwnd.Table, column: str, seed: int, **where: str) -> Any:
    frame = table.to_pandas()
    for key, value in {"seed": seed, **where}.items():
        frame = frame[frame[key] == value]
    return frame[column].to_numpy()


def drawn(axes: Axes) -> dict[str, tuple[Any, Any]]:
    return {str(line.get_label()): (line.get_xdata(), line.get_ydata()) for line in axes.lines}


@pytest.mark.parametrize(
    ("method", "column", "scale", "label"),
    [("window", "window_packets", 1.0, "Window (packets)"), ("rtt", "srtt_s", 1e3, "Round-trip time (ms)")],
)
def test_lines_over_time_are_the_trace(
    result: cwnd.RunResult, method: str, column: str, scale: float, label: str
) -> None:
    axes = getattr(result.plot, method)(seed=2)
    lines = drawn(axes)
    assert list(lines) == ["reno", "simd"]
    for flow, (x, y) in lines.items():
        assert np.array_equal(x, of(result.trace, "time_ns", 2, flow=flow) / 1e9)
        expected = scale * of(result.trace, column, 2, flow=flow)
        expected[0] = np.nan  # Flows start within a round trip.
        assert np.array_equal(y, expected, equal_nan=True)
    assert [line.get_color() for line in axes.lines] == [colour("reno"), colour("simd")]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Time (s)", label)
    assert axes.get_xlim() == (0.0, 6.0)
    # The warm-up is shaded.
    [shade] = axes.patches
    assert shade.get_extents().transformed(axes.transData.inverted()).x1 == pytest.approx(2.0)


def test_the_queue_is_that_of_the_bottleneck(result: cwnd.RunResult) -> None:
    [(_, y)] = drawn(result.plot.queue()).values()
    assert np.array_equal(y, of(result.link_trace, "queue_packets", 1, link="bottleneck"))


def test_internals_and_chosen_flows(result: cwnd.RunResult) -> None:
    lines = drawn(result.plot.series("w0", flows=["simd"]))
    assert list(lines) == ["simd"]
    expected = of(result.trace, "w0", 1, flow="simd").copy()
    expected[0] = np.nan  # Flows start within a round trip.
    assert np.array_equal(lines["simd"][1], expected, equal_nan=True)
    # A threshold that is infinite at first is left out there.
    _, thresholds = drawn(result.plot.series("ssthresh"))["reno"]
    assert np.isnan(thresholds[0])


def test_goodput_adds_up_to_what_was_delivered(result: cwnd.RunResult) -> None:
    axes = result.plot.goodput(interval=0.5)
    lines = drawn(axes)
    for flow in ["reno", "simd"]:
        x, y = lines[flow]
        assert x == pytest.approx(np.arange(0.25, 6, 0.5))
        delivered = of(result.trace, "delivered_packets", 1, flow=flow)[-1]
        assert 0.5e6 * y.sum() == pytest.approx(delivered * 1460 * 8)
        # After the warm-up the mean is the goodput of the flow.
        assert 1e6 * y[x > 2].mean() == pytest.approx(of(result.flows, "goodput_bps", 1, flow=flow)[0])
    assert set(lines["rate of the bottleneck"][1]) == {20.0}


def test_utilisation_is_that_of_the_summary(result: cwnd.RunResult) -> None:
    [(x, y)] = drawn(result.plot.utilisation(interval=0.5)).values()
    # No interval has more than 100 %, so each is within a packet of 12000 bits of the 10 Mbit that the line carries.
    assert y[x > 2].mean() == pytest.approx(100 * of(result.summary, "utilisation", 1)[0], abs=100 * 12000 / 10e6)


def test_fairness_is_jains_index_of_goodputs(result: cwnd.RunResult) -> None:
    goodputs = drawn(result.plot.goodput(interval=1.0))
    lines = drawn(result.plot.fairness())
    # In the first second each flow is measured from its own start on.
    one, other = goodputs["reno"][1][1:], goodputs["simd"][1][1:]
    assert lines["Jain's index"][1][1:] == pytest.approx((one + other) ** 2 / (2 * (one**2 + other**2)))
    assert set(lines["one flow has everything"][1]) == {0.5}


def test_the_phase_plane_has_both_flows_and_the_line_of_fairness(result: cwnd.RunResult) -> None:
    goodputs = drawn(result.plot.goodput())
    axes = result.plot.phase()
    lines = drawn(axes)
    x, y = lines["fair shares"]
    assert list(x) == list(y)
    [points] = axes.collections
    assert np.array_equal(points.get_offsets(), np.column_stack([goodputs["reno"][1], goodputs["simd"][1]]))
    # Payload at a full bottleneck: 20 Mbit/s times 1460/1500.
    assert lines["bottleneck full"][1][0] == pytest.approx(20 * 1460 / 1500)
    assert [end[0] for end in lines["end"]] == [goodputs["reno"][1][-1], goodputs["simd"][1][-1]]
    assert axes.get_xlabel() == "Goodput of reno (Mbit/s)"
    turned = result.plot.phase(("simd", "reno"))
    assert turned.get_xlabel() == "Goodput of simd (Mbit/s)"


def test_a_distribution_has_every_sample_after_the_warm_up(result: cwnd.RunResult) -> None:
    x, y = drawn(result.plot.cdf("window_packets"))["reno"]
    after = of(result.trace, "time_ns", 1, flow="reno") >= 2e9
    assert np.array_equal(x, np.sort(of(result.trace, "window_packets", 1, flow="reno")[after]))
    assert (y[0], y[-1]) == (1 / len(y), 1.0)
    [(x, _)] = drawn(result.plot.cdf("queue_packets")).values()
    assert len(x) == 41
    assert len(drawn(result.plot.cdf("goodput_bps"))) == 2


def test_distributions_of_a_comparison_take_all_flows(comparison: cwnd.Comparison) -> None:
    lines = drawn(comparison.plot.cdf("window_packets"))
    assert list(lines) == ["reno", "simd:beta=1/8"]
    assert len(lines["reno"][0]) == 2 * 41


def test_all_plots_at_once(result: cwnd.RunResult, comparison: cwnd.Comparison) -> None:
    titles = [axes.get_title(loc="left") for axes in result.plot().axes]
    assert titles == ["Window", "Goodput", "Queue", "Round-trip time", "Fairness", "Phase plane"]
    alone = cwnd.run(cwnd.Scenario.dumbbell("reno", **PATH))
    assert len(alone.plot().axes) == 4
    assert len(comparison.plot().axes) == 2


def test_the_trade_off_has_the_estimates(comparison: cwnd.Comparison) -> None:
    axes = comparison.plot.trade_off()
    for container, row in zip(axes.containers, comparison.rows, strict=True):
        line, _, (across, along) = container
        delay, used = row["queue_delay_mean_s"], row["utilisation"]
        assert (line.get_xdata()[0], line.get_ydata()[0]) == (1e3 * delay.mean, 1e2 * used.mean)
        assert across.get_segments()[0][:, 0] == pytest.approx([1e3 * max(delay.low, 0), 1e3 * delay.high])
        assert along.get_segments()[0][:, 1] == pytest.approx([1e2 * used.low, 1e2 * used.high])


def test_shares_are_the_goodputs_of_flows(comparison: cwnd.Comparison) -> None:
    axes = comparison.plot.shares()
    widths = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    shares = [flow for row in comparison.rows for flow in row.flow_goodput_bps if flow]
    assert widths == pytest.approx([1e-6 * share.mean for share in shares])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["reno", "simd:beta=1/8"]


ROWS = [
    {"rate": "10mbit", "loss": 0.01, "seed": 1, "share": 0.2},
    {"rate": "10mbit", "loss": 0.01, "seed": 2, "share": 0.4},
    {"rate": "10mbit", "loss": 0.0, "seed": 1, "share": 0.5},
    {"rate": "5mbit", "loss": 0.0, "seed": 1, "share": float("nan")},
]


@pytest.mark.parametrize("rows", [ROWS, pl.DataFrame(ROWS), pd.DataFrame(ROWS)], ids=["rows", "polars", "pandas"])
def test_a_heat_map_has_the_mean_of_every_cell(rows: Any) -> None:
    axes = heatmap(rows, "rate", "loss", "share", title="Share")
    [image] = axes.images
    cells: Any = np.ma.filled(np.ma.asarray(image.get_array()), np.nan)
    # Losses in order, rates as they came; upwards.
    assert cells == pytest.approx(np.array([[0.5, np.nan], [0.3, np.nan]]), nan_ok=True)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10mbit", "5mbit"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "0.01"]
    assert sorted(text.get_text() for text in axes.texts) == ["0.3", "0.5"]
    with pytest.raises(cwnd.ArgumentError, match="value: no column `shares` in `rows`, expected one of rate, loss"):
        heatmap(rows, "rate", "loss", "shares")


def test_plots_draw_on_the_axes_given(result: cwnd.RunResult) -> None:
    _, axes = pyplot.subplots()
    assert result.plot.window(ax=axes) is axes


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda result: result.plot.window(seed=9), "seed: 9 was not run, expected one of 1, 2"),
        (lambda result: result.plot.window(flows=["cubic"]), "no `cubic`, expected some of `reno`, `simd`"),
        (lambda result: result.plot.series("windows"), "no `windows` in the traces, which have sent_packets"),
        (lambda result: result.plot.series("algorithm"), "`algorithm` is text"),
        (lambda result: result.plot.goodput(interval=0.01), r"interval: expected 0\.1 to 6 seconds"),
        (lambda result: result.plot.phase(("reno",)), "flows: expected two of them"),
        (lambda result: result.plot.cdf("pacing_rate_packets_per_s"), "no numbers after the warm-up"),
    ],
)
def test_errors_say_what_there_is(result: cwnd.RunResult, draw: Any, message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        draw(result)


def test_one_flow_has_no_phase_plane() -> None:
    with pytest.raises(cwnd.ArgumentError, match="has two of them"):
        cwnd.run(cwnd.Scenario.dumbbell("reno", **PATH)).plot.phase()


def rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """Find what a chart draws where a layer has no data of its own."""
    found: list[dict[str, Any]] = chart["datasets"]["table"]
    return found


CHARTS = ["window", "rtt", "queue", "goodput", "utilisation", "fairness", "cdf"]


@pytest.mark.parametrize("method", CHARTS)
def test_charts_have_the_numbers_of_plots(result: cwnd.RunResult, method: str) -> None:
    lines = drawn(getattr(result.plot, method)())
    chart = getattr(result.chart, method)().to_dict()
    [layer] = [layer for layer in chart["layer"] if layer["mark"]["type"] == "line"]
    curves: dict[str, list[tuple[float, float]]] = {}
    color, x, y = (layer["encoding"][channel] for channel in ("color", "x", "y"))
    unit = {"(ms)": 1e3, "(Mbit/s)": 1e-6, "(%)": 1e2}.get(y["title"].split()[-1], 1.0)
    across = 1e3 if x["title"].endswith("(ms)") else 1.0
    for row in rows(chart):
        up = np.nan if row[y["field"]] is None else unit * row[y["field"]]
        curves.setdefault(row[color["field"]], []).append((across * row[x["field"]], up))
    scale = color["scale"]
    assert scale["domain"] == list(curves)
    flows = [colour("reno"), colour("simd")]
    assert scale["range"] == ([MUTED] if method in ("queue", "utilisation", "fairness") else flows[: len(curves)])
    for flow, points in curves.items():
        assert np.array_equal(np.array(points), np.column_stack(lines[flow]), equal_nan=True)


def test_the_chart_of_the_phase_plane(result: cwnd.RunResult) -> None:
    chart = result.chart.phase().to_dict()
    fair, full, _, _, end = chart["layer"]
    assert all(row["x1_bps"] == row["x2_bps"] for row in fair["data"]["values"])
    assert full["data"]["values"][0]["x2_bps"] == pytest.approx(20e6 * 1460 / 1500)
    [drawn_points] = result.plot.phase().collections
    places = [(1e-6 * row["x1_bps"], 1e-6 * row["x2_bps"]) for row in rows(chart)]
    assert np.array_equal(np.array(places), drawn_points.get_offsets())
    last = rows(chart)[-1]
    assert end["data"]["values"] == [{"x1_bps": last["x1_bps"], "x2_bps": last["x2_bps"]}]


def test_charts_of_a_comparison(comparison: cwnd.Comparison) -> None:
    points = rows(comparison.chart.trade_off().to_dict())
    assert [row["utilisation"] for row in points] == [row["utilisation"].mean for row in comparison.rows]
    bars = rows(comparison.chart.shares().to_dict())
    assert [bar["position"] for bar in bars] == ["1", "2", "1", "2"]
    first = comparison["reno"].flow_goodput_bps[0]
    assert first is not None
    assert bars[0]["goodput_bps"] == first.mean
    curves = comparison.chart.cdf("window_packets").to_dict()["layer"][0]
    assert curves["mark"]["interpolate"] == "step-after"


def test_colours_are_those_of_the_reports() -> None:
    source = (Path(__file__).parents[2] / "crates/cwnd-report/src/plot/colour.rs").read_text(encoding="utf-8")
    table = dict(re.findall(r'\("([\w-]+)", "(#\w{6})", "#\w{6}"\)', source))
    for name in ("reno", "simd", "miad"):
        assert colour(name) == table[name]
    assert colour("simd:beta=1/8") == table["simd"]
    assert colour(" mine:x=1") == colour("mine")
    # FNV-1a of "a" is 0xe40c292c, 340 of 360 degrees: hsl(340 65% 33%).
    assert colour("a") == "#8b1d42"


@pytest.mark.parametrize(
    ("missing", "call"), [("matplotlib", "result.plot.window()"), ("altair", "result.chart.window()")]
)
def test_a_missing_library_is_named(missing: str, call: str) -> None:
    code = (
        f"import sys; sys.modules['{missing}'] = None\n"
        "import cwnd\n"
        "result = cwnd.run(cwnd.Scenario.dumbbell('reno', duration='2s', warmup='1s', seeds=1))\n"
        f"try: {call}\n"
        "except ImportError as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'cwnd[plot]'" in found.stdout


def test_importing_cwnd_loads_no_plotting_library() -> None:
    code = "import cwnd, sys; assert not {'matplotlib', 'altair'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
