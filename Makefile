# `make demo` and `make test` set up all they need in .venv; the others are for a developer's day.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test quick lint clean

demo: .venv/demo.stamp
	$(BIN)/dayline demo -o demo

test: .venv/test.stamp lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

quick: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow"

lint: .venv/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/pip.stamp:
	$(PYTHON) -c "import sys; sys.exit('dayline needs Python 3.11 or newer; pass PYTHON=...' if sys.version_info < (3, 11) else 0)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/demo.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/test.stamp: pyproject.toml .venv/pip.stamp
	$(BIN)/python -m pip install --quiet --editable . --group test
	touch $@

clean:
	rm -rf .venv demo results
