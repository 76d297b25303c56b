"""How well clusters and the template library find the templates of a log whose records say which they have.

    python benchmarks/clusters.py LOG [--unknown LOG ...] [--sample 2000]

LOG is JSON Lines, compressed or not, that Preheat reads, each record with ``request_id``, ``app`` (its template) and
``kind``. Those two are read from the raw lines, apart from mining, and used for the scores only. Scores are over
requests: adjusted Rand index and V-measure of clusters against ``app``, a prompt without a cluster being alone. Apps
whose templates are the same word for word cannot be told apart, and lower both.

The recogniser learns on the first two thirds of the log's time and is asked about the rest: a recognition is right
where most requests of that cluster had the same app while learning. *same place*: it is the cluster into which
learning had put that app's own requests (so that templates shared by two apps do not count as errors). *unseen*: of the
prompts of apps that learning never saw, how many were recognised as something; and so for each log in ``--unknown``.

Peers, in the same run, on a sample of the distinct prompts: scikit-learn's TF-IDF (words and pairs, sublinear) at
cosine 0.72 over all pairs, as connected components and as leaders (heaviest first); drain3 if it is installed.
CPU-seconds are this process's own; the floor is decompressing the log and decoding its JSON.

Measured on ``prodlog_3day.full`` (120 243 requests, 236 apps), 2 shared cores, Python 3.11, scikit-learn 1.9, drain3
0.9: ARI 0.896 over all and 0.984 over chat, chat_zh and fewshot; on the sample 0.879, TF-IDF components 0.515, leaders
0.361, drain3 0.098. Apps with the same template word for word bound it: were each template one cluster, exactly, and
documents not told from passages, it would be 0.799. Recogniser: precision 0.853, same place 0.998, median 16 us.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from preheat.files.compressed import open_stream
from preheat.mine.clusters import Clustering, clustering
from preheat.mine.joining import joined
from preheat.mine.library import Library, library
from preheat.mine.miner import Miner
from preheat.mine.settings import MineSettings
from preheat.prompts.render import renderer_for
from preheat.read.reader import read_requests
from preheat.records.profile import Profile
from preheat.records.rendering import Rendering
from preheat.records.request import ReadReport, Request

TOGETHER = ("chat", "chat_zh", "fewshot")
SETTINGS = MineSettings()


class Label(msgspec.Struct, frozen=True):
    request_id: str
    app: str = ""
    kind: str = ""


class Asked(msgspec.Struct, frozen=True):
    """One request: its labels, its time and its prompt."""

    app: str
    kind: str
    time_s: float
    prompt: str


class Finder:
    """The node at which a prompt ends in a profile whose text is all there."""

    def __init__(self, profile: Profile) -> None:
        self._size = profile.block_chars
        self._texts = [node.text or "" for node in profile.nodes]
        self._below = {(node.parent, (node.text or "")[: self._size]): n for n, node in enumerate(profile.nodes)}

    def node(self, prompt: str) -> int:
        at, node, end = 0, -1, len(prompt) // self._size * self._size
        while at < end:
            node = self._below[node, prompt[at : at + self._size]]
            at += len(self._texts[node])
        return node


def read(path: str) -> tuple[list[Asked], float]:
    """The labelled requests of a log, and the CPU-seconds of decompressing and decoding it alone."""
    start = time.process_time()
    with open_stream(path) as stream:
        for line in stream:
            msgspec.json.decode(line)
    floor_s = time.process_time() - start
    with open_stream(path) as stream:
        labels = {each.request_id: each for each in map(msgspec.json.Decoder(Label).decode, stream)}
    renderer = renderer_for(Rendering())
    asked = [
        Asked(labels[each.id].app, labels[each.id].kind, each.time_s or 0.0, renderer.render(each))
        for each in read_requests([path], report=ReadReport())
    ]
    return asked, floor_s


def mined(asked: Iterable[Asked]) -> Profile:
    """A profile with all text and nothing derived."""
    miner = Miner(renderer_for(Rendering()), SETTINGS)
    for each in asked:
        miner.add(Request(id="", prompt=each.prompt, time_s=each.time_s))
    return miner.profile(derived=False)


def scores(labels: Sequence[str], found: Sequence[Any]) -> tuple[float, float]:
    from sklearn.metrics import adjusted_rand_score, v_measure_score

    names = {value: number for number, value in enumerate(dict.fromkeys(found))}
    numbers = [names[value] for value in found]
    return adjusted_rand_score(labels, numbers), v_measure_score(labels, numbers)


def print_scores(title: str, apps: Sequence[str], kinds: Sequence[str], found: Sequence[Any]) -> None:
    """One line over all, one over the kinds in ``TOGETHER`` that there are, one a kind."""
    parts: dict[str, Callable[[str], bool]] = {"all": lambda kind: True}
    together = [kind for kind in TOGETHER if kind in kinds]
    if len(together) > 1:
        parts["+".join(together)] = together.__contains__
    parts |= {kind: kind.__eq__ for kind in sorted(set(kinds))}
    print(f"\n{title}\n{'kind':24}{'requests':>9}{'apps':>6}{'clusters':>9}{'alone':>7}{'ARI':>7}{'V':>7}")
    for name, holds in parts.items():
        chosen = [number for number, kind in enumerate(kinds) if holds(kind)]
        labels, values = [apps[number] for number in chosen], [found[number] for number in chosen]
        ari, v_measure = scores(labels, values)
        sizes = Counter(values)
        alone = sum(isinstance(value, tuple) for value in values)
        named = sum(not isinstance(value, tuple) for value in sizes)
        print(f"{name:24}{len(chosen):9}{len(set(labels)):6}{named:9}{alone:7}{ari:7.3f}{v_measure:7.3f}")


def placed(found: Clustering, finder: Finder, asked: Iterable[Asked]) -> list[Any]:
    """The cluster of each request, ``(its node,)`` where it has none."""
    nodes = [finder.node(each.prompt) for each in asked]
    return [found.of[node] if node >= 0 and found.of[node] >= 0 else (node,) for node in nodes]


def recogniser(asked: list[Asked], unknown: Sequence[str]) -> None:
    """Learn on the first two thirds of the time, recognise the rest."""
    first, last = min(each.time_s for each in asked), max(each.time_s for each in asked)
    until_s = first + (last - first) * 2 / 3
    early = [each for each in asked if each.time_s < until_s]
    late = [each for each in asked if each.time_s >= until_s]
    profile = mined(early)
    found = joined(profile, clustering(profile, SETTINGS))
    start = time.process_time()
    known = Library(library(profile, found))
    built_s = time.process_time() - start
    apps: defaultdict[int, Counter[str]] = defaultdict(Counter)
    homes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for each, cluster in zip(early, placed(found, Finder(profile), early), strict=True):
        if not isinstance(cluster, tuple):
            apps[cluster][each.app] += 1
            homes[each.app][cluster] += 1
    micros: list[float] = []
    near: list[float] = []
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in late:
        begin = time.perf_counter_ns()
        got = known.recognise(each.prompt)
        micros.append((time.perf_counter_ns() - begin) / 1_000)
        if 1_500 <= len(each.prompt.encode()) <= 2_500:
            near.append(micros[-1])
        for name in ("all", each.kind):
            if each.app not in homes:
                rows[name].update(unseen=1, unseen_recognised=got is not None)
                continue
            rows[name].update(asked=1, recognised=got is not None)
            if got is not None:
                right = apps[got.cluster].most_common(1)[0][0] == each.app
                rows[name].update(right=right, same=homes[each.app][got.cluster] > 0.05 * homes[each.app].total())
    heads = sum(each.head_chars > 0 for each in library(profile, found))
    print(f"\nrecogniser: {len(found.clusters)} templates, {heads} heads, built in {built_s:.2f} CPU-s")
    print(f"{'kind':24}{'later':>9}{'precision':>11}{'recall':>8}{'same place':>12}{'unseen':>8}{'recognised':>12}")
    for name in ("all", *sorted(rows.keys() - {"all"})):
        row = rows[name]
        some = max(1, row["recognised"])
        print(
            f"{name:24}{row['asked']:9}{row['right'] / some:11.3f}{row['right'] / max(1, row['asked']):8.3f}"
            f"{row['same'] / some:12.3f}{row['unseen']:8}{row['unseen_recognised']:12}"
        )
    print(f"microseconds a prompt: median {statistics.median(micros):.1f}, p95 {np.quantile(micros, 0.95):.1f}", end="")
    print(f"; of 1.5 to 2.5 kB: median {statistics.median(near):.1f} ({len(near)} prompts)" if near else "")
    for path in unknown:
        learnt = {each.prompt for each in early}
        others = {each.prompt: each.kind for each in read(path)[0] if each.prompt not in learnt}
        kinds = Counter(kind for prompt, kind in others.items() if known.recognise(prompt) is not None)
        print(f"recognised of {path}: {kinds.total()} of {len(others)} distinct prompts: {dict(kinds.most_common(6))}")


def peers(asked: list[Asked], found: Sequence[Any], size: int) -> None:
    """The same requests' prompts, as far as they are in a sample of the distinct ones, by other means."""
    from scipy.sparse.csgraph import connected_components
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    weight = Counter(each.prompt for each in asked)
    distinct = sorted(weight)
    drawn = [distinct[number] for number in rng.permutation(len(distinct))[:size]]
    drawn.sort(key=lambda prompt: -weight[prompt])
    place = {prompt: number for number, prompt in enumerate(drawn)}
    inside = [number for number, each in enumerate(asked) if each.prompt in place]
    apps, kinds = [asked[number].app for number in inside], [asked[number].kind for number in inside]
    print(f"\non a sample of {len(drawn)} distinct prompts, {len(inside)} requests")
    print_scores("Preheat (clusters of the whole log)", apps, kinds, [found[number] for number in inside])
    start = time.process_time()
    pattern = r"[a-z]+|[0-9]+|[^\sa-z0-9]"
    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=pattern).fit_transform(drawn)
    near = (vectors @ vectors.T).toarray() >= SETTINGS.cluster_threshold
    components = connected_components(near, directed=False)[1]
    spent_s = time.process_time() - start
    of = [place[asked[number].prompt] for number in inside]
    print_scores(f"TF-IDF, all pairs, components: {spent_s:.1f} CPU-s", apps, kinds, [int(components[at]) for at in of])
    leaders: list[int] = []
    led = np.zeros(len(drawn), int)
    for number in range(len(drawn)):
        close = [leader for leader in leaders if near[number, leader]]
        if not close:
            leaders.append(number)
        led[number] = close[0] if close else number
    print_scores("TF-IDF, all pairs, leaders", apps, kinds, [int(led[at]) for at in of])
    ours = {place[asked[number].prompt]: found[number] for number in inside}
    pairs = np.argwhere(np.triu(near, 1))
    kept = sum(ours[int(one)] == ours[int(two)] for one, two in pairs) / max(1, len(pairs))
    print(f"pairs at cosine >= {SETTINGS.cluster_threshold}: {len(pairs)}, in one cluster of ours: {kept:.4f}")
    try:
        from drain3 import TemplateMiner
    except ImportError:
        print("drain3 is not installed")
        return
    start = time.process_time()
    miner = TemplateMiner()
    numbers = [miner.add_log_message(" ".join(prompt.split()))["cluster_id"] for prompt in drawn]
    spent_s = time.process_time() - start
    print_scores(f"drain3, default settings: {spent_s:.1f} CPU-s", apps, kinds, [numbers[at] for at in of])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("--unknown", action="append", default=[], help="a log of other templates; may repeat")
    parser.add_argument("--sample", type=int, default=2_000, help="distinct prompts that the peers are given")
    options = parser.parse_args()
    asked, floor_s = read(options.log)
    profile = mined(asked)
    start = time.process_time()
    found = joined(profile, clustering(profile, SETTINGS))
    middle = time.process_time()
    prints = library(profile, found)
    end = time.process_time()
    print(f"{options.log}: {len(asked)} requests, {found.prompts} distinct prompts in {len(profile.nodes)} nodes")
    print(f"decompress + JSON decode {floor_s:.2f} CPU-s; clusters {middle - start:.2f}; library {end - middle:.2f}")
    share = sum(each.share for each in found.clusters)
    blocks = sum(each.share_blocks for each in found.clusters)
    print(f"{len(found.clusters)} clusters with {share:.2%} of the requests, {blocks:.2%} of their blocks", end="; ")
    print(f"{len(prints)} fingerprints of {len(msgspec.json.encode(prints)) / 1_000:.0f} kB")
    clusters = placed(found, Finder(profile), asked)
    print_scores("Preheat", [each.app for each in asked], [each.kind for each in asked], clusters)
    recogniser(asked, options.unknown)
    peers(asked, clusters, options.sample)


if __name__ == "__main__":
    main()
