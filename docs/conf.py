"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import solver

HERE = Path(__file__).parent

project = "solverbook"
author = "the solverbook authors"
project_copyright = "the solverbook authors, MIT licence"
release = version = solver.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
suppress_warnings = ["misc.highlighting_failure"]  # no lexer for KIF, the language of game descriptions

# Markdown
myst_enable_extensions = ["colon_fence", "html_image"]
myst_heading_anchors = 4
# Notebooks show the outputs they were saved with. `make docs-test` runs them.
nb_execution_mode = "off"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Docstrings write code between single backticks.
default_role = "code"

# The API: in reading order, types beside their arguments. Attributes are a list in their class's description: autodoc
# describes the fields of a named tuple as well.
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
autoclass_content = "both"
# Nothing is loaded from elsewhere, so names of Python and of other libraries lead nowhere.
nitpick_ignore_regex = [
    ("py:.*", r"(typing|collections|os|pathlib|numpy|np|numba|click|fractions|contextlib)\..*"),
    ("py:.*", r"(Any|Path|Iterable|Iterator|Mapping|Sequence|Callable|TextIO|PathLike|Literal|Fraction|ndarray)"),
    # internal types that public signatures mention
    ("py:.*", r"(solver\..*\.)?(Rules|Kind|Origin|States|Source|GameOrName|Codec|Method|Live|Foresight|Opened)"),
    ("py:.*", r"(int|str|bool|float|bytes|list|tuple|dict|set|object|type|None|Exception|KeyError|ValueError)"),
]

html_theme = "furo"
html_title = "solverbook"
html_theme_options = {"source_repository": "", "top_of_page_buttons": []}


def copy_notebooks(_app: object) -> None:
    """Copy the notebooks of `examples/` to where Sphinx looks for pages."""
    target = HERE / "notebooks"
    target.mkdir(exist_ok=True)
    for notebook in (HERE.parent / "examples").glob("*.ipynb"):
        shutil.copyfile(notebook, target / notebook.name)


# Files outside docs/ that are pages of the site. Links to other files become plain text.
PAGES = {"CONTRIBUTING.md": "/contributing.md", "CHANGELOG.md": "/changelog.md", "README.md": "/index.md"}
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!tutorials|guides|reference|explanation|pictures)([^)#]+)(#[^)]*)?\)")


def lead_to_pages(_app: object, _page: str, content: list[str]) -> None:
    """Let links that leave docs/, which a checkout follows, lead to pages of the site."""

    def link(match: re.Match[str]) -> str:
        page = PAGES.get(match[2])
        return f"[{match[1]}]({page}{match[3] or ''})" if page else match[1]

    content[0] = OUTSIDE.sub(link, content[0])


def show_examples(_app: object, _context: object, lines: list[str]) -> None:
    """Show the lines of a command's help that keep their breaks, its examples and tables, as code."""
    shown: list[str] = []
    for line in lines:
        if line.startswith("| "):
            if not (shown and shown[-1].startswith("   ")):
                shown += ["", ".. code-block:: text", ""]
            shown.append(f"   {line[2:]}")
        else:
            shown.append(line)
    lines[:] = [*shown, ""]


def give_levels(app: Any, error: Exception | None) -> None:
    """Give the captions of the menu, which Sphinx calls headings, the level that readers of screens ask for."""
    for page in () if error else Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace('role="heading">', 'role="heading" aria-level="2">'), encoding="utf-8")


def setup(app: Any) -> None:
    """Connect the functions that run before pages are read, and after they are written."""
    app.connect("build-finished", give_levels)
    app.connect("builder-inited", copy_notebooks)
    app.connect("source-read", lead_to_pages)
    app.connect("sphinx-click-process-description", show_examples)
