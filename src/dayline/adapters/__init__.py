"""EventSegmenter as an estimator of other libraries: one module each, imported by its name.

`dayline.adapters.sktime`, `dayline.adapters.aeon`, `dayline.adapters.skchange` and
`dayline.adapters.ruptures` need the extra of the same name. All segment each sequence on its own.
"""
