"""Each class: clear cases in several languages, near misses, and what holds of any text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.mine.classes import RULES, classify, classify_cluster
from preheat.prompts.chatml import render_messages
from preheat.records.outcomes import PromptClass
from preheat.records.request import Message

C = PromptClass
PASSAGE = (
    "The lighthouse at Kullen was built in 1900 on the north-western tip of the peninsula. It replaced an older "
    "tower that "
    "had burned coal until 1843. Its lens, made in Paris, is one of the largest in Scandinavia, and the light "
    "can be seen "
    "from ships at a distance of almost fifty kilometres. Keepers lived on the site until the light was automated. "
)
PASSAGE_ZH = (
    "库伦灯塔建于一九〇〇年，位于半岛的西北端。它取代了一座更早的塔楼，那座塔楼直到一八四三年一直燃烧煤炭。"
    "灯塔的透镜在巴黎制造，"
    "是斯堪的纳维亚最大的透镜之一，船只在将近五十公里以外就能看见灯光。灯塔实现自动化以前，守塔人一直住在那里，"
    "每天记录天气和过往的船只。如今这里是一座博物馆，每年夏天有许多游客前来参观。"
)
PASSAGE_DE = (
    "Der Leuchtturm von Kullen wurde im Jahr 1900 an der Nordwestspitze der Halbinsel gebaut. Er ersetzte einen "
    "älteren Turm, "
    "in dem bis 1843 Kohle verbrannt wurde. Seine Linse kommt aus Paris und ist eine der größten in Skandinavien. "
    "Das Licht ist auf Schiffen noch in fast fünfzig Kilometern Entfernung zu sehen. Wärter lebten dort bis zuletzt. "
)
PASSAGE_ES = (
    "El faro de Kullen se construyó en 1900 en el extremo noroeste de la península. Sustituyó a una torre más "
    "antigua en la que "
    "se quemó carbón hasta 1843. Su lente, fabricada en París, es una de las más grandes de Escandinavia, y la "
    "luz se ve "
    "desde los barcos a casi cincuenta kilómetros. Los guardianes vivieron allí hasta que el faro fue automatizado. "
)
TALK_ZH = "客户：我想退货。\n客服：好的，请寄回商品，运费由我们承担。\n客户：多久能退款？\n客服：收到以后七天之内。\n"
FARM = (
    "A farm has 12 cows, 30 hens and 4 dogs. It sells 6 eggs a day at 2 dollars each, keeps 10 litres of milk for the "
    "3 children, and gives 5 litres to each of 2 neighbours. On day 7 it sells 1 cow for 900 dollars, buys 8 hens at "
    "11 dollars each, and then 2 more dogs for 50 dollars. How many dollars did the farm make in those 7 days?"
)
POSITIVE = [
    (C.MULTI_HOP, "A baker sells 12 rolls at $0.50 each and half as many cakes at $3 each. How much does she earn?"),
    (C.MULTI_HOP, "Why do cats land on their feet? Let's think step by step."),
    (C.MULTI_HOP, "Solve for x in the equation 4x - 7 = 2(x + 5)."),
    (C.MULTI_HOP, "小华有三个篮子，每个篮子有8个苹果，他送给朋友5个，还剩多少个苹果？"),
    (C.MULTI_HOP, "请一步一步思考，然后给出结论：为什么天空是蓝色的"),
    (C.MULTI_HOP, "Ein Zug fährt 80 km in einer Stunde. Wie viele Kilometer fährt er in 3 Stunden und 15 Minuten?"),
    (C.MULTI_HOP, "Ana tiene 24 caramelos y los reparte entre 6 amigos. ¿Cuántos caramelos recibe cada uno?"),
    (C.JSON_SCHEMA, 'Extract the invoice. Return only JSON of this form: {"number": "...", "total": 0}'),
    (C.JSON_SCHEMA, "Respond with a JSON object with the keys name, age and city."),
    (C.JSON_SCHEMA, '请提取联系人，并以JSON格式输出：{"姓名": "", "电话": ""}'),
    (C.JSON_SCHEMA, 'Antworte als JSON mit den Schlüsseln "name" und "alter".'),
    (C.JSON_SCHEMA, 'Devuelve un JSON con los campos "nombre" y "edad".'),
    (C.FEW_SHOT, "Q: dog\nA: animal\n\nQ: oak\nA: plant\n\nQ: trout\nA:"),
    (C.FEW_SHOT, "Review: lovely film\nSentiment: good\n\nReview: a bore\nSentiment: bad\n\nReview: too long\n"
        "Sentiment:"),
    (C.FEW_SHOT, "输入：今天很热\n输出：天气\n\n输入：股票上涨\n输出：财经\n\n输入：球队赢了\n输出："),
    (C.FEW_SHOT, "Frage: Hund?\nAntwort: Tier\n\nFrage: Eiche?\nAntwort: Pflanze\n\nFrage: Forelle?\nAntwort:"),
    (C.FEW_SHOT, "Pregunta: ¿perro?\nRespuesta: animal\n\nPregunta: ¿roble?\nRespuesta: planta\n\nPregunta: "
        "¿trucha?\nRespuesta:"),
    (C.FEW_SHOT, "sea otter => loutre de mer\ncheese => fromage\nhouse => maison\nmint =>"),
    (C.RAG, f"Answer the question based on the given passages.\n\n{PASSAGE}\n\nQuestion: When was it built?\nAnswer:"),
    (C.RAG, f"{PASSAGE}\n\nWhere was the lens of the lighthouse made?"),
    (C.RAG, f"Context: {PASSAGE}\n\nQuestion: Who lived on the site?"),
    (C.RAG, f"阅读以下文字并回答问题。\n\n{PASSAGE_ZH}\n\n问题：透镜在哪里制造？"),
    (C.RAG, f"{PASSAGE_DE}\n\nWoher kommt die Linse des Leuchtturms?"),
    (C.RAG, f"Responde según el texto.\n\n{PASSAGE_ES}\n\nPregunta: ¿Dónde se fabricó la lente?"),
    (C.RAG, TALK_ZH * 3 + "这段对话中，客户想做什么？"),
    (C.TOOL_USE, 'You have access to the following tools:\n{"name": "add", "description": "adds", "parameters": {}}'),
    (C.TOOL_USE, "你可以使用的工具如下，请在需要时调用工具。"),
    (C.TOOL_USE, "Dir stehen die folgenden Werkzeuge zur Verfügung: suche, rechner. Das ist die Liste und der Anfang."),
    (C.TOOL_USE, "Usa las herramientas disponibles para responder a la pregunta de los usuarios."),
    (C.ROLE_PLAY, "I want you to act as a travel guide. My first request is Oslo."),
    (C.ROLE_PLAY, "You are an experienced nutritionist. Plan my meals."),
    (C.ROLE_PLAY, "As a sports commentator, describe the last lap of the race."),
    (C.ROLE_PLAY, "我希望你充当一名导游，向我介绍北京。"),
    (C.ROLE_PLAY, "Du bist ein erfahrener Koch und hilfst mir bei der Wahl und Zubereitung der Speisen."),
    (C.ROLE_PLAY, "Actúa como un guía de viajes y dime qué ver en los pueblos de la costa."),
    (C.CLASSIFICATION, "Classify the review as positive or negative: I loved it."),
    (C.CLASSIFICATION, "Which gas do plants take in?\n(A) oxygen\n(B) carbon dioxide\n(C) helium"),
    (C.CLASSIFICATION, "Is a whale a fish?\nOptions:\n(A) yes\n(B) no"),
    (C.CLASSIFICATION, "判断这句话是否含有侮辱性语言：你真聪明。"),
    (C.CLASSIFICATION, "请将下列新闻分类为体育、财经或娱乐：股市今天上涨。"),
    (C.CLASSIFICATION, "Klassifiziere die Bewertung: Das Essen war kalt und der Service ist langsam."),
    (C.CLASSIFICATION, "Clasifica la reseña como positiva o negativa: el hotel es un desastre y la comida mala."),
    (C.CODE, "Write a Python function that reverses a list."),
    (C.CODE, "What is wrong here?\n\ndef f(x):\n    if x > 0\n        return x\n    print(f(3))\nfor i in "
        "range(3):\n    f(i)"),
    (C.CODE, "用Python编写一个程序，计算斐波那契数列。"),
    (C.CODE, "Schreibe eine Funktion in Java, die eine Liste sortiert, und erkläre, wie sie das macht."),
    (C.CODE, "Escribe una función en Python que ordene una lista y explica el código para los alumnos."),
]  # fmt: skip
NEGATIVE = [
    (C.MULTI_HOP, "How many moons does Jupiter have?"),
    (C.MULTI_HOP, "Write a step-by-step guide to baking bread."),
    (C.MULTI_HOP, "In 1492 and 1776 great things happened. Tell me a story."),
    (C.JSON_SCHEMA, "Why did JSON win over XML?"),
    (C.JSON_SCHEMA, "Build a notes app with export to JSON."),
    (C.JSON_SCHEMA, "Return the answer as a table with the fields name and age."),
    (C.FEW_SHOT, "Summarize the dialogue. The following are some examples.\n\nA: hello there."),
    (C.FEW_SHOT, "Q: What is the capital of France?\nA:"),
    (C.FEW_SHOT, "Name: Bond\nAge: 40\nName: Moneypenny\nAge: 35\nWrite a story."),
    (C.RAG, f"Summarize the following text.\n\n{PASSAGE}"),
    (C.RAG, "Who built the lighthouse at Kullen?"),
    (C.RAG, "I lost my job and my dog ran away. My friends do not call me. " * 8 + "What should I do now?"),
    (C.RAG, f"Übersetze den Artikel ins Englische.\n\nArtikel: {PASSAGE_DE}"),
    (C.RAG, FARM),
    (C.TOOL_USE, "Which tools does a carpenter use to plane a board?"),
    (C.TOOL_USE, "What is the function of the liver?"),
    (C.TOOL_USE, "You are a tool for cleaning text."),
    (C.ROLE_PLAY, "You are a helpful assistant."),
    (C.ROLE_PLAY, "You are given two sentences. Compare them."),
    (C.ROLE_PLAY, "As a result, describe the process."),
    (C.ROLE_PLAY, "Du bist ein hilfreicher Assistent."),
    (C.ROLE_PLAY, "你是一个有用的助手。"),
    (C.CLASSIFICATION, "Write a poem about the seasons."),
    (C.CLASSIFICATION, "Which class did she teach in the first year at the school?"),
    (C.CLASSIFICATION, "如何在Python中判断文件是否存在？"),
    (C.CODE, "What is the dress code for a wedding?"),
    (C.CODE, "The python is a snake that lives in Asia; describe it."),
    (C.CODE, "Explain the rust on my car."),
]  # fmt: skip


def chat(text: str, system: str | None = None) -> str:
    head = [Message("system", system)] if system else []
    return render_messages([*head, Message("user", text)])


@pytest.mark.parametrize(("name", "text"), POSITIVE)
def test_a_clear_case_is_told_in_a_chat_and_as_a_bare_completion(name: PromptClass, text: str) -> None:
    assert name in classify(text)
    assert name in classify(chat(text))
    assert name in classify(f"<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{text}<|eot_id|>")


@pytest.mark.parametrize(("name", "text"), NEGATIVE)
def test_a_near_miss_is_not_taken_in(name: PromptClass, text: str) -> None:
    assert name not in classify(text)
    assert name not in classify(chat(text))


def test_every_class_has_cases_and_a_rule() -> None:
    ruled = set(PromptClass) - {C.OTHER}
    assert set(RULES) == ruled
    assert {name for name, _ in POSITIVE} | {C.DIALOGUE} == ruled
    assert {name for name, _ in NEGATIVE} | {C.DIALOGUE} == ruled


def test_a_dialogue_has_a_turn_after_the_assistants() -> None:
    first = [Message("user", "I would like to book a table."), Message("assistant", "For how many?")]
    assert C.DIALOGUE in classify(render_messages([*first, Message("user", "Four, please.")]))
    assert C.DIALOGUE not in classify(render_messages(first, add_generation_prompt=False))
    assert C.DIALOGUE not in classify(render_messages(first[:1]))


def test_what_a_tool_says_is_no_turn_of_the_users() -> None:
    called = [
        Message("user", "Weather?"),
        Message("assistant", tool_calls=[{"function": {"name": "w", "arguments": "{}"}}]),
    ]
    prompt = render_messages([*called, Message("tool", "sunny")])
    assert classify(prompt) == {C.TOOL_USE}


def test_declared_tools_are_told_from_their_block() -> None:
    tool = {"type": "function", "function": {"name": "w", "description": "d", "parameters": {"type": "object"}}}
    assert C.TOOL_USE in classify(render_messages([Message("user", "Weather?")], [tool]))
    assert C.JSON_SCHEMA not in classify(render_messages([Message("user", "Weather?")], [tool]))


def test_a_prompt_may_have_several_classes() -> None:
    told = classify(chat("A pen costs $2 and a book 3 times as much. How much are both?", "Act as a math teacher."))
    assert told == {C.MULTI_HOP, C.ROLE_PLAY}


def test_a_prompt_cut_to_whole_blocks_keeps_its_class() -> None:
    prompt = chat(f"Answer the question based on the given passages.\n\n{PASSAGE * 3}\n\nQuestion: When was it built?")
    assert C.RAG in classify(prompt[: len(prompt) // 64 * 64])


def test_a_cluster_has_what_most_of_its_requests_have() -> None:
    code, poem = "Write a Python function that reverses a list.", "Write a poem about the sea."
    assert classify_cluster([code, poem], [3, 1]) == (C.CODE,)
    assert classify_cluster([code, poem], [1, 3]) == (C.OTHER,)
    assert classify_cluster([code, poem], [1, 1]) == (C.OTHER,)
    assert classify_cluster([code, code, poem]) == (C.CODE,)
    assert classify_cluster([]) == (C.OTHER,)


MARKS = st.sampled_from(
    [
        "<|im_start|>user\n",
        "<|im_start|>",
        "<|im_end|>",
        "[INST]",
        "<<SYS>>",
        "<</SYS>>",
        "### User",
        "User: ",
        "Q: ",
        "A: ",
        "as a ",
        "you are a ",
        "output format",
        "\n",
        "json",
        "{",
        "step by step",
        "你是一个",
        "\\n",
        "：",
        "=>",
        "�",
    ]
)


@given(st.lists(st.one_of(MARKS, st.text(max_size=30)), max_size=60).map("".join))
def test_any_text_has_classes_and_other_stands_alone(text: str) -> None:
    told = classify(text)
    assert told
    assert C.OTHER not in told or told == {C.OTHER}
    assert told <= frozenset(PromptClass)


HOSTILE = [
    *(" ", "\n", "a", "as a ", "as a b ", "you are a ", "helpful ", "assistant", "[ ", "{ ", '{"', "output format\n"),
    *("### ", "### user\t", "<|im_start|>", "<|im_start|>user\n", "[INST]", "json ", "return json keys ", "1 ", "1 = "),
    *(
        "how many 1 ",
        "Q: A: ",
        "Q: x\nA: y\n",
        "x => y\n",
        "(a)",
        "if x, ",
        "context: ",
        "。",
        "中",
        "step by ",
        "``` ",
    ),
    *("User: ", ": ", "\\n", "<<SYS>>", "[/INST]", "<|start_header_id|>"),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_time_of_hostile_text_grows_no_faster_than_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        runs = []
        for _ in range(3):
            start = time.process_time()
            classify(text)
            runs.append(time.process_time() - start)
        return min(runs)

    small, large = 40_000, 640_000
    allowance = 0.05  # what 16 times the text may take beyond 16 times the time: clock ticks, the collector
    assert seconds(large) <= seconds(small) * large / small * 3 + allowance
