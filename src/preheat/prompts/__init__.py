"""How requests become text, and text becomes fit to show: rendering, parsing back, redaction."""
