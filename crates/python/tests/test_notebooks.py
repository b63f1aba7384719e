# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every cell of every notebook runs; the cells themselves assert what their text claims."""

import ast
import json

import pytest
from conftest import ROOT

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("ortools")

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def run(source, names):
    """Runs a cell; its last expression is shown, as a notebook does."""
    cell = ast.parse(source)
    last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, "cell", "exec"), names)
    if last is not None:
        repr(eval(compile(ast.Expression(last.value), "cell", "eval"), names))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    matplotlib.use("Agg")
    names = {"__name__": "notebook"}
    figures = 0
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "notebooks are kept without outputs"
            run("".join(cell["source"]), names)
            figures += "plt.subplots" in "".join(cell["source"])
    assert figures and len(matplotlib.pyplot.get_fignums()) >= figures
    matplotlib.pyplot.close("all")
