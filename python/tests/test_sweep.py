"""Sweeps: what they are, what comes of them, here and on a cluster whose workers die."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client
from matplotlib import pyplot

import cwnd
from cwnd import _dask, _native
from cwnd.__main__ import main

BASE = cwnd.Scenario.dumbbell("reno", rate="20mbit", rtt="20ms", duration="3s", warmup="1s", seeds=2)
GRID: dict[str, Sequence[object]] = {
    "flow.0.algorithm": ["reno", "simd"],
    "dumbbell.queue": ["droptail:10p", "droptail:1bdp"],
    "flow.0.count": [1, 2],
}
SWEEP = cwnd.Sweep(BASE, grid=GRID, title="a test")
CHUNK = "10ms"
"""Some three cells of SWEEP."""
SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> cwnd.SweepResult:
    return cwnd.sweep(SWEEP, out=tmp_path_factory.mktemp("serial") / "out", store=False, chunk=CHUNK)


def files(result: cwnd.SweepResult) -> dict[str, bytes]:
    """Read the files of a sweep by their names."""
    assert result.out is not None
    return {str(path.relative_to(result.out)): path.read_bytes() for path in result.out.rglob("*") if path.is_file()}


def differing(one: cwnd.SweepResult, other: dict[str, bytes]) -> list[str]:
    """Name the files that are not equal: pytest would compare their texts for minutes."""
    found = files(one)
    return [name for name in sorted({*found, *other}) if found.get(name) != other.get(name)]


def rows(result: cwnd.SweepResult) -> list[str]:
    """Print the rows; what is not there is equal to itself."""
    return [repr(row) for row in result.table]


def block(store: Path) -> tuple[Path, int]:
    """Make cells impossible to store: the place of their directory is taken. Returns it, and how many they are."""
    place = sorted(path for path in store.rglob("*") if path.is_file())[0].parent
    cells = sum(len(file.read_text().splitlines()) - 1 for file in place.iterdir())
    shutil.rmtree(place)
    place.write_text("in the way")
    return place, cells


def test_a_sweep_is_what_its_file_says() -> None:
    assert (SWEEP.points, SWEEP.cells, SWEEP.keys) == (8, 16, list(GRID))
    again = cwnd.Sweep.from_text(SWEEP.to_toml())
    assert (again.id, again.to_toml()) == (SWEEP.id, SWEEP.to_toml())
    assert cwnd.Sweep(BASE, grid=GRID, title="a test", seeds=3).cells == 24
    listed = cwnd.Sweep(BASE, cells=[{"dumbbell.rate": "1mbit", "duration": "5s"}, {"flow.0.extra_rtt": "9ms"}])
    assert (listed.points, listed.keys) == (2, ["dumbbell.rate", "duration", "flow.0.extra_rtt"])
    buffers = cwnd.Sweep.from_toml(SCENARIOS / "sweep/buffers.toml", changes={"seeds": 1})
    assert (buffers.points, buffers.cells) == (16, 16)
    assert cwnd.Sweep(SCENARIOS / "dumbbell.toml", grid={"seeds": [1, 2]}).cells == 3


def test_a_sweep_has_a_row_per_cell(serial: cwnd.SweepResult) -> None:
    table = serial.table
    assert table.columns[:6] == ["cell", *GRID, "seed", "error"]
    assert table["cell"].tolist() == list(range(16))
    assert table["seed"].tolist() == [1, 2] * 8
    assert table["flow.0.count"].tolist() == [1.0, 1.0, 2.0, 2.0] * 4
    assert [len(flows) for flows in table["flow_goodput_bps"][:4]] == [1, 1, 2, 2]
    assert sum(table["flow_goodput_bps"][3]) == pytest.approx(table["goodput_bps"][3])
    assert (serial.computed, serial.stored, serial.failed) == (16, 0, ())
    point = serial.points[3]
    assert point.set == {"flow.0.algorithm": "reno", "dumbbell.queue": "droptail:1bdp", "flow.0.count": "2"}
    alone = cwnd.run(
        cwnd.Scenario({**BASE, "dumbbell": {**BASE["dumbbell"]}, "flow": [{"algorithm": "reno", "count": 2}]})
    )
    assert point["utilisation"] == alone.estimates["utilisation"]
    assert table.to_polars()["goodput_bps"].to_list() == table["goodput_bps"].tolist()
    assert "16 of 16 cells" in str(serial)


def test_points_are_ranked(serial: cwnd.SweepResult, tmp_path: Path) -> None:
    assert (serial.document["by"], serial.document["contender"]) == ("goodput_bps", "flow.0.algorithm")
    assert {point["rank"] for point in serial.document["points"]} >= {1}
    assert serial.report(tmp_path / "page.html").read_bytes() == files(serial)["report.html"]
    by = cwnd.Sweep(BASE, grid=GRID, by="queue_delay_p99_s")
    assert (by.id, cwnd.Sweep.from_text(by.to_toml()).to_toml()) == (cwnd.Sweep(BASE, grid=GRID).id, by.to_toml())
    with pytest.raises(cwnd.ArgumentError, match="by: unknown measure `goodput`"):
        cwnd.Sweep(BASE, grid=GRID, by="goodput")


def test_the_directory_is_that_of_the_command(serial: cwnd.SweepResult) -> None:
    import polars  # noqa: PLC0415

    assert serial.out is not None
    parts = sorted(serial.out.glob("cells/*.parquet"))
    assert len(parts) == SWEEP.chunks(CHUNK) > 4
    frame = polars.concat([polars.read_parquet(part) for part in parts])
    assert frame.equals(serial.table.to_polars())
    assert json.loads((serial.out / "sweep.json").read_text())["id"] == SWEEP.id


def test_shards_together_are_the_whole(serial: cwnd.SweepResult, tmp_path: Path) -> None:
    parts = [cwnd.sweep(SWEEP, out=tmp_path, store=False, chunk=CHUNK, shard=f"{n}/3") for n in (2, 3, 1)]
    assert sum(len(part.table) for part in parts) == 16
    written, whole = files(parts[0]), files(serial)
    # Without a store the page of the last part knows of no other.
    assert written.pop("report.html") != whole.pop("report.html")
    assert written == whole


def test_what_is_in_the_store_is_not_run_again(serial: cwnd.SweepResult, tmp_path: Path) -> None:
    half = cwnd.sweep(cwnd.Sweep(BASE, grid={**GRID, "flow.0.algorithm": ["simd"]}), store=tmp_path)
    assert (half.computed, half.stored) == (8, 0)
    whole = cwnd.sweep(SWEEP, store=tmp_path)
    assert (whole.computed, whole.stored) == (8, 8)
    assert rows(whole) == rows(serial)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": {"dumbbell.rtt": ["20ms", "40"]}}, r"sweep:\d+:27: cannot read `40`: expected a time with its unit"),
        ({"grid": {"dumbbell.rat": ["1mbit"]}}, "unknown key `rat`; did you mean `rate`?"),
        ({"grid": {"dumbbell.rtt": "20ms"}}, "needs a list of values"),
        ({"grid": {"dumbbell.rtt": [object()]}}, "expected text, a finite number"),
        ({"grid": {"seeds": [2]}, "cells": [{"seeds": 3}]}, "already"),
    ],
)
def test_a_sweep_that_cannot_be_run_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(cwnd.ScenarioError, match=message.replace("?", r"\?") if "?" in message else message):
        cwnd.Sweep(**{"base": BASE, **change})


def test_errors_of_files_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(SWEEP.to_toml().replace('"droptail:10p"', '"droptail:10"'))
    line = 1 + file.read_text().splitlines().index('"dumbbell.queue" = ["droptail:10", "droptail:1bdp"]')
    with pytest.raises(cwnd.ScenarioError) as error:
        cwnd.sweep(file)
    assert str(error.value).startswith(f"{file}:{line}:21: cannot read `droptail:10`")
    with pytest.raises(cwnd.FileError):
        cwnd.sweep(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shard": "0/3"}, "shard: expected a shard"),
        ({"chunk": "10"}, "chunk: cannot read `10`"),
        ({"format": "cvs"}, "format: unknown format `cvs`"),
        ({"set": {"seeds": 2}}, "set: a cwnd.Sweep has its base"),
        ({"out": SCENARIOS}, "out: .* holds something else than a sweep"),
        ({"client": 3}, "client: expected a distributed.Client"),
    ],
)
def test_arguments_that_are_not_accepted(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        cwnd.sweep(SWEEP, **{"store": False, **arguments})


def test_progress_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    received: list[tuple[int, int, int]] = []
    cwnd.sweep(SWEEP, store=tmp_path, progress=lambda *counts: received.append(counts))
    assert received[-1] == (16, 0, 16)
    cwnd.sweep(SWEEP, store=tmp_path)
    assert capsys.readouterr().err == ""
    cwnd.sweep(cwnd.Sweep(BASE, grid=GRID, seeds=40), store=tmp_path, progress=True)
    assert "of 320 cells, " in capsys.readouterr().err


def test_an_exception_of_progress_ends_the_sweep() -> None:
    long = cwnd.Sweep(cwnd.Scenario.dumbbell("reno", rate="10gbit", duration="10000s"), grid={"seeds": [1, 2]})

    def refuse(*_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cwnd.sweep(long, store=False, progress=refuse)


def test_ctrl_c_leaves_what_is_done(tmp_path: Path) -> None:
    slow = cwnd.Sweep(BASE, grid={"first_seed": [1, 3, 5, 7, 9, 11, 13, 15], "duration": ["60s"]})
    file, store = tmp_path / "s.toml", tmp_path / "store"
    file.write_text(slow.to_toml())
    code = (
        "import cwnd, sys\n"
        "try:\n"
        f"    cwnd.sweep({str(file)!r}, store={str(store)!r})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while sum(len(path.read_text().splitlines()) - 1 for path in store.rglob("*.*")) < 2 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 7
    result = cwnd.sweep(slow, store=store)
    assert result.stored >= 2
    assert result.stored + result.computed == slow.cells == 16
    assert rows(result) == rows(cwnd.sweep(slow, store=False))


def test_a_cell_that_fails_is_recorded_and_the_rest_goes_on(client: Client, tmp_path: Path) -> None:
    store = tmp_path / "store"
    good = cwnd.sweep(SWEEP, store=store, out=tmp_path / "out", chunk=CHUNK)
    place, blocked = block(store)
    assert blocked >= 2
    for where in (None, client):
        result = cwnd.sweep(SWEEP, store=store, out=tmp_path / "out", chunk=CHUNK, client=where)
        assert len(result.failed) == blocked
        for failed in result.failed:
            assert failed.error.startswith("cannot store a cell in")
            assert failed.set == {key: str(result.table[key][failed.cell]).removesuffix(".0") for key in GRID}
            assert np.isnan(result.table["utilisation"][failed.cell])
            assert result.table["error"][failed.cell] == failed.error
        assert sum(point.failed for point in result.points) == blocked
        assert 1 <= len([name for name in files(result) if name.startswith("failed/")]) <= blocked
    place.unlink()
    healed = cwnd.sweep(SWEEP, store=store, out=tmp_path / "out", chunk=CHUNK, client=client)
    assert (healed.computed, healed.failed) == (blocked, ())
    assert differing(healed, files(good)) == []


def test_a_cluster_gives_the_rows_and_files_of_here(client: Client, serial: cwnd.SweepResult, tmp_path: Path) -> None:
    result = cwnd.sweep(SWEEP, client=client, store=tmp_path / "store", out=tmp_path / "out", chunk=CHUNK)
    assert (result.computed, result.stored) == (16, 0)
    assert rows(result) == rows(serial)
    assert differing(result, files(serial)) == []
    # By its address; the store is of this machine, and has all.
    again = cwnd.sweep(SWEEP, client=client.scheduler.address, store=tmp_path / "store", chunk=CHUNK)  # type: ignore[union-attr]
    assert (again.computed, again.stored) == (0, 16)
    assert rows(again) == rows(serial)


def test_points_that_are_the_same_are_one_task(client: Client) -> None:
    twice = cwnd.Sweep(BASE, grid={"dumbbell.rtt": ["20ms", "20ms"]})
    result = cwnd.sweep(twice, client=client, store=False, chunk="1ms")
    first, second = result.points
    assert first["goodput_bps"] == second["goodput_bps"]
    assert len(result.table) == 4


def test_a_worker_that_is_killed_costs_nothing(client: Client, tmp_path: Path) -> None:
    long = cwnd.Sweep(cwnd.Scenario({**BASE, "duration": "120s"}), grid=GRID)
    killed: list[int] = []

    def kill(done: int, *_: int) -> None:
        if done and not killed:
            busy = [worker for worker, tasks in client.processing().items() if tasks]  # type: ignore[no-untyped-call]
            pids = client.run(os.getpid, workers=busy[:1])
            killed.extend(pids.values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    # A task per cell, so that both workers are busy when the first rows come back.
    result = cwnd.sweep(long, client=client, store=False, out=tmp_path / "out", chunk="1ms", progress=kill)
    assert len(killed) == 1
    assert killed[0] not in client.run(os.getpid).values()
    assert result.table["cell"].tolist() == list(range(16))
    assert (result.computed, result.failed) == (16, ())
    serial = cwnd.sweep(long, store=False, out=tmp_path / "serial", chunk="1ms")
    assert rows(result) == rows(serial)
    assert differing(result, files(serial)) == []


def test_a_chunk_that_ends_its_workers_is_given_up(client: Client, tmp_path: Path) -> None:
    long = cwnd.Sweep(cwnd.Scenario({**BASE, "duration": "120s"}), grid={"flow.0.count": [1, 2, 3]})
    scheduler = client.cluster.scheduler  # type: ignore[union-attr]
    usual, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        # A cell whose simulation cannot be borne: the worker that has it ends.
        real = _native.Sweeping(long._native, "1ms", None, str(tmp_path), None, None)
        client.run(_deadly, "count=2")
        _dask.run(real, client, lambda: None)
    finally:
        scheduler.allowed_failures = usual
        client.run(_harmless)
    result = cwnd.SweepResult(real.swept(), None, real.counts())
    # Dask blames what else was waiting at that worker too; the next attempt runs it again.
    assert {"flow.0.count": "2"} in [failed.set for failed in result.failed]
    assert all("its worker was lost" in failed.error for failed in result.failed)
    healed = cwnd.sweep(long, client=client, store=tmp_path, chunk="1ms")
    assert healed.computed == len(result.failed)
    assert (healed.stored + healed.computed, healed.failed) == (6, ())


def _deadly(marker: str) -> None:
    """Have a worker end at a task with this text in it."""
    import cwnd._native as native  # noqa: PLC0415

    usual = native.sweep_task

    def task(task: str) -> Any:
        if marker in task:
            os.kill(os.getpid(), signal.SIGKILL)
        return usual(task)

    native.sweep_task = task
    native.usual = usual  # type: ignore[attr-defined]


def _harmless() -> None:
    """Undo that, where it was done."""
    import cwnd._native as native  # noqa: PLC0415

    native.sweep_task = getattr(native, "usual", native.sweep_task)


def test_ctrl_c_on_a_cluster_leaves_what_is_done(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of its own, so that the cluster has none of it, and handed out one by one, so that not all can come back at once.
    own = cwnd.Sweep(cwnd.Scenario({**BASE, "duration": "4s"}), grid=GRID)
    monkeypatch.setattr(_dask, "AHEAD", 1)

    def interrupt(done: int, _: int, total: int) -> None:
        if 0 < done < total:
            signal.raise_signal(signal.SIGINT)

    # Python leaves SIGINT alone where the shell has it ignored, as it has in its background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            cwnd.sweep(own, client=client, store=tmp_path, chunk="1ms", progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    result = cwnd.sweep(own, client=client, store=tmp_path, chunk="1ms")
    assert result.stored > 0
    assert rows(result) == rows(cwnd.sweep(own, store=False))


def test_a_task_that_comes_back_twice_is_taken_once(tmp_path: Path) -> None:
    sweeping = _native.Sweeping(SWEEP._native, "10s", None, False, str(tmp_path), None)
    [index] = range(len(sweeping))
    task = sweeping.task(index)
    assert task is not None
    key, text = task
    outcomes = _native.sweep_task(text)
    assert _native.sweep_task(text) == outcomes
    sweeping.take(index, outcomes)
    [part] = tmp_path.glob("cells/*")
    written = part.read_bytes(), part.stat().st_mtime_ns
    sweeping.take(index, [])
    sweeping.lose(index, "too late")
    assert sweeping.counts() == (16, 0, 0)
    assert (part.read_bytes(), part.stat().st_mtime_ns) == written
    # Its name is that of what it computes.
    other = _native.Sweeping(cwnd.Sweep(BASE, grid=GRID, title="another title")._native, "10s", None, False, None, None)
    assert (other.task(0) or ("",))[0] == key


class Tampered:
    """A sweep whose tasks are changed on their way."""

    def __init__(self, sweeping: _native.Sweeping, change: Callable[[str], str]) -> None:
        self._sweeping = sweeping
        self._change = change

    def __len__(self) -> int:
        return len(self._sweeping)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sweeping, name)

    def task(self, index: int) -> tuple[str, str] | None:
        key, text = self._sweeping.task(index) or ("", "")
        return key + "-changed", self._change(text)


def test_a_worker_with_another_simulator_refuses(client: Client) -> None:
    def older(text: str) -> str:
        return json.dumps({**json.loads(text), "sources": "0", "version": "0.0.7"})

    tampered: Any = Tampered(_native.Sweeping(SWEEP._native, "10s", None, False, None, None), older)
    message = "a worker refused its task: cwnd 0.1.0.* runs here, and cwnd 0.0.7 asks, whose simulator differs"
    with pytest.raises(cwnd.SimulationError, match=message):
        _dask.run(tampered, client, lambda: None)


def test_a_worker_without_the_package_says_so(client: Client) -> None:
    client.run(_hide)
    try:
        with pytest.raises(cwnd.SimulationError, match=r"a worker cannot import cwnd .*: install the build"):
            cwnd.sweep(SWEEP, client=client, store=False)
    finally:
        client.run(_show)


def _hide() -> None:
    sys.modules["hidden"] = __import__("cwnd")
    sys.modules["cwnd"] = None  # type: ignore[assignment]


def _show() -> None:
    sys.modules["cwnd"] = sys.modules.pop("hidden")


def test_a_scheduler_that_is_not_there() -> None:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "200ms"}),
        pytest.raises(cwnd.ArgumentError, match=r"client: no scheduler at `tcp://127\.0\.0\.1:1`"),
    ):
        cwnd.sweep(SWEEP, client="tcp://127.0.0.1:1", store=False)


def test_the_module_is_the_command(
    client: Client, serial: cwnd.SweepResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out, store = tmp_path / "s.toml", tmp_path / "out", tmp_path / "store"
    file.write_text(SWEEP.to_toml())
    usual = ["sweep", str(file), "--chunk", CHUNK, "--store", str(store)]
    address: Any = client.scheduler.address  # type: ignore[union-attr]
    assert main([*usual, "--out", str(out), "--scheduler", address]) == 0
    said = capsys.readouterr()
    assert said.out == str(serial).replace(str(serial.out), str(out))
    assert said.err == f"wrote {out}: 16 cells computed, 0 found in the store, 0 failed\n"
    assert main([*usual, "--json", "--shard", "1/2"]) == 0
    assert json.loads(capsys.readouterr().out)["done_cells"] == 9
    assert main(["sweep", str(file), "--check", "--set", "seeds=3"]) == 0
    assert capsys.readouterr().out == f"{file}: valid sweep, 8 points, 24 cells, 1 chunk\n"
    _, blocked = block(store)
    assert main([*usual, "--json"]) == 1
    assert f"error: {blocked} of 16 cells failed, such as: cannot store a cell" in capsys.readouterr().err
    for wrong, expected in [
        ([*usual, "--set", "dumbbell.queue=x"], "error: --set dumbbell.queue=x: the sweep gives this key its values\n"),
        (
            ["sweep", str(tmp_path / "none.toml")],
            f"error: cannot read `{tmp_path}/none.toml`: No such file or directory\n",
        ),
        ([*usual, "--no-store"], "error: --store and --no-store cannot be used together\n"),
    ]:
        assert main(wrong) == 2
        assert capsys.readouterr().err == expected
    with pytest.raises(SystemExit, match="2"):
        main([*usual, "--scheduller", "x"])


COMMAND = os.environ.get("CWND_COMMAND", "")
"""The command as it was built from the same sources; `cargo xtask test python` names it."""


@pytest.mark.skipif(not COMMAND, reason="CWND_COMMAND names no command")
def test_the_command_writes_the_same_files(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SWEEP.to_toml())
    here = cwnd.sweep(file, out=tmp_path / "here", store=False, chunk=CHUNK, format="csv")
    arguments = [COMMAND, "sweep", str(file), "--no-store", "--chunk", CHUNK, "--format", "csv", "--out"]
    native = subprocess.run([*arguments, str(tmp_path / "native")], check=True, capture_output=True, text=True)
    assert native.stdout == str(here).replace(str(tmp_path / "here"), str(tmp_path / "native"))
    address: Any = client.scheduler.address  # type: ignore[union-attr]
    scheduled = subprocess.run(
        [*arguments, str(tmp_path / "cluster"), "--scheduler", address],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "CWND_PYTHON": sys.executable},
    )
    assert scheduled.stdout == native.stdout.replace(str(tmp_path / "native"), str(tmp_path / "cluster"))
    expected = files(here)
    for directory in ("native", "cluster"):
        here.out = tmp_path / directory
        assert differing(here, expected) == []


def test_heat_maps_have_the_means_over_seeds(serial: cwnd.SweepResult) -> None:
    simd = {"flow.0.algorithm": "simd"}
    axes = serial.plot.heatmap("queue_delay_p95_s", where=simd)
    [image] = axes.images
    drawn: Any = np.ma.filled(np.ma.asarray(image.get_array()), np.nan)
    means = [point["queue_delay_p95_s"].mean * 1e3 for point in serial.points if point.set.items() >= simd.items()]
    # From left to right counts of flows, upwards queues, as the grid has them.
    assert drawn == pytest.approx(np.array(means).reshape(2, 2))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("flow.0.count", "dumbbell.queue")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["droptail:10p", "droptail:1bdp"]
    figure = serial.plot("goodput_bps")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == ["flow.0.algorithm reno", "flow.0.algorithm simd"]
    across = serial.plot.heatmap(
        x="seed", y="flow.0.algorithm", where={"dumbbell.queue": "droptail:1bdp", "flow.0.count": 2}
    )
    assert [label.get_text() for label in across.get_xticklabels()] == ["1", "2"]
    pyplot.close("all")


def test_heat_maps_on_altair_have_the_same_numbers(serial: cwnd.SweepResult) -> None:
    reno = {"flow.0.algorithm": "reno"}
    chart = serial.chart.heatmap("goodput_bps", where=reno).to_dict()
    shown = chart["datasets"]["table"]
    means = [point["goodput_bps"].mean / 1e6 for point in serial.points if point.set.items() >= reno.items()]
    assert [cell["value"] for cell in shown] == pytest.approx(means)
    assert [(cell["x"], cell["y"]) for cell in shown[:2]] == [("1", "droptail:10p"), ("2", "droptail:10p")]
    assert chart["layer"][0]["encoding"]["color"]["title"] == "Goodput (Mbit/s)"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda plot: plot.heatmap("goodput"), "measure: no `goodput`, expected one of utilisation, goodput_bps"),
        (lambda plot: plot.heatmap(), "where: give a value of `flow.0.algorithm`, which has 'reno', 'simd'"),
        (
            lambda plot: plot.heatmap(x="dumbbell.rtt"),
            "no key `dumbbell.rtt` in this sweep, expected one of flow.0.alg",
        ),
        (lambda plot: plot(where={"flow.0.count": 3}), r"no cells with `flow.0.count` at 3; it has 1\.0, 2\.0"),
    ],
)
def test_errors_of_heat_maps_say_what_there_is(serial: cwnd.SweepResult, draw: Any, message: str) -> None:
    with pytest.raises(cwnd.ArgumentError, match=message):
        draw(serial.plot)


class Aimd(cwnd.WindowRule):
    def __init__(self, b: float = 0.5) -> None:
        self.b = b

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"aimd-{self.b}"

    def grow(self, w: float, view: cwnd.View) -> float:
        return 1 / w

    def cut(self, w: float, view: cwnd.View) -> float:
        return w * (1 - self.b)


class Lost(Aimd):
    name = "lost"

    def grow(self, w: float, view: cwnd.View) -> float:
        return None  # type: ignore[return-value]


class Divides(cwnd.CongestionControl):
    def control(self) -> float:
        return 10.0

    def on_ack(self, view: cwnd.View, ack: cwnd.Ack) -> None:
        raise ZeroDivisionError("of mine")

    def on_congestion(self, view: cwnd.View, event: cwnd.Congestion) -> None:
        pass


OWN: dict[str, Sequence[object]] = {
    "flow.0.algorithm": ["reno", Aimd(), Aimd(0.25), Lost, Divides],
    "dumbbell.rtt": ["10ms", "20ms"],
}


def test_algorithms_in_python_are_swept(tmp_path: Path) -> None:
    own = cwnd.Sweep(BASE, grid=OWN, seeds=3, by="loss_rate")
    seen: list[tuple[int, int, int]] = []
    result = cwnd.sweep(own, store=tmp_path / "store", progress=lambda *now: seen.append(now))
    assert seen[-1] == (30, 12, 30)
    assert (result.computed, result.stored, len(result.failed)) == (18, 0, 12)
    # Each cell is the run that the algorithm makes elsewhere.
    rule = Aimd(0.25)
    path: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "duration": "3s", "warmup": "1s", "seeds": 3}
    alone = cwnd.run(cwnd.Scenario.dumbbell(rule, **path))
    point = next(one for one in result.points if one.set == {"flow.0.algorithm": "aimd-0.25", "dumbbell.rtt": "20ms"})
    assert point["goodput_bps"] == alone.estimates["goodput_bps"]
    # Ranked and shown by its name; nothing of what stands for it in between.
    assert {one["contender"] for one in result.document["standings"]} >= {"reno", "aimd-0.5", "aimd-0.25"}
    shown = [str(result), result.report(tmp_path / "page.html").read_text(), json.dumps(result.document)]
    assert all("aimd-0.25" in text and "rule:grow" not in text for text in shown)
    errors = {one.set["flow.0.algorithm"]: one.error for one in result.failed}
    assert errors["lost"] == "Lost.grow: expected a finite number of packets, got None"
    assert errors["Divides"].startswith("ZeroDivisionError: of mine (raised in Divides.on_ack")
    assert pickle.loads(pickle.dumps(result)) == result
    # What is built in is in the store, what is not is run again.
    again = cwnd.sweep(own, store=tmp_path / "store", progress=False)
    assert (again.computed, again.stored) == (12, 6)
    assert again == result


def test_a_base_and_cells_may_have_algorithms_in_python() -> None:
    base = cwnd.Scenario.dumbbell([Aimd, "cubic"], rate="20mbit", rtt="20ms", duration="2s", warmup="1s", seeds=1)
    cells: list[dict[str, object]] = [
        {"flow.1.algorithm": Aimd(0.25), "dumbbell.rtt": "10ms"},
        {"dumbbell.rtt": "20ms"},
    ]
    own = cwnd.Sweep(base, cells=cells)
    found = cwnd.sweep(own, store=False, progress=False)
    assert not found.failed
    for document, point in zip(cells, found.points, strict=True):
        scenario = base.copy()
        for key, value in document.items():
            scenario[key] = value
        assert point["jain"] == cwnd.run(scenario).estimates["jain"]
    copied = pickle.loads(pickle.dumps(own))
    assert copied == own
    assert cwnd.sweep(copied, store=False, progress=False) == found
    shards = [cwnd.sweep(own, store=False, shard=f"{n}/2", chunk="1us", progress=False) for n in (1, 2)]
    assert [len(shard.table) for shard in shards] == [1, 1]
    assert sorted(row for shard in shards for row in rows(shard)) == sorted(rows(found))


def test_weights_tell_algorithms_of_a_sweep_apart() -> None:
    class Weighted(Aimd):
        def __init__(self, *weights: float) -> None:
            self.weights = np.array(weights)

        name = property(lambda self: f"weighted-{self.weights[0]}")

        def cut(self, w: float, view: cwnd.View) -> float:
            return w * float(self.weights.sum())

    own, same = (
        cwnd.Sweep(BASE, grid={"flow.0.algorithm": [Weighted(0.25, 0.25), Weighted(0.5, 0.25)]}, seeds=1)
        for _ in range(2)
    )
    assert own == same
    result = cwnd.sweep(own, store=False)
    assert [point.set["flow.0.algorithm"] for point in result.points] == ["weighted-0.25", "weighted-0.5"]
    assert result.points[0]["goodput_bps"] != result.points[1]["goodput_bps"]


def test_what_a_sweep_of_python_cannot_have_is_refused(tmp_path: Path) -> None:
    own = cwnd.Sweep(BASE, grid=OWN)
    with pytest.raises(cwnd.ArgumentError, match=r"^out: the sweep has an algorithm in Python"):
        cwnd.sweep(own, out=tmp_path / "out")
    with pytest.raises(cwnd.ArgumentError, match=r"^client: .*`aimd-0.5` of the sweep is in Python"):
        cwnd.sweep(own, client="127.0.0.1:1")
    with pytest.raises(cwnd.ArgumentError, match=r"^id: .* is in Python"):
        own.id  # noqa: B018
    with pytest.raises(cwnd.ArgumentError, match=r"^to_toml: a file cannot hold it"):
        own.to_toml()
    with pytest.raises(cwnd.ArgumentError, match=r"^grid: dumbbell.rtt: only `flow.N.algorithm` can be in Python"):
        cwnd.Sweep(BASE, grid={"dumbbell.rtt": [Aimd]})
    uncopied = Aimd()
    uncopied.steps = (step for step in [1.0])  # type: ignore[attr-defined]
    with pytest.raises(cwnd.ScenarioError, match=r"^algorithm: cannot copy .*generator"):
        cwnd.Sweep(BASE, grid={"flow.0.algorithm": [uncopied]})
    with pytest.raises(cwnd.ScenarioError, match=r"^set: flow.0.algorithm: an algorithm in Python cannot be written"):
        cwnd.sweep("[base]\n[grid]", set={"flow.0.algorithm": Aimd})
    other = type("Twice", (Lost,), {"name": "lost"})
    with pytest.raises(cwnd.ArgumentError, match="two different algorithms are called `lost`"):
        cwnd.Sweep(BASE, grid={"flow.0.algorithm": [Lost, other]})
    built_in = type("Own", (Lost,), {"name": "reno"})
    with pytest.raises(cwnd.ScenarioError, match="two different algorithms are called `reno`"):
        cwnd.Sweep(BASE, grid={"flow.0.algorithm": ["reno", built_in]})
    with pytest.raises(cwnd.ScenarioError, match=r"cannot read `\[Aimd\]`") as refused:
        cwnd.Sweep(BASE, grid={"flow.0.algorithm": [Aimd], "dumbbell.rate": ["[Aimd]"]})
    assert "rule:grow" not in str(refused.value)


def test_ctrl_c_ends_a_sweep_of_python(ends_by_ctrl_c: Callable[[str], None]) -> None:
    ends_by_ctrl_c(
        "cwnd.sweep(cwnd.Sweep(cwnd.Scenario.dumbbell(Reno, duration='10000s'), grid={'dumbbell.rtt': ['10ms']}), "
        "store=False)"
    )
