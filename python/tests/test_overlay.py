"""Runs and recordings laid over each other."""

import pickle
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import cwnd


@pytest.fixture(scope="module")
def scenario() -> cwnd.Scenario:
    path: dict[str, Any] = {"rate": "10mbit", "rtt": "20ms", "queue": "droptail:10p", "duration": "6s", "warmup": "1s"}
    return cwnd.Scenario.dumbbell("reno", **path)


@pytest.fixture(scope="module")
def run(scenario: cwnd.Scenario) -> cwnd.RunResult:
    return cwnd.run(scenario, seed=1)


@pytest.fixture(scope="module")
def files(scenario: cwnd.Scenario, run: cwnd.RunResult, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("overlay")
    toml = directory / "scenario.toml"
    toml.write_text(scenario.to_toml(), encoding="utf-8")
    return [toml, *sorted(run.export(directory, ["qlog", "pcapng"]).iterdir())]


@pytest.fixture(scope="module")
def overlaid(files: list[Path]) -> cwnd.Overlay:
    return cwnd.overlay(*files, labels=["run", "log", "wire"])


def test_recordings_of_a_run_agree_with_it(overlaid: cwnd.Overlay, run: cwnd.RunResult) -> None:
    assert [flow.source for flow in overlaid.flows] == ["simulated", "qlog", "capture"]
    simulated = overlaid["run: reno"]
    [goodput] = run.flows["goodput_bps"]
    assert simulated.goodput_bps == pytest.approx(goodput, rel=1e-9)
    assert simulated.retransmitted_packets is not None
    assert simulated.retransmitted_packets > 0
    for name in ("log: reno", "wire: reno"):
        recorded = overlaid[name]
        assert recorded.retransmitted_packets == simulated.retransmitted_packets
        # A packet at each end of the measured time.
        assert recorded.goodput_bps == pytest.approx(goodput, abs=2 * 1460 * 8 / 5)
    assert overlaid["wire: reno"].window_packets is None
    assert overlaid["log: reno"].window_packets == pytest.approx(simulated.window_packets, rel=1e-2)


def test_it_is_a_mapping_and_a_table(overlaid: cwnd.Overlay) -> None:
    assert list(overlaid) == ["run: reno", "log: reno", "wire: reno"]
    table = pl.DataFrame(overlaid)
    assert table["flow"].to_list() == list(overlaid)
    assert table["retransmitted_packets"].to_list() == [flow.retransmitted_packets for flow in overlaid.flows]
    assert {field.name for field in overlaid.table.fields} == set(cwnd.OverlaidFlow.__slots__)
    assert set(overlaid.trace["flow"]) == set(overlaid)
    assert "seed" not in overlaid.trace
    assert overlaid.warmup_s == 1.0


def test_the_report_is_one_page_that_a_pickle_has(
    overlaid: cwnd.Overlay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = overlaid.report(tmp_path / "overlay.html").read_text(encoding="utf-8")
    assert "wire: reno" in html
    assert "cwnd.overlay(" in html
    kept = pickle.dumps(overlaid)
    monkeypatch.setattr(cwnd._native, "overlay", None)  # a pickle reads no file again
    assert pickle.loads(kept).report(tmp_path / "again.html").read_text(encoding="utf-8") == html
    assert str(overlaid).startswith("flow")
    assert overlaid.warnings == []


def test_inputs_begin_where_offsets_say(files: list[Path]) -> None:
    log = files[1]
    begins = [flow.from_s for flow in cwnd.overlay(log, log, offsets=["0s", timedelta(seconds=1.5)]).flows]
    assert begins[1] - begins[0] == pytest.approx(1.5)
    of_recordings = cwnd.overlay(files[0], log, offsets="2s")
    assert [round(flow.from_s, 1) for flow in of_recordings.flows] == [0.0, 2.0]
    assert of_recordings.warnings == []
    [warning] = cwnd.overlay(files[0], files[0], offsets="2s").warnings
    assert "offsets: has no effect" in warning


def test_scenarios_are_changed(files: list[Path], tmp_path: Path) -> None:
    changed = cwnd.overlay(files[0], set={"flow.0.algorithm": "cubic", "duration": timedelta(seconds=3)})
    [flow] = changed.flows
    assert (flow.algorithm, flow.to_s) == ("cubic", 3.0)
    html = changed.report(tmp_path / "changed.html").read_text(encoding="utf-8")
    assert "On 10mbit" in html
    assert "flow.0.algorithm" in html


def test_labels_are_the_names_of_files(files: list[Path]) -> None:
    again = cwnd.overlay(files[1], files[1])
    assert len(again) == 2
    assert len({flow.input for flow in again.flows}) == 2


def test_a_log_that_ends_within_a_record_is_read_with_a_warning(files: list[Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.sqlog"
    cut.write_bytes(files[1].read_bytes()[:-20])
    overlaid = cwnd.overlay(cut)
    [warning] = overlaid.warnings
    assert "ends within a record" in warning
    assert "ends within a record" in overlaid._repr_html_()


def test_connections_that_are_left_out_are_named(tmp_path: Path) -> None:
    line = (
        "  iperf3-1 [000] ..s1. {at:.6f}: tcp_probe: family=AF_INET src=10.0.0.1:{port} dest=10.0.0.2:5201 mark=0x0 "
        "data_len=1448 snd_nxt=0x{sent:x} snd_una=0x{acked:x} snd_cwnd=20 ssthresh=2147483647 snd_wnd=65535 srtt=20000 "
        "rcv_wnd=65535 sock_cookie=1"
    )
    log = tmp_path / "probe.txt"
    log.write_text(
        "\n".join(
            line.format(at=1 + step / 10, port=1000 + flow, sent=14480 * (step + 1), acked=14480 * step + flow)
            for step in range(4)
            for flow in range(70)
        )
    )
    overlaid = cwnd.overlay(log)
    assert len(overlaid.flows) == 64
    [warning] = overlaid.warnings
    assert "the busiest 64 connections are taken, and 6 with fewer bytes left out" in warning


@pytest.fixture
def _directory(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("nothing of ours", encoding="utf-8")
    Path("directory").mkdir()
    Path("wrong.toml").write_text("[dumbbell]\nrat = '1mbit'\n", encoding="utf-8")
    Path("log").write_bytes(files[1].read_bytes())


@pytest.mark.usefixtures("_directory")
@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ([], {}, cwnd.ArgumentError, "paths: name at least one"),
        (["no such file"], {}, cwnd.FileError, "cannot read `no such file`"),
        ([1], {}, cwnd.ArgumentError, "paths: expected a path, got 1"),
        (["text"], {}, cwnd.FileError, "none of what can be laid over a run"),
        (["directory"], {}, cwnd.FileError, "not a directory of results"),
        (["wrong.toml"], {}, cwnd.ScenarioError, "did you mean"),
        (["log", "log"], {"labels": ["a", "a"]}, cwnd.ArgumentError, "two inputs cannot both be `a`"),
        (["log"], {"labels": ["a", "b"]}, cwnd.ArgumentError, "labels: expected at most 1"),
        (["log"], {"labels": "ab"}, cwnd.ArgumentError, "labels: expected a list"),
        (["log"], {"offsets": "soon"}, cwnd.ArgumentError, "offsets: cannot read `soon`"),
        (["log"] * 3, {"offsets": ["1s", "2s"]}, cwnd.ArgumentError, "offsets: expected one, or 3"),
        (["log"], {"offsets": b"1s"}, cwnd.ArgumentError, "offsets: expected a list of texts"),
        (["log"], {"offsets": np.timedelta64("NaT")}, cwnd.ArgumentError, "offsets: .* got np.timedelta64.'NaT'"),
        (["log"], {"offsets": timedelta(days=213504)}, cwnd.ArgumentError, "offsets: .* at most 1e8 s"),
        (["log"], {"set": {"flow.0.algorithm": cwnd.WindowRule}}, cwnd.ScenarioError, "set: flow.0.algorithm: an alg"),
        (["log"], {"offsets": 1}, cwnd.ArgumentError, "offsets: expected a list of texts"),
        (["log"], {"set": {"duration": "3s"}}, cwnd.ArgumentError, "set: duration=3s: none of the inputs"),
        (["log"], {"set": "duration=3s"}, cwnd.ArgumentError, "set: expected a"),
        (["log"], {"mss": 0}, cwnd.ArgumentError, "mss: expected a whole number"),
        (["log"], {"memory": "4"}, cwnd.ArgumentError, "memory: "),
        (["log"], {"memory": "1kB"}, cwnd.FileError, r"it is longer than .* \(`memory`\)"),
    ],
)
def test_what_cannot_be_laid_over_a_run_is_refused(
    given: list[object], options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        cwnd.overlay(*given, **options)  # type: ignore[arg-type]
