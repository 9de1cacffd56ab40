"""Searches for counterexamples."""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

import cwnd
from cwnd import _dask, _falsify

QUICK: dict[str, Any] = {"profile": "anything", "search": "random", "evaluations": 16, "seeds": 2}


class Stuck(cwnd.WindowRule):
    """Never more than two packets."""

    name = "Stuck"

    def grow(self, w: float, view: cwnd.View) -> float:
        return 2.0 - w

    def cut(self, w: float, view: cwnd.View) -> float:
        return 2.0


def test_a_counterexample_is_a_scenario_that_breaks_the_property(tmp_path: Path) -> None:
    found = cwnd.falsify("bbr", "starvation", answers=1, **QUICK)
    assert (found.algorithm, found.property) == ("bbr", "starvation > 0.1")
    (one,) = found.counterexamples
    assert one.value < 0.1
    assert one.margin < 0.0
    assert set(one.without) <= set(one.needs)
    shares = [flow["goodput_bps"] for flow in cwnd.run(one.scenario).document["flows"]]
    assert min(s["mean"] for s in shares) < 0.1 * max(s["mean"] for s in shares)
    path = one.save(tmp_path / "one.toml")
    assert path.read_text().startswith("# cwnd falsify: starvation > 0.1")
    assert found == cwnd.falsify("bbr", "starvation", answers=1, **QUICK)
    assert "1 counterexample" in str(found)


def test_an_algorithm_in_python_is_held_to_a_property() -> None:
    found = cwnd.falsify(Stuck, "progress", evaluations=4, seeds=1, answers=1)
    assert found.algorithm == "Stuck"
    (one,) = found.counterexamples
    assert one.value > 20.0
    assert 'algorithm = "Stuck"' in one.toml
    scenario = one.scenario
    assert scenario["flow"][0]["algorithm"] is Stuck
    assert cwnd.run(scenario).document["flows"][0]["algorithm"] == "Stuck"


def test_a_function_of_a_run_is_a_property() -> None:
    def used(run: cwnd.RunResult) -> float | None:
        assert len(run.digests) == 1
        assert run.trace["window_packets"].max() > 1.0
        return float(run.summary["utilisation"][0]) - 0.9

    given: dict[str, Any] = {"evaluations": 8, "seeds": 1, "answers": 1, "search": "random"}
    found = cwnd.falsify("reno", used, **given)
    assert found.property == "used >= 0"
    text = cwnd.falsify("reno", "utilisation > 0.9", **given)
    assert found.document["broken"] == text.document["broken"] > 0
    (one,) = found.counterexamples
    assert one.margin == one.value < 0.0
    assert one.toml.startswith("# cwnd.falsify: used >= 0\n")
    assert cwnd.run(one.scenario).summary["utilisation"][0] == pytest.approx(0.9 + one.value)
    assert cwnd.falsify("reno", lambda _: None, **given).document["closest"] is None
    # Next to an algorithm in Python, on the calling thread.
    (one,) = cwnd.falsify(Stuck, used, evaluations=2, seeds=1, answers=1).counterexamples
    assert one.margin < 0.0


def test_an_expression_over_measures_is_a_property() -> None:
    found = cwnd.falsify("bbr", "utilisation - 2*loss_rate > 0.99", evaluations=4, seeds=1, answers=1, search="random")
    assert found.property == "utilisation - 2*loss_rate > 0.99"
    (one,) = found.counterexamples
    run = cwnd.run(one.scenario).summary
    assert one.value == pytest.approx(run["utilisation"][0] - 2 * run["loss_rate"][0])


def test_a_search_continues_from_its_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    given: dict[str, Any] = {"seeds": 1, "answers": 1}
    whole = cwnd.falsify("reno", "steady-loss", evaluations=40, **given)
    cwnd.falsify("reno", "steady-loss", evaluations=20, corpus=corpus, **given)
    assert len(corpus.read_text().splitlines()) == 6 + 20
    assert cwnd.falsify("reno", "steady-loss", evaluations=40, corpus=corpus, **given) == whole
    with pytest.raises(cwnd.ArgumentError, match="evaluations: 20 is below the 40 of the corpus"):
        cwnd.falsify("reno", "steady-loss", evaluations=20, corpus=corpus)
    with pytest.raises(cwnd.ArgumentError, match="is the corpus of another search"):
        cwnd.falsify("reno", "steady-loss", evaluations=40, corpus=corpus, seed=2)
    for algorithm, broken in (("reno", lambda _: 1.0), (Stuck, "progress")):
        with pytest.raises(cwnd.ArgumentError, match="expected an algorithm and a property as text"):
            cwnd.falsify(algorithm, broken, corpus=corpus)


