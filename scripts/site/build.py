"""Makes the documentation a site of static pages that needs neither server nor network.

    python3 build.py [--root TREE] [--out FOLDER] [--talus PROGRAM]

Pages are docs/**/*.md, README.md, CHANGELOG.md and CONTRIBUTING.md of the tree; include/talus/*.h, as reference of the C
library (headers.py); and the help of each command (commands.py), if there is a program. docs/index.md says in which order.
A link that leads nowhere is an error with page and line; then the site is written nevertheless, and the exit status is 1.
FOLDER is replaced as a whole, so it must be new, empty or an earlier site.
"""

import argparse
import html
import posixpath
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path

try:
    import commands
    import headers
    import index
    from markup import Markdown, Page, Section, Site
except ModuleNotFoundError as error:
    sys.exit(f"docs: {error}; Debian's packages python3-markdown-it and python3-pygments have what is needed")

HERE = Path(__file__).resolve().parent
MARK = ".talus-site"  # a file in every site, so that no other folder is replaced
TOP = {"README.md": "readme.html", "CHANGELOG.md": "changelog.html", "CONTRIBUTING.md": "contributing.html"}
API, COMMANDS = "reference/c/index.html", "reference/commands/index.html"


def markdown_pages(root):
    """Returns the pages of Markdown, with docs/index.md first."""
    paths = sorted(p.relative_to(root).as_posix() for p in (root / "docs").rglob("*.md"))
    paths.sort(key=lambda p: p != "docs/index.md")
    pages = [Page(p, p.removeprefix("docs/").removesuffix(".md") + ".html") for p in paths]
    return pages + [Page(p, url) for p, url in TOP.items() if (root / p).exists()]


def header_pages(site):
    """Returns the pages of the headers, still empty, each with its header, and enters all names."""
    result = []
    for file in sorted((site.root / "include/talus").glob("*.h")):
        path = file.relative_to(site.root).as_posix()
        header = headers.read_header(path, file.read_text(encoding="utf-8"))
        page = Page(path, f"reference/c/{file.stem}.html")
        site.urls[path] = page.url
        for name, anchor in headers.anchors_of(header).items():
            site.names[name] = f"{page.url}#{anchor}"
        result.append((page, header))
    return result


def table_page(site, page, title, text, rows):
    """Fills a page that lists others; rows: (page, what it has)."""
    page.title = title
    page.anchors.add("top")
    page.sections.append(Section("top", title, text))
    lines = [
        f'<tr><td><a href="{site.link(page, p.url)}"><code>{p.title}</code></a></td><td>{html.escape(words, quote=False)}</td></tr>'
        for p, words in rows
    ]
    lines = "\n".join(lines)
    page.body = f'<h1 id="top">{title}</h1>\n<p>{text}</p>\n<div class="scroll"><table>\n{lines}\n</table></div>\n'
    return page


def api_pages(site, parsed):
    """Fills the pages of the headers; returns them behind a page that lists them."""
    for page, header in parsed:
        headers.render(site, page, header)
    start = Page("include/talus", API)
    text = "The public headers of libtalus, one page each. A program includes talus/talus.h, which has them all."
    return [table_page(site, start, "C library", text, [(p, h.summary) for p, h in parsed])] + [p for p, _ in parsed]


def command_pages(site, talus):
    """Returns the pages of the commands of a program, behind a page that lists them."""
    start = Page("talus help", COMMANDS)
    listed = [(Page(f"talus help {name}", f"reference/commands/{name}.html"), name, words)
              for name, words in commands.list_commands(commands.run_help(talus))]
    for page, name, words in listed:
        site.commands[f"talus {name}"] = page.url
    for page, name, words in listed:
        commands.render(site, page, name, words, commands.run_help(talus, name))
    text = "The commands of the program <code>talus</code>, as <code>talus help</code> tells them."
    table_page(site, start, "Commands", text, [(page, words) for page, _, words in listed])
    return [start] + [page for page, _, _ in listed]


class Navigation:
    """The list of all pages beside each page: groups of (page's URL, words, depth), from the sections of docs/index.md."""

    def __init__(self, site, start):
        self.site = site
        self.groups = []
        linked = {API}  # which has a group of its own
        for part in re.split(r"<h2 ", start.body)[1:]:
            title = re.sub(r"<[^>]*>", "", part[part.index(">") + 1 : part.index("</h2>")]).partition(":")[0]
            entries = []
            for block in re.split(r"<tr>|<p>", part):
                links = [(u, w) for u, w in re.findall(r'<a href="([^"#:]+\.html)">(.*?)</a>', block) if u not in linked]
                inner = block.partition("</tr>")[1] and len(links) > 1
                for i, (url, words) in enumerate(links):
                    linked.add(url)
                    entries.append((url, words, 1 if inner and i > 0 else 0))
            self.groups.append((title, entries))

    def add(self, title, pages, after=None):
        """Adds a group of pages behind the group `after`, or else as the last one."""
        entries = [(p.url, html.escape(p.title, quote=False), 0) for p in pages]
        titles = [group[0] for group in self.groups]
        place = titles.index(after) + 1 if after in titles else len(titles)
        self.groups.insert(place, (title, entries))

    def urls(self):
        return [url for _, entries in self.groups for url, _, _ in entries]

    def html(self, page, folded):
        """Returns the list for a page; the groups of `folded` are closed but on their own pages."""
        out = []
        for title, entries in self.groups:
            items = "\n".join(self.item(page, *entry) for entry in entries)
            if title in folded:
                here = " open" if page.url in [url for url, _, _ in entries] else ""
                out.append(f'<details{here}><summary class="kind">{title}</summary><ul>\n{items}\n</ul></details>')
            else:
                out.append(f'<p class="kind">{title}</p><ul>\n{items}\n</ul>')
        return "\n".join(out)

    def item(self, page, url, words, depth):
        inner = ' class="inner"' if depth else ""
        here = ' class="here"' if url == page.url else ""
        return f'<li{inner}><a{here} href="{self.site.link(page, url)}">{words}</a></li>'

    def steps(self, page, titles):
        """Returns links to the pages before and after a page."""
        urls = self.urls()
        if page.url not in urls:
            return ""
        at = urls.index(page.url)
        before = [u for u in urls[max(at - 1, 0) : at] if u in titles]
        after = [u for u in urls[at + 1 : at + 2] if u in titles]
        parts = [f'<a href="{self.site.link(page, u)}">← {titles[u]}</a>' for u in before] or ["<span></span>"]
        parts += [f'<a href="{self.site.link(page, u)}">{titles[u]} →</a>' for u in after]
        return f'<div class="steps">{"".join(parts)}</div>'


