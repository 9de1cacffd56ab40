"""``python -m cwnd sweep``: the command line's sweeps, here or on a Dask cluster."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from cwnd import __version__, errors
from cwnd._files import read_text
from cwnd._sweep import Sweep, sweep

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run a sweep as ``cwnd sweep`` does, with the same options, output and exit codes.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments after the name of the program.

    Returns
    -------
    int
        0 done, 1 cells failed, 2 the input is wrong and nothing was run, 130 interrupted.
    """
    parser = _parser()
    try:
        return _sweep(parser.parse_args(arguments))
    except (errors.SimulationError, errors.StoreError) as error:
        return _failed(str(error), 1)
    except (errors.CwndError, ImportError) as error:
        return _failed(str(error), 2)
    except KeyboardInterrupt:
        return _failed("interrupted; repeat the command to continue", 130)


def _sweep(given: argparse.Namespace) -> int:
    if given.store is not None and given.no_store:
        raise errors.ArgumentError("--store and --no-store cannot be used together")
    path: Path = given.sweep
    try:
        text = read_text("SWEEP", path)
    except errors.FileError as error:
        raise errors.ArgumentError(str(error).removeprefix("SWEEP: ")) from error
    try:
        chosen = Sweep._read(str(path), text, str(path.parent), given.set)
    except errors.ScenarioError as error:
        # Changes are a dictionary in Python.
        item = next((item for item in given.set if str(error).startswith(f"`{item}`: ")), None)
        if item is None:
            raise
        raise errors.ScenarioError(f"--set {item}: {str(error).removeprefix(f'`{item}`: ')}") from error
    if given.by is not None:
        try:
            chosen._native = chosen._native.ranked_by(given.by)
        except errors.ArgumentError as error:
            raise errors.ArgumentError(f"--{error}") from error
    if given.check:
        sizes = [(chosen.points, "point"), (chosen.cells, "cell"), (chosen.chunks(given.chunk), "chunk")]
        print(f"{path}: valid sweep, {', '.join(_counted(*size) for size in sizes)}")
        return 0
    out = given.out or (None if given.json else Path("out") / f"sweep-{path.stem}")
    store = given.store or not given.no_store
    result = sweep(
        chosen, out=out, store=store, shard=given.shard, chunk=given.chunk, format=given.format, client=given.scheduler
    )
    failed = len(result.failed)
    if out is not None:
        counts = f"{_counted(result.computed, 'cell')} computed, {result.stored} found in the store, {failed} failed"
        print(f"wrote {out}: {counts}", file=sys.stderr)
    print(result._native.to_json() if given.json else result, end="", flush=True)
    if failed:
        first = result.document["errors"][0]
        return _failed(f"{failed} of {_counted(len(result.table), 'cell')} failed, such as: {first}", 1)
    return 0


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _failed(why: str, code: int) -> int:
    print(f"error: {why}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m cwnd", description="Sweeps, here or on a Dask cluster", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"cwnd {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("sweep", help="run a scenario at many points with many seeds", allow_abbrev=False)
    run.add_argument("sweep", type=Path, metavar="SWEEP", help="a TOML file")
    run.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler: tcp://host:8786"
    )
    run.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a key of the base scenario"
    )
    run.add_argument("--by", metavar="MEASURE", help="rank points by this measure: loss_rate")
    run.add_argument("--check", action="store_true", help="only check the sweep, and say what it would run")
    run.add_argument("--shard", metavar="I/N", help="run one part of several, such as 3/8")
    run.add_argument("--chunk", default="10s", metavar="TIME", help="how much work goes into a file and a task: 10s")
    run.add_argument("--format", help="how rows are written: parquet, csv or jsonl [default: parquet]")
    run.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    run.add_argument("--out", type=Path, metavar="DIR", help="the directory of results [default: out/sweep-NAME]")
    run.add_argument("--store", type=Path, metavar="DIR", help="where runs are stored, so that none is done twice")
    run.add_argument("--no-store", action="store_true", help="store nothing, and use nothing stored")
    return parser


if __name__ == "__main__":
    sys.exit(main())
