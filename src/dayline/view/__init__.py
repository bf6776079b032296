"""Serve the page of a result on this machine, so that Save writes into the result."""

from __future__ import annotations

from dayline.view.server import ViewServer, prepare, serve

__all__ = ["ViewServer", "prepare", "serve"]
