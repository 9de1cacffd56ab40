"""Conformance checks."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import cwnd


class Reno(cwnd.WindowRule):
    name = "Reno in Python"

    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2.0


class Timid(Reno):
    name = "Timid"

    def cut(self, w: float, view: cwnd.View) -> float:
        return w * 0.9


def test_verdicts_have_their_numbers() -> None:
    judged = cwnd.conform("reno", suites=["rfc5681"], seeds=2)
    assert judged.subject == "reno"
    assert {check.suite for check in judged.checks} == {"rfc5681"}
    halve = judged["5681-halve"]
    assert (halve.verdict, halve.level, halve.looks, halve.accepted) == ("meets", "must", "window", (0.4, 0.51))
    assert halve.value is not None
    assert halve.value.mean == pytest.approx(0.5, abs=0.01)
    assert halve.value.n == 2
    assert judged.departures == ()
    assert "0 deviated from" in repr(judged)
    with pytest.raises(KeyError):
        judged["9438-beta"]


def test_an_algorithm_in_python_is_judged_by_the_law_it_claims(tmp_path: Path) -> None:
    ids = ["5681-halve", "9438-beta", "5681-avoidance"]
    judged = cwnd.conform(Reno, checks=ids, seeds=1, law="reno")
    assert [check.verdict for check in judged.checks] == ["meets", "meets", "not_applicable"]
    timid = cwnd.conform(Timid, checks=ids, seeds=1, law="reno")
    assert [check.id for check in timid.departures] == ["5681-halve"]
    assert "5681-halve" in str(timid)
    path = timid.junit(tmp_path / "timid.xml")
    cases = ElementTree.parse(path).iter("testcase")
    failures = [case.get("name") or "" for case in cases if case.find("failure") is not None]
    assert len(failures) == 1
    assert failures[0].startswith("5681-halve: ")
    # Clauses about Reno are not meant for what does not claim to be it.
    assert cwnd.conform(Timid, checks=["5681-halve"], seeds=1).checks[0].verdict == "not_applicable"


def test_what_an_algorithm_raises_ends_it() -> None:
    class Broken(Reno):
        def grow(self, w: float, view: cwnd.View) -> float:
            raise RuntimeError("no growth")

    with pytest.raises(RuntimeError, match="no growth"):
        cwnd.conform(Broken, checks=["5681-halve"], seeds=1, law="reno")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"suites": ["rfc1"]}, "suites: expected some of rfc5681"),
        ({"suites": "rfc5681"}, "suites: expected a list"),
        ({"checks": ["none"]}, "checks: there is no check `none`"),
        ({"seeds": 0}, "seeds: expected a whole number from 1 to 1000"),
        ({"law": "vegas"}, "law: expected `reno`"),
    ],
)
def test_errors_name_the_argument(given: dict[str, Any], message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.conform("reno", **given)
