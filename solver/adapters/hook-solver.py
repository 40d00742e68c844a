"""For PyInstaller: names imported on demand, shipped books, and the source, which fingerprints are made from."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

from solver.book import shipped

datas = [*collect_data_files("solver"), (str(shipped.folder()), "solver/books")]
hiddenimports = collect_submodules("solver", lambda name: not name.startswith("solver.adapters"))
module_collection_mode = {"solver": "pyz+py"}
