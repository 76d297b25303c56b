"""The composition root: flags in, stages called, files and tables out."""
