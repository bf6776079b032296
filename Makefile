# `make demo` and `make test` set up all they need in .venv and change nothing else; the others are for a developer's day.
PYTHON ?= python3
BIN := .venv/bin
HAS_CHROMIUM := command -v chromium >/dev/null || command -v chromium-browser >/dev/null
APT_INSTALL := apt-get install -y -qq --no-install-recommends

.PHONY: demo test adapters quick page coverage oldest fuzz kill processors lint eslint docs figures gallery release chromium clean

demo: .venv/demo.stamp
	$(BIN)/dayline demo -o demo

test: .venv/test.stamp lint
	@$(HAS_CHROMIUM) || echo "chromium is not installed, so the tests of the page are skipped; make chromium installs it"
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2
	$(MAKE) adapters

# The checks that sktime and aeon have for their own estimators. They need older packages than all else, so they have an
# environment of their own, and their warnings are not errors here.
adapters: .venv/adapters.stamp
	OMP_NUM_THREADS=1 .venv/adapters/bin/python -m pytest -o filterwarnings=default -k "not skchange_s_own" tests/adapters

quick: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow and not browser"

# The tests that open a page in Chromium.
page: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "browser and not slow"

# Which lines and branches no test runs: a table, and the lines themselves in htmlcov/.
coverage: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered --cov-report=html

# The quick tests with the oldest versions that pyproject.toml allows, on the oldest Python. Old packages warn about new
# ones, so warnings are not errors here; scikit-learn 1.6 cannot load its checks without SCIPY_ARRAY_API.
oldest: .venv/oldest.stamp
	OMP_NUM_THREADS=1 SCIPY_ARRAY_API=1 .venv/oldest/bin/python -m pytest -n 2 -m "not slow" -o filterwarnings=default

# 5,000 damaged files of each format that dayline reads; `make test` reads 300 of each.
fuzz: .venv/test.stamp
	OMP_NUM_THREADS=1 DAYLINE_FUZZ=5000 $(BIN)/python -m pytest -n 2 tests/fuzz

# Kill -9 at 50 moments of each command that writes; `make test` tries a few.
kill: .venv/test.stamp
	DAYLINE_KILLS=50 $(BIN)/python -m pytest -n 2 tests/kill

# The numeric tests, and the boundaries of sequences, with the code that libraries choose on other processors.
DATA ?= ../shared/data/dev
processors: .venv/test.stamp
	$(BIN)/python benchmarks/processors.py --data $(DATA)

lint: .venv/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# ESLint and Prettier check the scripts of the pages; only this needs Node.js.
eslint:
	@if command -v npm >/dev/null; then npm install --no-package-lock --no-audit --no-fund --silent && npm run --silent lint; \
	else echo "Node.js is not installed, so the scripts of the pages are not checked"; fi

# The site, from docs/ and the code, without the network; any warning is an error.
docs: .venv/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is site/index.html"

# Figures that need made data and minutes; the others name their script and date.
figures: .venv/test.stamp
	$(BIN)/dayline demo -o demo --no-open
	$(BIN)/python examples/demo_page.py demo --output docs/images/demo.webp
	$(BIN)/python examples/synthetic.py --output docs/images/synthetic.png
	$(BIN)/python examples/decision.py --output docs/images/decision.png
	$(BIN)/python examples/explain.py --output docs/images/plot.png
	$(BIN)/python examples/equations.py --output docs/images/method
	OMP_NUM_THREADS=1 $(BIN)/python examples/gallery/build.py
	$(BIN)/python benchmarks/accuracy/photostream.py --write docs/results.md
	$(BIN)/python benchmarks/summary.py --write

# Runs the scripts in examples/gallery and writes docs/gallery; takes about a minute.
gallery: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python examples/gallery/build.py

# What a tag publishes: a source archive, and a wheel that is built from it.
release: .venv/release.stamp
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

# The page is tested in Debian's Chromium. This installs a package of the system, as root, so nothing else asks for it.
chromium:
	$(HAS_CHROMIUM) || $(APT_INSTALL) chromium || { apt-get update -qq && $(APT_INSTALL) chromium; }

.venv/pip.stamp:
	$(PYTHON) -c "import sys; sys.exit('dayline needs Python 3.11 or newer; pass PYTHON=...' if sys.version_info < (3, 11) else 0)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/demo.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet --editable ".[demo]"
	touch $@

.venv/adapters.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv/adapters
	$(BIN)/uv pip install --quiet --python .venv/adapters/bin/python --editable . --group adapters
	touch $@

.venv/docs.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet --editable . --group docs
	touch $@

.venv/test.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet --editable . --group test
	touch $@

.venv/release.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet --group release
	touch $@

.venv/oldest.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --seed --python 3.11 .venv/oldest
	$(BIN)/uv pip compile --quiet --python .venv/oldest/bin/python --all-extras --resolution lowest-direct \
		--output-file .venv/oldest.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python .venv/oldest/bin/python --constraint .venv/oldest.txt \
		--requirement .venv/oldest.txt --group tools --editable .
	touch $@

clean:
	rm -rf .venv demo dist htmlcov results site
