"""The files around a release: container file, workflow, citation, and the page about installing."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """Instructions of the container file with their arguments; comments and line breaks left out."""
    lines = [
        line for line in text_of("Containerfile").splitlines() if not line.lstrip().startswith("#")
    ]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]  # type: ignore[misc]


def test_the_base_image_of_the_container_has_a_tag_and_a_python_that_is_tested():
    images = [arguments.split()[0] for name, arguments in instructions() if name == "FROM"]
    assert len(images) == 2
    for image in images:
        found = re.fullmatch(r"docker\.io/library/python:3\.(\d+)-slim-\w+", image)
        assert found is not None, image
        assert (
            f"Programming Language :: Python :: 3.{found[1]}" in PROJECT["project"]["classifiers"]
        )


def test_the_container_copies_files_that_exist_and_that_it_is_not_told_to_ignore():
    ignored = [
        line for line in text_of(".dockerignore").splitlines() if line and not line.startswith("#")
    ]
    assert ignored[0] == "*"
    allowed = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    copied = [
        path
        for name, arguments in instructions()
        if name == "COPY" and "--from=" not in arguments
        for path in arguments.split()[:-1]
    ]
    assert {
        "pyproject.toml",
        "src",
        PROJECT["project"]["readme"],
        *PROJECT["project"]["license-files"],
    } <= set(copied)
    for path in copied:
        assert (ROOT / path).exists(), path
        assert any(fnmatch(path, pattern) for pattern in allowed), path
    assert not any(name == "ADD" for name, _ in instructions())


def test_the_container_runs_dayline_as_an_ordinary_user():
    last_stage = instructions()
    last_stage = last_stage[max(i for i, (name, _) in enumerate(last_stage) if name == "FROM") :]
    names = [name for name, _ in last_stage]
    (user,) = (arguments for name, arguments in last_stage if name == "USER")
    assert user not in {"root", "0"}
    # What follows the user runs as it; nothing is installed or built after that.
    assert "RUN" not in names[names.index("USER") :]
    assert ("ENTRYPOINT", '["dayline"]') in last_stage
    assert "pip install" not in " ".join(
        arguments for name, arguments in last_stage if name == "RUN"
    )


@pytest.fixture(scope="module")
def workflow() -> dict:
    return yaml.safe_load(text_of(".github/workflows/release.yml"))


def test_a_release_is_published_from_a_tag_without_a_password(workflow):
    # YAML 1.1 reads the key "on" as true.
    assert workflow[True] == {"push": {"tags": ["v*"]}}
    assert workflow["permissions"] == {}
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert build["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"]["name"] == "pypi"
    assert publish["needs"] == "build"
    assert "secrets." not in text_of(".github/workflows/release.yml")
    # The job that may publish runs nothing of the repository.
    assert [step for step in publish["steps"] if "run" in step or "checkout" in step["uses"]] == []


def test_actions_are_pinned_to_a_major_version_and_the_same_in_all_workflows():
    used: dict[str, set[str]] = {}
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for action, version in re.findall(r"uses: (\S+)@(\S+)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"v\d+|release/v\d+", version), (path.name, action, version)
            used.setdefault(action, set()).add(version)
    assert {action: versions for action, versions in used.items() if len(versions) > 1} == {}


def test_make_has_every_target_that_workflows_and_docs_name():
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), re.MULTILINE))
    for name in (".github/workflows/test.yml", ".github/workflows/release.yml"):
        assert set(re.findall(r"\bmake (\w+)", text_of(name))) <= targets
    for name in ("docs/install.md", "CONTRIBUTING.md"):
        assert set(re.findall(r"(?:^    |`)make (\w+)", text_of(name), re.MULTILINE)) <= targets


def test_the_citation_has_what_the_format_requires():
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= set(citation)
    assert citation["type"] == "software"
    assert citation["license"] == PROJECT["project"]["license"]
    paper = citation["preferred-citation"]
    assert {"type", "title", "authors", "journal", "year", "volume", "start", "end"} <= set(paper)
    assert all({"family-names", "given-names"} == set(author) for author in paper["authors"])


def test_the_page_about_citing_has_the_entries_of_the_citation_file():
    text, citation = text_of("docs/citing.md"), yaml.safe_load(text_of("CITATION.cff"))
    fields = dict(
        re.findall(r"^  (\w+)\s*= \{(.*)\},?$", text.partition("@software")[0], re.MULTILINE)
    )
    paper = citation["preferred-citation"]
    names = " and ".join(f"{a['family-names']}, {a['given-names']}" for a in paper["authors"])
    expected = {
        "author": names,
        "title": paper["title"],
        "journal": paper["journal"],
        "volume": str(paper["volume"]),
        "pages": f"{paper['start']}--{paper['end']}",
        "year": str(paper["year"]),
        "url": paper["url"],
    }
    assert fields == expected


@pytest.mark.parametrize("file", ["docs/install.md", "docs/citing.md"])
def test_links_lead_somewhere(file):
    folder = (ROOT / file).parent
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(file))
    assert [link for link in links if not (folder / link).exists()] == []


@pytest.mark.parametrize("number", range(2))
def test_the_code_of_the_page_about_citing_runs(number, capsys, monkeypatch):
    blocks = re.findall(
        r"^```python\n(.*?)^```$", text_of("docs/citing.md"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 2
    monkeypatch.chdir(ROOT)
    exec(compile(blocks[number], "docs/citing.md", "exec"), {})
    printed = capsys.readouterr().out
    assert re.search(["F1 0.800, above chance 0.\\d+\n", r"dayline {23}0\.\d+\n"][number], printed)


def test_lower_bounds_that_the_docs_explain_are_those_of_the_package():
    """`make oldest` tests the bounds; the page says why they are where they are."""
    metadata = PROJECT["project"]
    extras = metadata["optional-dependencies"].values()
    requirements = " ".join(
        [*metadata["dependencies"], *(line for extra in extras for line in extra)]
    )
    names = {"NumPy": "numpy", "SciPy": "scipy", "PyAV": "av"}
    section = (
        text_of("docs/install.md")
        .partition("## Versions of other packages")[2]
        .partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (\w+) \| ([\d.]+) \|", section, re.MULTILINE)
    assert len(rows) >= 6
    for shown, version in rows:
        assert re.search(
            rf"(^| ){names.get(shown, shown)}>={re.escape(version)}( |,|$)", requirements
        ), shown
