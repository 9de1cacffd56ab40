"""Runs of scenarios: what comes back, and what is refused."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cwnd

SHORT = {"rate": "20mbit", "rtt": "20ms", "duration": "4s", "warmup": "1s"}
SCENARIOS = Path(__file__).parents[2] / "scenarios"


def short(algorithms: object = "reno", **others: object) -> cwnd.Scenario:
    return cwnd.Scenario.dumbbell(algorithms, **{**SHORT, "seeds": 2, **others})  # type: ignore[arg-type]


def test_a_run_has_a_row_per_seed_and_flow() -> None:
    result = cwnd.run(short(["reno", "cubic"]))
    assert result.summary["seed"].tolist() == [1, 2]
    assert list(result.flows["flow"]) == ["reno", "cubic"] * 2
    # A payload of 1460 of 1500 bytes at 20 Mbit/s, the link being full.
    assert result.estimates["goodput_bps"].mean == pytest.approx(20e6 * 1460 / 1500, rel=0.01)
    assert float(np.sum(result.flows["goodput_bps"][:2])) == pytest.approx(result.summary["goodput_bps"][0])


def test_one_seed_is_that_of_all() -> None:
    every = cwnd.run(short())
    assert cwnd.run(short(), seed=2).digests == every.digests[1:]
    assert every.digests[0] != every.digests[1]


def test_the_trace_counts_from_the_start() -> None:
    trace = cwnd.run(short(), seed=1).trace
    times = trace["time_ns"]
    assert times[0] == 0
    assert times[-1] == 4_000_000_000
    assert np.all(np.diff(trace["delivered_packets"].astype(np.int64)) >= 0)
    assert np.isnan(trace["srtt_s"][0])
    assert trace["srtt_s"][-1] >= 0.02


def test_bbr3_shows_its_model() -> None:
    trace = cwnd.run(short("bbr3"), seed=1).trace
    # 20 Mbit/s in packets of 1500 bytes, and what a round trip takes without a queue.
    assert trace["max_bw"][-1] == pytest.approx(20e6 / (8 * 1500), rel=0.02)
    assert trace["min_rtt"][-1] == pytest.approx(0.02, rel=0.2)
    assert np.nanmax(trace["state"]) <= 6


def test_scenarios_of_the_project_can_be_read() -> None:
    scenario = cwnd.Scenario.from_toml(SCENARIOS / "dumbbell.toml", changes={"seeds": 1, "dumbbell.rate": "7mbit"})
    assert scenario["seeds"] == 1
    assert scenario["dumbbell.rate"] == "7mbit"
    assert cwnd.Scenario.from_text(scenario.to_toml()).document == scenario.document


def test_keys_may_be_dotted() -> None:
    scenario = short(["reno", "cubic"])
    scenario["flow.1.start"] = "1s"
    scenario["dumbbell.queue"] = "droptail:10p"
    assert scenario["flow"][1] == {"algorithm": "cubic", "count": 1, "start": "1s"}
    del scenario["flow.1.start"]
    assert "start" not in scenario["flow"][1]
    with pytest.raises(KeyError):
        scenario["flow.7.start"]
    with pytest.raises(KeyError):
        scenario["title.text"]


def test_copies_share_nothing() -> None:
    scenario = short()
    copy = scenario.copy()
    copy["dumbbell.rate"] = "1gbit"
    assert scenario["dumbbell.rate"] == "20mbit"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("dumbbell.rate", "fast", "a rate with its unit"),
        ("dumbbell.rat", "1gbit", "did you mean `rate`?"),
        ("dumbbell.rtt", 0.05, "expected a time with its unit"),
        ("flow.0.count", 0, "at least 1"),
        ("flow.0.algorithm", "rneo", "did you mean `reno`?"),
        ("warmup", "5s", "less than the duration, 4 s"),
        ("flow", [], "no flows"),
    ],
)
def test_errors_say_what_is_accepted(key: str, value: object, message: str) -> None:
    scenario = short()
    scenario[key] = value
    with pytest.raises(cwnd.ScenarioError, match=r"scenario:\d+:\d+|no flows") as error:
        cwnd.run(scenario)
    assert message in str(error.value)
    assert isinstance(error.value, ValueError)


def test_errors_of_files_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text('duration = "4s"\n[dumbbell]\nrate = "fast"\n')
    with pytest.raises(cwnd.ScenarioError) as error:
        cwnd.Scenario.from_toml(file)
    assert f"{file}:3:8" in str(error.value)
    with pytest.raises(cwnd.FileError):
        cwnd.Scenario.from_toml(tmp_path / "none.toml")


def test_what_is_no_document_is_refused() -> None:
    scenario = short()
    scenario["title"] = object()
    with pytest.raises(cwnd.ScenarioError, match=r"^title: expected text, a finite number"):
        scenario.check()


def test_the_interpreter_goes_on_during_a_run() -> None:
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    counter = threading.Thread(target=count)
    counter.start()
    cwnd.run(short(rate="500mbit", duration="20s", seeds=1))
    done.set()
    counter.join()
    assert ticks > 3


def test_ctrl_c_ends_a_run(ends_by_ctrl_c: Callable[[str], None]) -> None:
    ends_by_ctrl_c("cwnd.run(cwnd.Scenario.dumbbell('reno', rate='10gbit', duration='10000s', seeds=1))")
