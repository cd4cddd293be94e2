"""The index of the search: sections of pages, and for each word the sections that have it."""

import json
import math
import re
from collections import Counter

TITLE, HEADING = 12, 6  # weight of a word in a page's title and in a heading; in the text: 1 + log of how often


def words_of(text):
    """Returns the words of a text in lower case; names keep their underscores.

    >>> words_of("A warm-start: talus_world_step(1e-4)")
    ['a', 'warm', 'start', 'talus_world_step', '1e', '4']
    """
    return re.findall(r"[a-z0-9_\u00c0-\u024f]+", text.lower())


def build(pages):
    """Returns the index as an object for JSON: `sections` is a list of [URL, title of page, heading, text], `words` a dictionary
    from a word to [number of a section, weight, number, weight, ...]."""
    sections, words = [], {}
    for page in pages:
        for section in page.sections:
            text = re.sub(r"\s+", " ", section.text).strip()
            number = len(sections)
            sections.append([f"{page.url}#{section.anchor}", page.title, section.heading, text])
            counts = Counter(words_of(text))
            weights = {word: 1 + math.log(count) for word, count in counts.items()}
            for word in set(words_of(section.heading)):
                weights[word] = weights.get(word, 0) + HEADING
            for word in set(words_of(page.title)):
                first = section is page.sections[0]
                weights[word] = weights.get(word, 0) + (TITLE if first else 1)
            for word, weight in weights.items():
                words.setdefault(word, []).extend([number, round(weight, 1)])
    return {"sections": sections, "words": dict(sorted(words.items()))}


def script(pages):
    """Returns the index as a script, which a page can load from a file as well as from a server."""
    data = json.dumps(build(pages), ensure_ascii=False, separators=(",", ":"))
    return f"var talusIndex = {data};\n"
