"""The index of the search: sections of pages, and for each word the sections that have it."""

import json
import re
from collections import Counter

# Weights of a word: in a page's title, for the first and for other sections; in a heading. In the text at most 2.2, and the
# less the longer the text is (Okapi BM25).
FIRST, OTHERS, HEADING = 8, 2, 5
SATURATION, LENGTH = 1.2, 0.75


def words_of(text):
    """Returns the words of a text in lower case; names keep their underscores.

    >>> words_of("A warm-start: talus_world_step(1e-4)")
    ['a', 'warm', 'start', 'talus_world_step', '1e', '4']
    """
    return re.findall(r"[a-z0-9_\u00c0-\u024f]+", text.lower())


def build(pages):
    """Returns the index as an object for JSON: `sections` is a list of [URL, title of page, heading, text], `words` a dictionary
    from a word to [number of a section, weight, number, weight, ...]."""
    texts = [(page, section, words_of(section.text)) for page in pages for section in page.sections]
    mean = sum(len(text) for _, _, text in texts) / len(texts)
    words = {}
    for number, (page, section, text) in enumerate(texts):
        damping = SATURATION * (1 - LENGTH + LENGTH * len(text) / mean)
        weights = Counter({word: count * (SATURATION + 1) / (count + damping) for word, count in Counter(text).items()})
        for word in set(words_of(section.heading)):
            weights[word] += HEADING
        for word in set(words_of(page.title)):
            weights[word] += FIRST if section is page.sections[0] else OTHERS
        for word, weight in weights.items():
            words.setdefault(word, []).extend([number, round(weight, 1)])
    sections = [[f"{page.url}#{section.anchor}", page.title, section.heading, re.sub(r"\s+", " ", section.text).strip()]
                for page, section, _ in texts]
    return {"sections": sections, "words": dict(sorted(words.items()))}


def script(pages):
    """Returns the index as a script, which a page can load from a file as well as from a server."""
    data = json.dumps(build(pages), ensure_ascii=False, separators=(",", ":"))
    return f"var talusIndex = {data};\n"
