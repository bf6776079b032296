"""List the license of every package that is installed beside this Python.

Exit with 1 if one is not permissive.

    .venv/bin/python benchmarks/install/licenses.py [--json]

Needs nothing but the standard library, so that any environment can run it. A license is what the
package declares as an SPDX expression, else in its classifiers, else in its license field, else in
the first line of its license file. It is that of the package's own code: wheels may contain
libraries with licenses of their own, see docs/install.md.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distributions

PERMISSIVE = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "HPND",
    "ISC", "MIT",
    "MIT-CMU", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
}  # fmt: skip
"""SPDX identifiers of licenses that allow any use; "BSD" stands for packages that do not say which
of them."""
FILE_COPYLEFT = {"MPL-2.0"}
"""Copyleft that ends at the file: no condition on programs that use the package."""
ALLOWED = PERMISSIVE | FILE_COPYLEFT
NAMES = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache software license 2.0": "Apache-2.0",
    "bsd": "BSD",
    "bsd license": "BSD",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
"""Other names of licenses, in lower case."""
INSTALLERS = {"pip", "setuptools", "uv", "wheel"}


def license_of(package: Distribution) -> str:
    """Return the SPDX expression of a package, else what it says, else "unknown"."""
    about = package.metadata
    expression = about.get("License-Expression")
    if expression:
        return expression
    prefix = "License :: OSI Approved :: "
    classifiers = [
        c.removeprefix(prefix) for c in about.get_all("Classifier") or [] if c.startswith(prefix)
    ]
    field = (about.get("License") or "").strip()
    for name in (field, *classifiers, *_first_lines(package)):
        known = NAMES.get(name.lower(), name)
        if known in ALLOWED:
            return known
    first = (classifiers or [field.splitlines()[0] if field else ""])[0]
    return first if first and first.upper() != "UNKNOWN" else "unknown"


def _first_lines(package: Distribution) -> list[str]:
    files = [
        f
        for f in package.files or []
        if re.match(r"(?i)licen[cs]e", f.name) and ".dist-info" in str(f)
    ]
    texts = [(f.read_text() or "").strip() for f in files if f.locate().is_file()]
    return [text.splitlines()[0].strip() for text in texts if text]


def is_allowed(expression: str) -> bool:
    """Whether every part of an SPDX expression is allowed; of parts joined by OR, one is enough."""
    parts = re.split(r"\s+AND\s+", expression.replace("(", " ").replace(")", " "))
    return all(any(_is_known(name) for name in re.split(r"\s+OR\s+", part)) for part in parts)


def _is_known(name: str) -> bool:
    # An exception to a license (WITH) only ever allows more.
    return name.strip().partition(" WITH ")[0].strip() in ALLOWED


def main() -> None:
    found = [
        {"name": p.name, "version": p.version, "license": license_of(p)}
        for p in distributions()
        if p.name.lower() not in INSTALLERS
    ]
    found.sort(key=lambda row: row["name"].lower())
    refused = [
        f"{row['name']}: {row['license']}" for row in found if not is_allowed(row["license"])
    ]
    if "--json" in sys.argv[1:]:
        print(json.dumps(found, indent=1))
    else:
        print("| package | license |\n| --- | --- |")
        for row in found:
            print(f"| {row['name']} | {row['license']} |")
    if refused:
        print(f"not known to be permissive: {'; '.join(refused)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
