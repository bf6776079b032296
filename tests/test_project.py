"""What the files around the code say about each other."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import dayline

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GROUPS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_stands_in_one_place():
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    assert not re.search(r"^version:", text_of("CITATION.cff"), re.MULTILINE)
    assert text_of("src/dayline/__init__.py").count(f'__version__ = "{dayline.__version__}"') == 1


def test_ci_tests_every_python_that_the_package_names():
    prefix = "Programming Language :: Python :: 3."
    named = [name.removeprefix(prefix) for name in PROJECT["classifiers"] if name.startswith(prefix)]
    tested = re.search(r"python: \[(.*)\]", text_of(".github/workflows/test.yml"))
    assert tested is not None
    # It may try newer ones, too, before the package names them.
    assert re.findall(r'"3\.(\d+)"', tested[1])[: len(named)] == named
    assert PROJECT["requires-python"] == f">=3.{named[0]}"
    told = re.search(r"CI tests it on Linux \(Ubuntu\) with (.*?), on", " ".join(text_of("docs/install.md").split()))
    assert told is not None
    assert re.findall(r"3\.\d+", told[1]) == re.findall(r'"(3\.\d+)"', tested[1])
    assert set(re.findall(r"runs-on: (\S+)", text_of(".github/workflows/test.yml"))) == {"ubuntu-latest"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("target", ["test", "demo", "quick"])
def test_only_make_chromium_installs_packages_of_the_system(target):
    def commands(name: str) -> str:
        done = subprocess.run(["make", "-n", name], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout

    assert "apt-get install" not in commands(target)
    assert "apt-get install" in commands("chromium")


@pytest.mark.parametrize("file", [".ci/run", ".github/workflows/test.yml"])
def test_ci_runs_the_commands_of_the_readme(file):
    targets = re.findall(r"\bmake (\w+)", text_of(file))
    assert targets[:2] == ["chromium", "test"]
    assert {"make chromium", "make test"} <= set(re.findall(r"make \w+", text_of("README.md")))


def test_every_make_target_that_the_readme_names_exists():
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:^    |`)make (\w+)", text_of("README.md"), re.MULTILINE))
    assert {"demo", "test", "chromium"} <= named <= targets


def test_the_layout_names_every_package_and_module():
    page = text_of("docs/develop/index.md")
    named = set(re.findall(r"`([\w.]+)/?`", page[page.index("| in `src/dayline/` |") :]))
    there = {
        path.name for path in (ROOT / "src" / "dayline").iterdir() if path.name[0] not in "_." and path.stem != "py"
    }
    assert {name for name in there if name.endswith(".py") or "." not in name} <= named


def is_version_after(version: str, last: str, *, has_changes: bool) -> bool:
    """Whether a checkout with changes has a development version later than the last one that the changelog lists."""
    if not has_changes:
        return version == last
    upcoming, dot, _ = version.partition(".dev")
    return bool(dot) and [int(k) for k in upcoming.split(".")] > [int(k) for k in last.split(".")]


def test_a_checkout_with_changes_is_not_named_like_the_version_before():
    assert is_version_after("0.2.0.dev0", "0.1.0", has_changes=True)
    assert not is_version_after("0.1.0", "0.1.0", has_changes=True)
    assert is_version_after("0.2.0", "0.2.0", has_changes=False)
    assert not is_version_after("0.2.0.dev0", "0.2.0", has_changes=True)


def test_the_changelog_keeps_its_form():
    text = text_of("CHANGELOG.md")
    versions = re.findall(r"^## \[(.+?)\](.*)$", text, re.MULTILINE)
    assert versions[0] == ("Unreleased", "")
    unreleased = text.split("## [Unreleased]")[1].split("\n## [")[0]
    assert is_version_after(dayline.__version__, versions[1][0], has_changes=bool(unreleased.strip()))
    assert all(re.fullmatch(r" - (\d{4}-\d\d-\d\d|not released)", date) for _, date in versions[1:])
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        groups = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert groups == [group for group in GROUPS if group in groups]


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda path: path.name)
def test_links_to_other_files_lead_somewhere(path):
    """In the repository; `make docs` checks those of the site."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []
