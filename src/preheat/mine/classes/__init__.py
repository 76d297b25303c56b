"""What kind of prompt it is, told from its rendered text: one class, one file, one declared rule."""

from preheat.mine.classes.table import RULES, classify, classify_cluster

__all__ = ["RULES", "classify", "classify_cluster"]
