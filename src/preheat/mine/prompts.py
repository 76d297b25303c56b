"""The text of a prompt, as far as a profile's tree holds it."""

from __future__ import annotations

from preheat.records.profile import Profile


def prefix(profile: Profile, node: int) -> str:
    """The whole text from the root to the end of ``node``; as far as text was kept."""
    parts: list[str] = []
    while node >= 0:
        parts.append(profile.nodes[node].text or "")
        node = profile.nodes[node].parent
    return "".join(reversed(parts))
