"""Draws every Vega-Lite specification of one folder as SVG into another: render.py SPECIFICATIONS PICTURES."""

import json
import pathlib
import sys

import vl_convert

specifications, pictures = map(pathlib.Path, sys.argv[1:])
for path in sorted(specifications.glob("*.vl.json")):
    picture = pictures / path.name.replace(".vl.json", ".svg")
    picture.write_text(vl_convert.vegalite_to_svg(json.loads(path.read_text()), vl_version="6.4") + "\n")
    print("wrote", picture)
