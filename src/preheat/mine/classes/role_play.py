"""Role play: a persona is set."""

from __future__ import annotations

import re

from preheat.mine.classes.cues import Cues
from preheat.mine.classes.reading import Reading

_SAID = Cues(
    any=(
        '**role:**|**role**|# role|role:|"role": "|# identity|agis comme|agissez comme|joue le rôle|atue como|'
        "aja como|agisci come|gibi davran|действуй как|веди себя как|として行動"
    ),
    en=(
        "act as a|act as the|act as my|act as i|act like a|acting as a|acting as the|pretend to be|pretend you|"
        "imagine you are|imagine you're|imagine yourself|picture yourself|imagine that you are|suppose you are|"
        "play the role|in the role of|take on the role|the role of a|assume the role|assume the persona|your role is|"
        "role-play|roleplay|role play|speak like|playing the part|you play the|your persona|stay in character|"
        "serve as a|adopt the persona"
    ),
    zh=(
        "扮演|充当|担任|你的角色|您的角色|假装你|假装自己|假装您|假定自己|假设你是|假如你是|想象你是|表现得像|"
        "角色设定|你将作为|的身份|我想让你做|我要你做|我想让你当"
    ),
    de=(
        "die rolle eine|die rolle des|die rolle der|in der rolle|agiere als|handle als|verhalte dich wie|"
        "stell dir vor, du bist|deine rolle|ihre rolle ist|tu so, als"
    ),
    es=(
        "actúa como|actua como|actúe como|actuar como|haz de cuenta que eres|imagina que eres|asume el rol|"
        "asume el papel|el papel de|el rol de|tu rol es|tu papel es|compórtate como"
    ),
)
_YOU_ARE = {
    "any": ("tu es ", "vous êtes ", "você é ", "ты — "),
    "en": ("you are ", "you're ", "you’re "),
    "zh": ("你是", "您是", "你现在是", "您现在是", "あなたは"),
    "de": ("du bist ", "sie sind "),
    "es": ("eres ", "usted es "),
}
_A = re.compile(
    r"(?:now |going to be )?\W{0,4}(?:an? |the |my |our |eine?n? |der |die |mein |une? |una |el |la |um |uma |"
    r"[一个位名我]|(?<=[\"“*])|专业|资深)([^\n.!?,;:。，]{0,80})"
)
_GENERIC = re.compile(
    r"(?:(?:very|helpful|useful|friendly|polite|honest|harmless|ai|virtual|concise|nice|good|great|smart|large|language|"
    r"chat|bot|chatbot|model|and|but|und|hilfreich\w*|nützlich\w*|freundlich\w*|assistent\w*|ki-assistent|asistente|"
    r"assistant|útil|amable|个|位|名|有用的|乐于助人的|人工智能|助手)\W*)++(?:$|that (?:answers|can answer|helps?)|"
    r"who (?:answers|helps?)|für |para )"
)
_NO_PERSONA = re.compile(
    r"(?:bit|lot|little|few|couple|star|genius|winner|good|first|same|only|one|best|right|wrong|reader|big|member|customer|"
    r"person who|man who|woman who|student in|child|user|recipient|owner of|most)\b"
)
_BEFORE = re.compile(r"(?:^|[.!?:;,>\"“'*\n\r\t(，。：；“]|\b(?:and|that|if|now|hi|hello|suppose|act as|since|tú))\s*$")
_AS_A = re.compile(
    r"(?:^|[.!?:\n]\s{0,4}|please,? )as an? (?!result|consequence|whole|rule|reminder|bonus|gift|child|kid|matter|test|"
    r"first|last|final|side|note|percentage|function|table|list|string|json|fraction|sequence|part|way|means|starting)"
    r"(?:[\w/'-]{1,30} ){0,6}?[\w/'-]{1,30}(?: (?:on|in|with|at|of) [^,.\n]{1,60})?, "
    r"(?:you|your|describe|write|create|what|how|please|explain|provide|give|tell|design|develop|can you|draft|list)\b"
)
LONG_CHARS, HEAD_CHARS, SAID_CHARS = 1500, 600, 250
"""A user's turn longer than this brings data along, and sets a persona in its beginning if at all."""


def holds(reading: Reading) -> bool:
    """By what is said to the assistant in the system prompt or in the beginning of a user's turn."""
    openings = tuple(opening for language in reading.languages for opening in _YOU_ARE[language])
    if reading.system_says(_SAID) or _sets_persona(reading.system, openings):
        return True
    heads = [text if len(text) < LONG_CHARS else text[:HEAD_CHARS] for text in reading.asked]
    said = "\n\n".join(text if len(text) < LONG_CHARS else text[:SAID_CHARS] for text in reading.asked)
    return reading.user_says(_SAID, said) or any(_sets_persona(head, openings) for head in heads)


def _sets_persona(low: str, openings: tuple[str, ...]) -> bool:
    if any(_you_are(low, opening) for opening in openings):
        return True
    return "as a" in low and _AS_A.search(low) is not None


def _you_are(low: str, opening: str) -> bool:
    """Whether ``opening`` begins a clause that names somebody, and not just a helpful assistant."""
    place = low.find(opening)
    while place >= 0:
        after = place + len(opening)
        if _BEFORE.search(low, max(place - 12, 0), place):
            who = _A.match(low, after, after + 120)
            name = who[1].strip(" *\"“”'") if who else ""
            if name and not _GENERIC.match(name) and not _NO_PERSONA.match(name):
                return True
        place = low.find(opening, after)
    return False
