"""Which prefixes to warm: one strategy a file, one line each in the table of ``strategy.py``."""
