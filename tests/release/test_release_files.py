"""The files around a release: container, workflows, citation, version and changelog."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """Instructions of the container file with their arguments, without comments."""
    lines = [line for line in text_of("Containerfile").splitlines() if line.strip()[:1] != "#"]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    words = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [(first, rest) for first, rest in words]


def test_the_base_images_of_the_container_are_pinned_to_a_python_that_is_tested():
    images = [arguments.split()[0] for name, arguments in instructions() if name == "FROM"]
    assert len(images) == 2
    for image in images:
        found = re.fullmatch(r"docker\.io/library/python:3\.(\d+)-slim-\w+", image)
        assert found is not None, image
        assert f"Programming Language :: Python :: 3.{found[1]}" in PROJECT["classifiers"]


def test_the_container_copies_files_that_exist_and_are_not_ignored():
    lines = [line for line in text_of(".dockerignore").splitlines() if line and line[0] != "#"]
    assert lines[0] == "*"
    allowed = [line.removeprefix("!") for line in lines if line.startswith("!")]

    copied = []
    for name, arguments in instructions():
        assert name != "ADD"
        if name == "COPY" and "--from=" not in arguments:
            copied += arguments.split()[:-1]
    for needed in ("pyproject.toml", "src", PROJECT["readme"], *PROJECT["license-files"]):
        assert any(Path(needed).is_relative_to(path) for path in copied), needed
    for path in copied:
        assert (ROOT / path).exists(), path
        assert any(fnmatch(path, pattern) for pattern in allowed), path


def test_the_container_runs_dayline_as_an_ordinary_user():
    steps = instructions()
    last = steps[max(k for k, (name, _) in enumerate(steps) if name == "FROM") :]
    names = [name for name, _ in last]
    (user,) = (arguments for name, arguments in last if name == "USER")
    assert user not in {"root", "0"}
    # What follows the user runs as it; nothing is installed or built after that.
    assert "RUN" not in names[names.index("USER") :]
    assert ("ENTRYPOINT", '["dayline"]') in last


@pytest.mark.parametrize("name", ["release", "docs"])
def test_only_a_job_that_runs_nothing_of_the_repository_may_publish(name):
    workflow = yaml.safe_load(text_of(f".github/workflows/{name}.yml"))
    assert workflow["permissions"] == {}
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert build["permissions"] == {"contents": "read"}
    assert publish["permissions"]["id-token"] == "write"
    assert publish["needs"] == "build"
    assert [s for s in publish["steps"] if "run" in s or "checkout" in s["uses"]] == []
    assert "secrets." not in text_of(f".github/workflows/{name}.yml")


def test_actions_are_pinned_to_one_major_version_each():
    used: dict[str, set[str]] = {}
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for action, version in re.findall(r"uses: (\S+)@(\S+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"v\d+|release/v\d+", version), (path.name, action, version)
            used.setdefault(action, set()).add(version)
    assert {action: versions for action, versions in used.items() if len(versions) > 1} == {}


def test_make_has_every_target_that_workflows_name():
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.MULTILINE))
    for path in [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / ".ci" / "run"]:
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"(?:^|run: |sudo )make (\w+)", text, re.MULTILINE)) <= targets


def test_every_python_that_the_package_names_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    workflow = yaml.safe_load(text_of(".github/workflows/test.yml"))
    assert set(named) <= set(workflow["jobs"]["test"]["strategy"]["matrix"]["python"])
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_version_stands_in_one_place_and_the_changelog_has_it():
    """A checkout has the coming version with .dev0, a release has a dated heading."""
    assert PROJECT["dynamic"] == ["version"]
    (version,) = re.findall(r'^__version__ = "(.+)"$', text_of("src/dayline/__init__.py"), re.M)
    headings = re.findall(r"^## \[(.+?)\](.*)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert all(re.fullmatch(r" - (\d{4}-\d\d-\d\d|not released)", date) for _, date in headings[1:])
    if not version.endswith(".dev0"):
        assert headings[1][0] == version


def test_the_citation_has_what_the_format_requires_and_the_page_the_same():
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= set(citation)
    # That of the code; the photographs of the demo have another one.
    assert citation["license"] == PROJECT["license"].partition(" AND ")[0]

    paper = citation["preferred-citation"]
    text = text_of("docs/citing.md").partition("@software")[0]
    fields = dict(re.findall(r"^  (\w+)\s*= \{(.*)\},?$", text, re.MULTILINE))
    assert fields == {
        "author": " and ".join(
            f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]
        ),
        "title": paper["title"],
        "journal": paper["journal"],
        "volume": str(paper["volume"]),
        "pages": f"{paper['start']}--{paper['end']}",
        "year": str(paper["year"]),
        "url": paper["url"],
    }
