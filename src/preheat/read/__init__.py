"""Log bytes become Requests. One file per format; the table of formats stands in ``reader.py``."""
