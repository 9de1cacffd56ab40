"""Evaluations by the criteria of RFC 9743."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import cwnd


class Reno(cwnd.WindowRule):
    name = "Reno in Python"

    def grow(self, w: float, view: cwnd.View) -> float:
        return 1.0 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w / 2.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cells")


@pytest.fixture(scope="module")
def reno(store: Path) -> cwnd.Evaluation:
    return cwnd.evaluate("reno", quick=True, seeds=1, store=store)


def stored(store: Path) -> set[Path]:
    return {path for path in store.rglob("*") if path.is_file()}


def test_numbers_stand_under_the_headings(reno: cwnd.Evaluation) -> None:
    assert repr(reno) == "<cwnd.Evaluation of reno: 17 of 25 headings covered>"
    assert [section.number for section in reno.sections[:2]] == ["5.1.1", "5.1.2"]
    bloat = reno["5.1.2"]
    assert bloat.title == "Protection Against Bufferbloat"
    row = bloat.rows[0]
    assert (row.rate, row.rtt, row.queue, row.measure, row.unit) == (
        "10mbit",
        "50ms",
        "droptail:4bdp",
        "mean queueing delay",
        "s",
    )
    # A queue of four bandwidth-delay products is 200 ms when it is full.
    assert row.algorithm is not None
    assert 0.05 < row.algorithm.mean < 0.2
    assert row.algorithm.ci95 is None
    assert (row.algorithm, row.algorithm.n) == (row.reno, 1)
    assert reno.not_covered["7.10 Multipath Transport"] == "A flow has one path here."
    assert not reno["7.10"].rows
    with pytest.raises(KeyError):
        reno["9.9"]


def test_the_text_is_that_of_the_command_line(reno: cwnd.Evaluation) -> None:
    text = str(reno)
    first = "reno by the criteria of RFC 9743, compared with Reno and CUBIC in its place\n"
    assert text.startswith(f"{first}1 seed of 20 s")
    assert "\n7.10 Multipath Transport\nnot covered: A flow has one path here.\n" in text


def test_the_table_is_tidy(reno: cwnd.Evaluation) -> None:
    frame = pl.DataFrame(reno)
    # A reference that is evaluated itself stands there once.
    assert set(frame["algorithm"]) == {"reno", "cubic"}
    share = frame.filter(section="5.2.1", measure="share of the goodput", queue="droptail:1bdp", algorithm="reno")
    assert share["traffic"].to_list() == [
        "1 flow against 1 of reno",
        "8 flows against 8 of reno",
        "1 flow against 1 of cubic",
        "8 flows against 8 of cubic",
    ]
    assert 0 < share["mean"][0] < 1


def test_the_report_is_one_page(reno: cwnd.Evaluation, tmp_path: Path) -> None:
    page = reno.report(tmp_path / "reno.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "reno by the criteria of RFC 9743" in page
    assert "Not covered. A flow has one path here." in page
    assert "cwnd.evaluate(&#39;reno&#39;, quick=True, seeds=1" in page


def test_what_is_stored_is_not_run_again(reno: cwnd.Evaluation, store: Path) -> None:
    before = stored(store)
    assert before
    again = cwnd.evaluate("reno", quick=True, seeds=1, store=store)
    assert again.document == reno.document
    assert stored(store) == before


def test_an_algorithm_in_python_has_its_own_numbers_and_is_never_stored(reno: cwnd.Evaluation, store: Path) -> None:
    before = stored(store)
    ours = cwnd.evaluate(Reno, quick=True, seeds=1, store=store)
    assert ours.algorithm == "Reno in Python"
    assert stored(store) == before
    for section, theirs in zip(ours.sections, reno.sections, strict=True):
        for row, other in zip(section.rows, theirs.rows, strict=True):
            assert (row.algorithm, row.cubic) == (row.reno, other.cubic), (section.number, row)
    assert ours.failed_cells == 0
    assert set(pl.DataFrame(ours)["algorithm"]) == {"Reno in Python", "reno", "cubic"}


def test_what_an_algorithm_raises_comes_out() -> None:
    class Fails(Reno):
        def cut(self, w: float, view: cwnd.View) -> float:
            raise LookupError("no cut")

    with pytest.raises(LookupError, match="no cut"):
        cwnd.evaluate(Fails, quick=True, seeds=1)


def test_errors_name_the_argument() -> None:
    with pytest.raises(cwnd.AlgorithmError, match="did you mean `reno`"):
        cwnd.evaluate("rneo", quick=True)
    with pytest.raises(cwnd.ArgumentError, match="profile: expected one of rfc9743, access"):
        cwnd.evaluate("reno", "rfc5033")
    with pytest.raises(cwnd.ArgumentError, match="seeds: expected a whole number from 1 to 1000, got 0"):
        cwnd.evaluate("reno", seeds=0)
    with pytest.raises(cwnd.ArgumentError, match="algorithm: `cubic` is also the name of a reference"):
        cwnd.evaluate(type("Mine", (Reno,), {"name": "cubic"}), quick=True)


@pytest.mark.parametrize("algorithm", ["'cubic'", "Reno"])
def test_ctrl_c_ends_it(algorithm: str, tmp_path: Path, ends_by_ctrl_c: Callable[[str], None]) -> None:
    ends_by_ctrl_c(f"cwnd.evaluate({algorithm}, store={str(tmp_path)!r}, seeds=20)")


def test_the_document_is_that_of_the_command_line(reno: cwnd.Evaluation) -> None:
    document = json.loads(json.dumps(reno.document))
    assert document["profile"] == "rfc9743"
    assert document["quick"] is True
    assert len(document["sections"]) == len(reno.sections)


def test_a_full_disk_leaves_no_part_of_a_report_or_a_sweep(store: Path, reno: cwnd.Evaluation, tmp_path: Path) -> None:
    assert reno.algorithm == "reno"
    code = (
        "import cwnd, resource, signal\n"
        "base = cwnd.Scenario.dumbbell('reno', rate='2mbit', rtt='20ms', duration='1s', seeds=1)\n"
        f"found = cwnd.evaluate('reno', quick=True, seeds=1, store={str(store)!r})\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
        "sweep = cwnd.Sweep(base)\n"
        "for write in (lambda: found.report('report.html'), lambda: cwnd.sweep(sweep, out='out', store=False)):\n"
        "    try:\n"
        "        write()\n"
        "    except (cwnd.FileError, cwnd.StoreError) as error:\n"
        "        print(type(error).__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["FileError", "StoreError"]
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} <= {
        "out/sweep.json",
        "out/sweep.toml",
    }
