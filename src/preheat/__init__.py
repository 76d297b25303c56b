"""Preheat warms the caches of generative-AI services before their users arrive, and proves it."""

__version__ = "0.1.0"
