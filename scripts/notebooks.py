"""Run the notebooks of `examples/`, and save them with their outputs.

python scripts/notebooks.py                     all of them
python scripts/notebooks.py examples/NAME.ipynb

Each runs in an empty temporary folder, by the Python that runs this script. Parts that differ from run to run are not
saved: times, progress on stderr, and the versions of the kernel. It needs the extra `docs`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SECONDS = 120  # for a cell
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class Kernel(AsyncKernelManager):
    """A kernel of the Python that runs this, whatever kernel is installed under the usual name."""

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        quiet = "--IPKernelApp.log_level=40"
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", self.connection_file, quiet]
        return [*command, *(extra_arguments or ())]


def run(path: Path) -> Any:
    """Run a notebook and return it with its outputs. Raises CellExecutionError for a cell that fails."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about event loops and debuggers
        home = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), home)))
        try:
            client = NotebookClient(
                notebook, timeout=SECONDS, kernel_manager_class=Kernel, resources={"metadata": {"path": folder}}
            )
            client.execute()
        finally:
            os.environ["PYTHONPATH"] = home
    return tidied(notebook)


def tidied(notebook: Any) -> Any:
    """Remove the parts that differ from run to run."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def main(names: list[str]) -> None:
    for path in [Path(name) for name in names] or NOTEBOOKS:
        nbformat.write(run(path), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
