"""What the package is as a whole."""

import importlib.metadata
import inspect
import subprocess
import sys

import pytest

import cwnd


def test_errors_are_a_tree() -> None:
    for name in cwnd.errors.__all__:
        error = getattr(cwnd, name)
        assert issubclass(error, cwnd.CwndError)
    assert issubclass(cwnd.ScenarioError, ValueError)
    assert issubclass(cwnd.SimulationError, RuntimeError)


@pytest.mark.parametrize("name", [name for name in cwnd.__all__ if not name.startswith("_")])
def test_everything_public_is_documented(name: str) -> None:
    public = getattr(cwnd, name)
    assert inspect.getdoc(public)
    if inspect.isclass(public):
        for attribute, value in vars(public).items():
            if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{attribute}"


def test_importing_brings_numpy_alone() -> None:
    # Type checkers have typing_extensions, whoever runs something may not.
    code = (
        "import sys; sys.modules['typing_extensions'] = None\n"
        "import cwnd; sys.exit(bool({'pandas', 'polars', 'pyarrow', 'matplotlib'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_version_is_that_of_the_command() -> None:
    assert cwnd.__version__.startswith("0.1.0")


def test_the_licences_of_its_crates_are_installed() -> None:
    files = importlib.metadata.files("cwnd") or []
    licences = {file.name: file.read_text() for file in files if "licenses" in file.parts}
    assert set(licences) == {"LICENSE-APACHE", "LICENSE-MIT", "LICENSE-THIRD-PARTY"}
    # A crate of every system, one of Windows alone, and the library of reports.
    for name in ["pyo3 ", "windows-sys ", "vega "]:
        assert name in licences["LICENSE-THIRD-PARTY"]
