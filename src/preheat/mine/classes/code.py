"""Code: source code, markup, queries, shell commands or regular expressions to read or write."""

from __future__ import annotations

from preheat.mine.classes.cues import Cues, literals, vocabulary
from preheat.mine.classes.reading import Reading, bounded, has_any

_LANGUAGES = vocabulary(
    "python javascript typescript kotlin golang php perl haskell matlab octave fortran cobol nasm solidity "
    "verilog systemverilog vhdl autolisp clojure erlang sql mysql postgresql postgres sqlite mongodb html html5 "
    "css css3 xaml xml latex powershell shellscript regex regexp pcre nodejs node js django flask fastapi "
    "laravel vue vue3 svelte nextjs jquery pytorch tensorflow keras jax numpy pandas sklearn seaborn gensim "
    "gradio streamlit ffmpeg docker kubernetes terraform ansible nginx wordpress odoo roblox glsl cuda c# c++ "
    "cpp gherkin webpack redux tailwind graphql vba pyside6 pyqt cocotb clickhouse databricks datalog opengl "
    "github gitlab nestjs postman elasticsearch java ruby awk nosql"
)
_AMBIGUOUS = vocabulary(
    "swift rust scala scheme lua assembly lisp elixir julia bash cron rails spring react angular selenium apache "
    "unity arduino qt kafka svg git dart"
)
_MADE = vocabulary(
    "code coding codebase script scripts program programs function functions class classes method methods "
    "algorithm implement implementation compile compiler debug debugging bug bugs snippet syntax library api "
    "repo repository module modules query queries error exception application app website variable array arrays "
    "dataframe string strings command server plugin middleware config testbench cli developer programmer "
    "frontend backend software leetcode refactor dropdown interface package loop fuzzer kernel rewrite convert "
    "write implementing deploy import build example examples scrape"
)
_CODE_MADE = vocabulary(
    "code coding codebase script program function compile debug snippet syntax repo programming hooks kernel"
)
_CODERS = vocabulary("coder coders programmer programmers")
_SOFTWARE = vocabulary(
    "code coder coding codebase repo repos repository repositories dependency dependencies debug debugging bug bugs "
    "compile compiler scripts function functions api apis backend frontend library libraries developer programming "
    "programmer sdk algorithm algorithms database syntax commit commits refactor refactoring vulnerable vulnerability "
    "vulnerabilities unittest endpoint endpoints"
)
"""Three of these together are about software, whatever the language."""
_SAID = Cues(
    en=(
        "write code|source code|regular expression|write a function|implement a function|write a program|"
        "implement a program|lines of code|code review|code snippet|write a script|stack trace|python code|sql query|"
        "programming language|html code|debugging|unit test|autonomous programmer|coding problem|coding assistant|"
        "given code|smart contract|code that|code to |linked list|binary search algorithm|"
        "next line of code|bash command|complete the code|the code below|"
        "following code|my code|this code|shell script|algorithm in|the function in|command line|"
        "in c++|in golang|r code|c code|c program|go code"
    ),
    zh=(
        "代码|编程|正则表达式|程序来|写一个程序|编写一个程序|编写一个函数|写一个函数|写一个python|控制台|脚本|"
        "一段程序|函数名|c语言|排序算法|stackoverflow|算法实现|解释器"
    ),
    de=(
        "quellcode|schreibe eine funktion|schreibe ein programm|schreibe ein skript|regulärer ausdruck|"
        "regulären ausdruck|python-|programmiere|sql-abfrage|code-"
    ),
    es=(
        "código|escribe una función|escribe un programa|escribe un script|expresión regular|programa en|función en|"
        "consulta sql"
    ),
)
_NOT_CODE = literals(
    "zip code|dress code|qr code|area code|country code|code of|post code|postal code|building code|tax code|"
    "discount code|promo code|coupon code|morse code|código postal|código penal|código civil|genetic code|"
    "color code|code block|代码块"
)
_STRONG_STARTS = literals(
    "def |class |#include|using namespace |public class|public static|function |import |from |const |let |var |"
    "package |fn |func |#!/|<div|<html|<!doctype|<script|</|select |pragma |@override|%%writefile|async def |"
    "export |private |protected |// spdx|#define"
)
_STRONG_ENDS = literals("{|};|);|):|}|/>|</div>|):\n|() {|;|-> int:|=> {|]:")
_WEAK_STARTS = literals("return |for |if |while |else:|elif |print(|try:|@|$ |>>> |}|//|self.|end")
_SIGNS = literals("def |import |{\n|};|</|);|)\n|#include| = |```|=> |):")
ENOUGH = 4
"""Points: two for a line that begins *and* ends like code, one for either; a fence counts two."""


def holds(reading: Reading) -> bool:
    """By the look of code, by phrases that only code has, or by a language together with something made in it."""
    if any(looks_like_code(low) for low in (reading.system, *reading.asked)):
        return True
    if not reading.system_words.isdisjoint(_CODERS):
        return True
    if _tells(reading.demand_words) or _tells(reading.system_words):
        return True
    return _SAID.found_in(_without(bounded(reading.system, 1500, 500)), reading.system_words, reading.languages) or (
        reading.user_says(_SAID, _without(reading.demands))
    )


def _tells(words: frozenset[str]) -> bool:
    if len(words & _SOFTWARE) >= 3:
        return True
    if not words.isdisjoint(_LANGUAGES):
        return not words.isdisjoint(_MADE)
    return not words.isdisjoint(_AMBIGUOUS) and not words.isdisjoint(_CODE_MADE)


def _without(low: str) -> str:
    """``low`` without codes of other kinds."""
    if "code" in low or "código" in low or "代码" in low:
        for phrase in _NOT_CODE:
            if phrase in low:
                low = low.replace(phrase, " ")
    return low


def looks_like_code(low: str) -> bool:
    """Whether enough lines of ``low`` begin or end as those of programs and markup do."""
    if not has_any(low, _SIGNS):
        return False
    points = 2 if "```\n" in low and has_any(low, ("```python", "```js", "```sql", "```bash", "```java", "```c")) else 0
    for line in low.split("\n"):
        line = line.strip()
        if len(line) < 2 or len(line) > 300:
            continue
        starts = line.startswith(_STRONG_STARTS) and has_any(
            line, ("(", "{", "=", "<", ";", " import ", ":", ".", "* from")
        )
        ends = line.endswith(_STRONG_ENDS) and line[0] not in "-*•" and not line.startswith('"')
        if starts and (
            ends or (line.startswith(("def ", "#include", "import ", "from ")) and not line.endswith((".", ",")))
        ):
            points += 2
        elif ends or (line.startswith(_WEAK_STARTS) and has_any(line, ("(", "=", "[", "{"))):
            points += 1
        if points >= ENOUGH:
            return True
    return False
