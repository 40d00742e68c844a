"""The notebooks of `examples/`: they run, and are saved as `scripts/notebooks.py` leaves them."""

import json
import re

import pytest

from tests import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
RUN = "run python scripts/notebooks.py"
VOLATILE = re.compile(r"/(?:tmp|home|root|work|Users)/|\d\.\d+ s\b")


def name_of(path):
    return path.stem


@pytest.mark.docs
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_runs(path, monkeypatch):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("pandas" if "pandas" in path.stem else "sklearn" if "train" in path.stem else "numpy")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import notebooks

    kinds = [[output["output_type"] for output in cell.get("outputs", ())] for cell in notebooks.run(path).cells]
    saved = json.loads(path.read_text("utf-8"))["cells"]
    assert kinds == [[output["output_type"] for output in cell.get("outputs", ())] for cell in saved], RUN


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_is_saved_with_its_outputs_and_nothing_that_changes(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3" and 8 <= len(notebook["cells"]) <= 15
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)], RUN
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert not VOLATILE.search(json.dumps(outputs)), "a path or a time, which differ from run to run"
    assert "<svg" in json.dumps(outputs)


def test_there_are_four():
    names = ["analyse-with-pandas", "first-solve", "train-on-a-book", "your-own-game"]
    assert [path.stem for path in NOTEBOOKS] == names
