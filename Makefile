# Every target makes the virtual environment and installs by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
GAME ?= connect-four:5,5
BOOK ?= connect-four-5x5.lmdb

.PHONY: setup book books books-large tables test near lint bench bench-large slow faults stress browser javascript docs docs-serve docs-test versions release windows arm clean

setup: $(VENV)/installed

$(VENV)/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

# Solve a game, write its book, ask it a question.
book: setup
	$(BIN)/solver solve $(GAME) -o $(BOOK)
	$(BIN)/solver info $(BOOK)
	$(BIN)/solver query $(BOOK) start

# Build every book of the catalogue anew, and compare: 5 minutes; hold the modules against the compiled search.
books: setup
	$(BIN)/python scripts/catalog.py --check
	$(BIN)/python scripts/modules.py --check

# Solve what takes hours, into the folder LARGE: nine men's morris. The same command goes on after an interruption.
LARGE ?= large
books-large: setup
	mkdir -p $(LARGE)
	$(BIN)/solver solve nine-mens-morris --wdl --codec ranked --memory 16G -o $(LARGE)/nine-mens-morris.lmdb

# Write the page of all games, the numbers of games and books that pages quote, the index of errors, and the table of
# fingerprints.
tables: setup
	$(BIN)/python -m tests.table
	$(BIN)/python scripts/error_index.py
	$(BIN)/python scripts/fingerprints.py

# TESTS=tests/play runs a part, here and in the targets below. By file: what a file's tests share is made once; and what the
# processes of tests import is compiled to bytes once.
test near: export PYTHONDONTWRITEBYTECODE =
test: setup
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(TESTS)

# The tests of the rooms that you have touched since the last commit, or since another: make near SINCE=main
SINCE ?= HEAD
TOUCHED = { git diff --name-only $(SINCE); git ls-files --others --exclude-standard; } | cut -d/ -f1,2
ROOMS = $(shell $(TOUCHED) | sed -n 's,^solver/games$$,tests/rules,; s,^solver/report$$,tests/cli,; s,^solver/wasm$$,tests/compiled,; s,^solver/,tests/,; /^tests/p' | sort -u)
near: setup
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder tests/project $(wildcard $(filter-out %.py %.mjs tests/project,$(ROOMS)))

# All tools run, then it fails if one of them did. The last fails if there is more code than there was.
LINT := "ruff check solver tests scripts" "ruff format --check --quiet solver tests scripts" mypy "python scripts/shape.py"
lint: setup
	@failed=0; for tool in $(LINT); do echo $$tool; $(BIN)/$$tool || failed=1; done; exit $$failed

bench: setup
	$(BIN)/python scripts/bench_solve.py
	$(BIN)/python scripts/bench_book.py
	$(BIN)/python scripts/bench_search.py
	$(BIN)/python scripts/bench_modules.py --publish
	$(BIN)/python scripts/bench_depth.py --publish

bench-large: setup
	$(BIN)/python scripts/bench_large.py

# And what the quick tests run without compiling: 35 minutes on 2 cores.
slow: setup
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'slow or interpreted' --compile $(TESTS)

# A server of S3 on the loopback is among them.
faults: setup
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,faults]'
	$(BIN)/python -m pytest -n auto --dist loadfile -m faults $(TESTS)

stress: setup
	$(BIN)/python -m pytest -m stress $(TESTS)

# The page in headless Chromium, which Debian's packages bring if it is not there.
browser: setup
	command -v chromium && command -v chromedriver || { apt-get update && apt-get install -y --no-install-recommends chromium chromium-driver; }
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,browser]'
	$(BIN)/python -m pytest -m browser $(TESTS)

# The types of the JavaScript, by TypeScript, its unit tests by Node's own runner, and a bundle. Wants Node 20 or newer, and npm.
javascript: setup
	npm install --no-save --no-package-lock --silent typescript@5.9 @types/node@20 esbuild@0.25
	npx tsc --project tests/javascript
	node --test tests/javascript/
	$(BIN)/python -m pytest tests/export/test_readers.py

# The documentation site, in docs/_build; any warning fails.
docs: setup
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	$(BIN)/sphinx-build -n -W --keep-going -q docs docs/_build/html
	@echo "written to docs/_build/html: open its index.html, or run make docs-serve"

docs-serve: docs
	$(BIN)/python -m http.server --directory docs/_build/html --bind 127.0.0.1 8000

# Builds it, runs every code block of its pages and every notebook, with all extras that the pages use.
docs-test: setup
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,docs,parquet,openspiel,pettingzoo]'
	$(BIN)/python -m pytest -n auto --dist worksteal -m docs

# The tests with the oldest and with the newest versions that pyproject.toml allows; TESTS=tests/book/test_book.py for a part.
versions: setup
	$(BIN)/python scripts/versions.py $(TESTS)

# The quick tests, and twenty books, by Python for Windows under Wine; 15 minutes, and Debian's package of Wine.
windows: setup
	scripts/windows.sh setup
	scripts/windows.sh -m pytest -n auto --dist loadfile -p no:cacheprovider
	$(BIN)/python scripts/same_books.py scripts/windows.sh

# Ten books by Python for ARM under QEMU, which takes long to compile.
arm: setup
	scripts/arm.sh setup
	$(BIN)/python scripts/same_books.py scripts/arm.sh --first 10

# Builds the archive and the wheel, checks them, tries the wheel on every Python at hand; publishes nothing.
release: setup
	$(BIN)/python scripts/release.py

clean:
	rm -rf $(VENV) node_modules dist docs/_build docs/notebooks .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