def contents_html(page):
    if len(page.contents) < 2:
        return ""
    items = [
        f'<li{" class=" + chr(34) + "inner" + chr(34) if level > 2 else ""}><a href="#{anchor}">{words}</a></li>'
        for level, anchor, words in page.contents
    ]
    return '<p class="kind">On this page</p><ul>\n' + "\n".join(items) + "\n</ul>"


def check_links(site, pages):
    """Enters an error for each link to a heading that its page lacks."""
    by_url = {page.url: page for page in pages}
    for page in pages:
        for line, link, url, anchor in page.links:
            if anchor and anchor not in by_url[url].anchors:
                site.error(page, line, f"{link}: no such heading")


def version(root):
    text = (root / "include/talus/base.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"TALUS_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def empty_folder(out):
    """Makes an empty folder of the site's."""
    if out.exists() and any(out.iterdir()):
        if not (out / MARK).exists():
            sys.exit(f"docs: {out} has files and is no site made by ./dev docs; name another folder with --out")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARK).write_text("made by ./dev docs\n", encoding="utf-8")


def write(site, pages, navigation, out):
    template = string.Template((HERE / "page.html").read_text(encoding="utf-8"))
    titles = {page.url: html.escape(page.title, quote=False) for page in pages}
    number = version(site.root)
    for page in pages:
        text = template.substitute(
            base=posixpath.relpath(".", posixpath.dirname(page.url) or ".") + "/",
            title=titles[page.url], body=page.body, navigation=navigation.html(page, ("C library", "Commands")),
            contents=contents_html(page), steps=navigation.steps(page, titles), version=number)
        (out / page.url).parent.mkdir(parents=True, exist_ok=True)
        (out / page.url).write_text(text, encoding="utf-8")
    for path, url in site.copies.items():
        (out / url).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site.root / path, out / url)
    for name in ("style.css", "search.js", "page.js"):
        shutil.copyfile(HERE / name, out / name)
    (out / "search-index.js").write_text(index.script(pages), encoding="utf-8")


def build(root, out, talus):
    """Builds the site; returns it and its pages."""
    site = Site(root)
    texts = markdown_pages(root)
    site.urls.update((page.source, page.url) for page in texts)
    site.urls["include/talus"] = API
    parsed = header_pages(site)
    library = api_pages(site, parsed)
    program = command_pages(site, talus) if talus else []
    markdown = Markdown(site)
    for page in texts:
        markdown.read(page, (root / page.source).read_text(encoding="utf-8"))
    pages = texts + library + program
    check_links(site, pages)
    navigation = Navigation(site, texts[0])
    if program:
        navigation.add("Commands", program, after="Reference")
    navigation.add("C library", library, after="Reference")
    navigation.add("The project", [page for page in texts if page.source in TOP])
    empty_folder(out)
    write(site, pages, navigation, out)
    return site, pages


def main():
    parser = argparse.ArgumentParser(description="Makes the documentation a site of static pages.")
    parser.add_argument("--root", type=Path, default=HERE.parent.parent, help="the source tree")
    parser.add_argument("--out", type=Path, help="folder of the site; build/docs of the tree by default")
    parser.add_argument("--talus", help="the program whose commands are described; build/release/talus by default")
    options = parser.parse_args()
    root = options.root.resolve()
    out = options.out or root / "build/docs"
    talus = options.talus or str(root / "build/release/talus")
    if not shutil.which(talus):
        if options.talus:
            sys.exit(f"docs: {talus} cannot be run")
        print(f"docs: no program {talus}: pages of commands are left out", file=sys.stderr)
        talus = None
    try:
        site, pages = build(root, out, talus)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        sys.exit(f"docs: {error}")
    for line in site.errors:
        print(line, file=sys.stderr)
    if site.errors:
        sys.exit(f"docs: {len(site.errors)} link(s) lead nowhere")
    print(f"docs: {len(pages)} pages in {out}; open {out / 'index.html'} in a browser", file=sys.stderr)


if __name__ == "__main__":
    main()
