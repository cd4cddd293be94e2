"""Checks a built site by itself: python3 check.py FOLDER.

Tags are closed in their order, ids are unique within a page, every link leads to a file of the site and to an id of it, and
nothing is loaded from elsewhere. Prints page:line: what is wrong, for each offence; exit status 1 if there is one.
"""

import posixpath
import sys
from html.parser import HTMLParser
from pathlib import Path

EMPTY = {"meta", "link", "img", "br", "hr", "input"}
LOADS = {"script": "src", "link": "href", "img": "src"}


class Reader(HTMLParser):
    """Reads a page: its ids, its links as (line, target), and what is wrong with its tags."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.wrong = [], set(), [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in EMPTY:
            self.open.append((tag, self.getpos()[0]))
        if "id" in values:
            if values["id"] in self.ids:
                self.fault(f"id {values['id']} is not unique")
            self.ids.add(values["id"])
        for key in ("href", "src"):
            if key in values:
                self.links.append((self.getpos()[0], values[key]))
                if LOADS.get(tag) == key and ":" in values[key] and not values[key].startswith("data:"):
                    self.fault(f"loads {values[key]} from elsewhere")

    def handle_endtag(self, tag):
        if tag in EMPTY:
            return
        if not self.open or self.open[-1][0] != tag:
            expected = f"</{self.open[-1][0]}>" if self.open else "nothing"
            self.fault(f"</{tag}> where {expected} should close")
        if tag in [t for t, _ in self.open]:
            while self.open.pop()[0] != tag:
                pass

    def close(self):
        super().close()
        for tag, line in self.open:
            self.wrong.append((line, f"<{tag}> is not closed"))

    def fault(self, text):
        self.wrong.append((self.getpos()[0], text))


def check(folder):
    """Returns the number of pages and of links, and the offences."""
    pages, offences = {}, []
    for file in sorted(folder.rglob("*.html")):
        reader = Reader()
        reader.feed(file.read_text(encoding="utf-8"))
        reader.close()
        pages[file.relative_to(folder).as_posix()] = reader
    links = 0
    for name, page in pages.items():
        offences += [f"{name}:{line}: {text}" for line, text in page.wrong]
        for line, link in page.links:
            if ":" in link.split("/")[0]:
                continue
            links += 1
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if target.startswith("..") or not (folder / target).is_file():
                offences.append(f"{name}:{line}: {link}: no such file")
            elif anchor and target in pages and anchor not in pages[target].ids:
                offences.append(f"{name}:{line}: {link}: no such id")
    return len(pages), links, offences


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: check.py FOLDER")
    count, total, found = check(Path(sys.argv[1]))
    print("\n".join(found + [f"{count} pages, {total} links, {len(found)} offence(s)"]))
    sys.exit(1 if found or count == 0 else 0)
