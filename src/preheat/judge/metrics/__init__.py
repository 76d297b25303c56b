"""One metric a file; the table of them is in ``table.py``, the protocol in ``metric.py``."""
