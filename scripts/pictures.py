"""Make the pictures of the documentation anew: screenshots, plots and a terminal session, into docs/pictures.

python scripts/pictures.py              # all of them; needs Chromium with its driver, and the extra `docs`
python scripts/pictures.py session      # those whose name begins so

`how.svg` and `book.svg` are drawn by hand and stay as they are.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import io
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmark import ROOT

PICTURES = ROOT / "docs" / "pictures"
SOLVER = (sys.executable, "-m", "solver")
DESKTOP, PHONE = (1100, 860), (390, 844)
WIDTH = 1760  # of a picture of the desktop, in pixels: pages show it half as wide
# The last line of the window at which nothing is cut
UNCUT = """const parts = document.querySelectorAll("#table > *, #below > *, #side > *, #side li, #controls > *, .card");
  const boxes = [...parts].map((one) => one.getBoundingClientRect()).filter(({ height }) => height);
  let line = innerHeight;
  while (boxes.some(({ top, bottom }) => top < line && bottom > line)) line -= 1;
  return line;"""

# name of the picture: page, fragment of its address, size, dark
PAGES = {
    "page-light": ("connect-four-4x4", "#moves=1,1,2,4,2", DESKTOP, False),
    "page-dark": ("connect-four-4x4", "#moves=1,1,2,4,2", DESKTOP, True),
    "page-phone": ("connect-four-4x4", "#moves=1,1,2,4,2", PHONE, False),
    "page-dice": ("pig-15", "#moves=roll,4", DESKTOP, False),
    "page-search": ("othello-6x6", "", DESKTOP, False),
    "index": ("", "", DESKTOP, False),
}
SITE = ("connect-four:4,4", "tic-tac-toe", "hexapawn", "kalah:3,2", "mu-torere", "chess-ending:KPK")
SESSION = (
    "solver solve connect-four:4,4 -o c4.lmdb",
    "solver query c4.lmdb 11242",
    "solver verify c4.lmdb",
)


def command(*words: str, where: Path) -> str:
    """Run a command in a folder, and return what it prints, notes and progress left out."""
    return subprocess.run(words, cwd=where, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """A static host of a folder on the loopback, and its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """Chromium without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def shoot(driver: Any, address: str, size: tuple[int, int], dark: bool, path: Path) -> None:
    """Write a screenshot of a page once it has its values, with a palette, which takes a third of the bytes."""
    import base64

    from PIL import Image

    scale = 2 if size == PHONE else WIDTH / size[0]
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": scale, "mobile": size[0] < 500}
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    driver.get("about:blank")
    driver.get(address)
    time.sleep(4)
    data = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
    whole = Image.open(io.BytesIO(data)).convert("RGB")
    height = round(driver.execute_script(UNCUT) * scale)
    picture = whole.crop((0, 0, whole.width, height)).quantize(128)
    picture.save(path, optimize=True)


def pages(folder: Path, wanted: Callable[[str], bool]) -> None:
    """One screenshot for each kind of page."""
    names = [name for name in PAGES if wanted(name)]
    if not names:
        return
    site = folder / "site"
    site.mkdir()
    command(*SOLVER, "solve", "pig:15", "-o", "pig.lmdb", "-q", where=folder)
    sources = {"connect-four-4x4": "connect-four:4,4", "pig-15": "pig.lmdb", "othello-6x6": "othello:6,6"}
    for page, source in sources.items():
        command(*SOLVER, "export", source, "-o", f"{site / page}/", "-q", where=folder)
    command(*SOLVER, "export", *SITE, "-o", f"{site / 'index'}/", "-q", where=folder)
    with served(site) as address, browser(folder / "profile") as driver:
        for name in names:
            page, fragment, size, dark = PAGES[name]
            shoot(driver, f"{address}/{page or 'index'}/{fragment}", size, dark, PICTURES / f"{name}.png")


def plots(folder: Path) -> None:
    """The plot of a book that `solver info` makes."""
    command(*SOLVER, "info", "connect-four:4,4", "--plot", str(PICTURES / "plot.svg"), where=folder)


def board() -> None:
    """A position with the value of every move, as notebooks show it."""
    import solver

    solver.board(solver.Book("connect-four:4,4"), "11242").save(PICTURES / "board.svg")


def session(folder: Path) -> None:
    """A terminal session as SVG. Its fonts are those of the reader's system."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=100, file=io.StringIO())
    for line in SESSION:
        console.print(Text.assemble(("$ ", "green"), (line, "bold")))
        printed = command(*SOLVER, *line.split()[1:], where=folder)
        console.print(Text(re.sub(r"(rules|digest)( +\w{12})\w+", r"\1\2...", printed.rstrip("\n")) + "\n"))
    svg = console.export_svg(title="solver", unique_id="session")
    (PICTURES / "session.svg").write_text(re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL))


def main() -> None:
    """Make the pictures whose names begin with one of the arguments, or all."""
    prefixes = tuple(sys.argv[1:]) or ("",)

    def wanted(name: str) -> bool:
        return name.startswith(prefixes)

    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pictures-") as name:
        folder = Path(name)
        pages(folder, wanted)
        if wanted("plot"):
            plots(folder)
        if wanted("board"):
            board()
        if wanted("session"):
            session(folder)


if __name__ == "__main__":
    main()
