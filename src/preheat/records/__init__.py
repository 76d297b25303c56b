"""The frozen nouns of the pipeline: no I/O, no behaviour beyond what their own fields imply."""
