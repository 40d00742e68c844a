"""The readers of `.bin` books for programs in other languages, as files to copy."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from importlib import resources
from pathlib import Path

from solver.base.errors import BookError, MethodError, ResourceError
from solver.base.files import write_whole
from solver.book.writer import check_target

LANGUAGES = ("c", "js")
WEB = resources.files("solver") / "web"
HEADER = "solverbook.h"
BEGINNING = 40  # characters by which a file of a reader is known


def files_of(language: str) -> dict[str, str]:
    """Return the files of a reader by their names.

    Args:
        language: "c" for a header; "js" for the modules and types of an npm package, and a program that checks proofs.
    """
    if language == "c":
        return {HEADER: (resources.files(__name__) / HEADER).read_text("utf-8")}
    if language != "js":
        raise MethodError(f"no reader for {language!r}: choose {' or '.join(LANGUAGES)}")
    found = {path.name: path.read_text("utf-8") for path in (WEB / "reader").iterdir() if path.is_file()}
    package = (WEB / "package.json").read_text("utf-8").replace("./reader/", "./")
    return {**found, "package.json": package.replace('["reader"]', '["*.js", "*.mjs", "*.d.ts"]')}


def write_reader(language: str, folder: str | os.PathLike[str]) -> list[str]:
    """Write the files of a reader into a folder, which is made if need be. Files of an earlier reader are replaced.

    Args:
        language: "c" or "js".
        folder: Where to write them.

    Returns:
        The names of the files.

    Raises:
        MethodError: There is no reader for the language.
        BookError: The path is not a folder, or a file of yours has the name of one of the reader.
        ResourceError: A file cannot be written. A folder that was made is removed.
    """
    found, target = files_of(language), Path(folder)
    with contextlib.ExitStack() as undo:
        try:
            created = [path for path in (target, *target.parents) if not path.exists()]
            undo.callback(lambda: shutil.rmtree(created[-1], ignore_errors=True) if created else None)
            target.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise BookError(f"{target} exists and is not a folder: name another for the reader") from None
        except OSError as error:
            raise ResourceError(f"{target} cannot be made ({error.strerror or error}): name another folder") from None
        for name, text in found.items():
            check_target(target / name, rb"\A" + re.escape(text[:BEGINNING].encode()))
        for name, text in sorted(found.items()):
            write_whole(target / name, text.encode())
        undo.pop_all()
    return sorted(found)