@pytest.mark.skipif(sys.platform == "win32", reason="a process there has no signals")
def test_an_interruption_keeps_the_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        cwnd.falsify("reno", "progress", evaluations=1_000_000, corpus=corpus)
    done = len(corpus.read_text().splitlines()) - 6
    again = cwnd.falsify("reno", "progress", evaluations=done + 1, seeds=1, corpus=corpus)
    assert again.document["evaluations"] == done + 1


def test_evaluations_in_processes_are_those_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"evaluations": 32, "seeds": 2, "answers": 1}
    apart = cwnd.falsify("vegas", "backlog-utilisation", **given)
    assert apart.counterexamples
    monkeypatch.setattr(_falsify, "get_executable", lambda: None)
    assert cwnd.falsify("vegas", "backlog-utilisation", **given) == apart


def test_a_process_that_ends_is_a_failed_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_falsify, "worker", lambda: [sys.executable, "-c", "raise SystemExit(3)"])
    found = cwnd.falsify("reno", "progress", evaluations=4).document
    assert found["failed"] == 4
    assert "the run ended its process: exit" in found["failures"][0]["error"]


def test_a_search_over_a_cluster_is_that_of_one_machine(client: Client, tmp_path: Path) -> None:
    given: dict[str, Any] = {"evaluations": 40, "seeds": 2, "answers": 2}
    here = cwnd.falsify("reno", "backlog-utilisation", corpus=tmp_path / "here", **given)
    assert here.counterexamples
    there = cwnd.falsify("reno", "backlog-utilisation", client=client, corpus=tmp_path / "there", **given)
    assert there == here
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    with pytest.raises(cwnd.SimulationError, match="a worker refused its task: the request is of other sources"):
        _ask(client, "0123 4567\nprogress < 20\n1 0\n")
    for algorithm, broken in (("reno", lambda _: 1.0), (Stuck, "progress")):
        with pytest.raises(cwnd.ArgumentError, match="client: workers have no function of yours"):
            cwnd.falsify(algorithm, broken, client=client)


def _ask(client: Client, request: str) -> object:
    with _dask.evaluating(client) as evaluate:
        return [answers for answers in evaluate([request]) if answers is not None]


def test_a_worker_that_is_lost_costs_no_evaluation(client: Client) -> None:
    given: dict[str, Any] = {"evaluations": 48, "seeds": 1, "answers": 1}
    here = cwnd.falsify("cubic", "steady-loss", **given)
    victim = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(0.5, os.kill, (victim, signal.SIGTERM))
    timer.start()
    assert cwnd.falsify("cubic", "steady-loss", client=client, **given) == here


@pytest.mark.skipif(sys.platform == "win32", reason="a process there has no signals")
def test_an_interruption_ends_a_search_over_a_cluster(client: Client, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        cwnd.falsify("reno", "progress", evaluations=1_000_000, corpus=corpus, client=client)
    assert len(corpus.read_text().splitlines()) >= 6


def test_what_a_function_raises_or_returns_ends_the_search() -> None:
    def broken(_: cwnd.RunResult) -> float:
        raise RuntimeError("no margin")

    for algorithm in ("reno", Stuck):
        with pytest.raises(RuntimeError, match="no margin"):
            cwnd.falsify(algorithm, broken, evaluations=1000)
    message = "property: the margin by `<lambda>`: expected a finite number, got True"
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.falsify("reno", lambda _: True, evaluations=1000)


def test_what_an_algorithm_raises_ends_the_search() -> None:
    class Broken(Stuck):
        def grow(self, w: float, view: cwnd.View) -> float:
            raise RuntimeError("no growth")

    with pytest.raises(RuntimeError, match="no growth"):
        cwnd.falsify(Broken, "progress", evaluations=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"property": "starvtion"}, "property: unknown property `starvtion`; did you mean `starvation`"),
        ({"property": "utilisation"}, "property: the measure `utilisation` needs a bound"),
        ({"property": "jain - los_rate > 0"}, "property: unknown measure `los_rate`; did you mean `loss_rate`"),
        ({"property": "l4s-delay < -1"}, "property: the bound of `l4s-delay` is -1: accepted is above 0"),
        ({"profile": "moon"}, "profile: expected one of home, mobile, datacentre, satellite, anything, got `moon`"),
        ({"search": "luck"}, "search: expected one of elites, random, got `luck`"),
        ({"evaluations": 0}, "evaluations: expected a whole number from 1"),
    ],
)
def test_errors_name_the_argument(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.falsify("reno", **{"property": "progress", "evaluations": 1, **given})
