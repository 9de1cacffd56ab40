"""Draws docs/images/python.png by the code that stands above it in README.md: ``python python/docs/picture.py``."""

import io
import re
from pathlib import Path
from typing import Any

from PIL import Image

import cwnd

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```python\n((?:(?!```).)*)\n```\n\n!\[[^\]]*\]\((docs/images/python\.png)\)", re.DOTALL)


def main() -> None:
    """Run the code, whose last line is the figure."""
    found = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit("README.md has no code above docs/images/python.png")
    code, picture = found.groups()
    *statements, figure = code.splitlines()
    names: dict[str, Any] = {"cwnd": cwnd}
    exec("\n".join(statements), names)
    drawn = io.BytesIO()
    eval(figure, names).savefig(drawn, format="png", dpi=100)
    # Lines and letters need few colours, and a quarter of the bytes.
    Image.open(drawn).convert("RGB").quantize(64).save(ROOT / picture, optimize=True)


if __name__ == "__main__":
    main()
