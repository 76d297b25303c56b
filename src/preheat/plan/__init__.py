"""Profile + budget → Plan: what will be asked for, what it saves, what it costs, in which order."""
