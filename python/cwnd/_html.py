"""The view of results in notebooks: a table, a plot, and the place of the rest."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from cwnd.errors import CwndError

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

__all__ = ["cell", "page", "picture"]


def page(
    title: str,
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    notes: Iterable[str] = (),
    draw: Callable[[], Figure | SubFigure] | None = None,
    rest: str = "",
    most: int = 12,
) -> str:
    """Write the view of a result in a notebook. Every text is escaped.

    Parameters
    ----------
    title : str
        A title, one line.
    head : sequence of str
        The titles of the columns.
    rows : iterable of sequence
        Their values; of many rows the first are shown.
    notes : iterable of str
        Warnings, a sentence each.
    draw : callable, optional
        Draws the plot.
    rest : str
        Where the rest is; words between backquotes are code.
    most : int
        Rows that are shown.

    Returns
    -------
    str
        HTML that refers to nothing outside itself.
    """
    source = iter(rows)
    shown = [[cell(value) for value in row] for row in islice(source, most)]
    left = sum(1 for _ in source)
    # A column stands to the right where all of it is numbers.
    side = ["right" if shown and all(row[index][1] for row in shown) else "left" for index in range(len(head))]
    style = [f' style="text-align:{way}"' for way in side]
    parts = [f"<p><b>{escape(title)}</b></p>", '<table class="dataframe">', "<thead><tr>"]
    parts += [f"<th{style[index]}>{escape(name)}</th>" for index, name in enumerate(head)]
    parts += ["</tr></thead>", "<tbody>"]
    for row in shown:
        parts.append(
            "<tr>" + "".join(f"<td{style[index]}>{text}</td>" for index, (text, _) in enumerate(row)) + "</tr>"
        )
    parts += ["</tbody>", "</table>"]
    if left:
        parts.append(f"<p>and {left} more row{'s' if left > 1 else ''}</p>")
    parts += [f"<p>Warning: {escape(note)}</p>" for note in notes]
    if draw is not None:
        parts.append(picture(title, draw))
    if rest:
        # Every second part was between backquotes.
        words = [escape(word) for word in rest.split("`")]
        parts.append(
            "<p>" + "".join(f"<code>{word}</code>" if nth % 2 else word for nth, word in enumerate(words)) + "</p>"
        )
    return "<div>" + "\n".join(parts) + "</div>"


def cell(value: Any) -> tuple[str, bool]:
    """Write a value of a table: escaped, and whether it is a number."""
    if value is None or value != value:  # noqa: PLR0124  (not a number)
        return "none", True
    if isinstance(value, bool):
        return str(value), False
    if isinstance(value, int):
        return str(value), True
    if isinstance(value, float):
        return number(value), True
    if hasattr(value, "ci95") and hasattr(value, "mean"):
        return f'<span style="white-space:nowrap">{escape(str(value))}</span>', True
    return escape(str(value)), hasattr(value, "__float__")


def number(value: float) -> str:
    """Write a number in four digits, or as a whole one where it has more."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def picture(title: str, draw: Callable[[], Figure | SubFigure]) -> str:
    """Draw a plot into the page; a hint in its place without matplotlib, nothing where it cannot be drawn."""
    try:
        from matplotlib import pyplot  # noqa: PLC0415  (an optional dependency)
    except ImportError:
        return "<p>Plots need matplotlib: <code>pip install 'cwnd[plot]'</code></p>"
    try:
        figure: Any = draw()
    except CwndError:
        return ""
    # It is shown here, and not again where the notebook shows all figures that are open.
    pyplot.close(figure)
    content = BytesIO()
    figure.savefig(content, format="png")
    data = b64encode(content.getvalue()).decode()
    return f'<img style="max-width:100%" alt="{escape(title)}" src="data:image/png;base64,{data}">'
