"""`python -m dayline` is `dayline`."""

from __future__ import annotations

from dayline.cli import main

main()
