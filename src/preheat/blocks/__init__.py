"""Prefix blocks: the tree that prompts share."""
