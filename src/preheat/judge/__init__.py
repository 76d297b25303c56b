"""Runs → Evidence: metrics (one a file), cold against warm, and the report on the terminal and as HTML."""
