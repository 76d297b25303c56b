"""Logs of known templates, made up in several languages and chat formats."""

from __future__ import annotations

import random

from preheat.mine.miner import mine
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import Message, Request

RENDERER = renderer_for(Rendering())
WORDS = {
    "en": "river market engine garden letter window planet copper winter bridge singer orange doctor forest",
    "de": "Brücke Garten Fenster Straße Kupfer Winter Sängerin Arzt Wälder Maschine Brief Fluss Markt Planet",
    "es": "puente jardín ventana calle cobre invierno cantante médico bosque máquina carta río mercado niño",
    "zh": "桥 花园 窗户 街道 铜 冬天 歌手 医生 森林 机器 信 河流 市场 行星 海洋 火车 音乐 学校 老师 苹果",
}
SYSTEMS = {
    "lawyer": "You are a careful assistant for contract law. Quote the clause before you answer, and never guess.",
    "Gärtner": "Du bist ein erfahrener Gärtner. Antworte kurz, nenne die Jahreszeit und warne vor giftigen Pflanzen.",
    "médico": "Eres un médico de familia. Responde con calma, en frases cortas, y recomienda una visita si hay dudas.",
    "导游": "你是一名经验丰富的导游，请用简洁的中文回答游客的问题，并且总是推荐一个附近的景点，不要编造地址。",
    "coder": 'def review(code: str) -> str:\n    """Act as this function: return only a list of defects."""\n',
}
RAG = {
    "en": ("Answer from the text below in one sentence.\n\n", "\n\nNow answer this question from the text above: "),
    "de": ("Beantworte die Frage anhand des Textes.\n\n", "\n\nBeantworte nun anhand des obigen Textes: "),
    "zh": ("请根据下面的文章回答问题，只输出答案。\n\n", "\n\n请只根据上面的文章回答下面这个问题，不要输出其他内容："),
}


def talk(rng: random.Random, language: str, words: int) -> str:
    """Words drawn at random: no two texts are alike."""
    joint = "" if language == "zh" else " "
    return joint.join(rng.choice(WORDS[language].split()) for _ in range(words))


def chats(rng: random.Random, each: int) -> list[tuple[str, Request]]:
    return [
        (name, chat(system, f"{talk(rng, rng.choice(['en', 'de', 'es', 'zh']), 30)}?"))
        for name, system in SYSTEMS.items()
        for _ in range(each)
    ]


def passages(rng: random.Random, each: int) -> list[tuple[str, Request]]:
    """Retrieval: an instruction, a passage that changes, an instruction again, a question."""
    return [
        (f"rag-{language}", chat(None, f"{before}{talk(rng, language, 150)}。{after}{talk(rng, language, 12)}?"))
        for language, (before, after) in RAG.items()
        for _ in range(each)
    ]


def chat(system: str | None, question: str) -> Request:
    messages = [Message("system", system)] if system else []
    return Request(id="r", messages=(*messages, Message("user", question)), time_s=0.0)


def completion(prompt: str) -> Request:
    return Request(id="r", prompt=prompt, time_s=0.0)


def profile_of(requests: list[Request], settings: MineSettings | None = None) -> Profile:
    return mine(requests, RENDERER, settings)
