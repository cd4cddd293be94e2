"""From Markdown, code and comments of C to HTML, with links between pages, headings and names of the C library."""

import html
import posixpath
import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

NAME = re.compile(r"\b(?:talus_[a-z]\w*|Talus[A-Z]\w*(?:\.[a-z]\w*)?|TALUS_[A-Z]\w*)")


@dataclass
class Section:
    """A heading with the text up to the next one: what a search finds."""

    anchor: str
    heading: str
    text: str = ""


@dataclass
class Page:
    source: str  # path in the tree, for messages
    url: str  # path in the site
    title: str = ""
    body: str = ""
    contents: list = field(default_factory=list)  # (level, anchor, HTML) of the table of contents
    sections: list = field(default_factory=list)
    anchors: set = field(default_factory=set)
    links: list = field(default_factory=list)  # (line, link as written, page's URL, anchor), to be checked


class Site:
    """What all pages need to know of the others.

    urls: URL in the site of each path of the tree that is a page; names: URL of each name of the C library; commands: URL of
    each command; copies: files of the tree that a page shows or links, with their URLs; errors: lines for the user.
    """

    def __init__(self, root):
        self.root = root
        self.urls, self.names, self.commands, self.copies, self.errors = {}, {}, {}, {}, []

    def link(self, page, target):
        """Returns the link from a page to a URL of the site.

        >>> Site(None).link(Page("", "how-to/run.html"), "reference/scenes.html#units")
        '../reference/scenes.html#units'
        """
        path, mark, anchor = target.partition("#")
        if path == page.url and mark:
            return mark + anchor
        return posixpath.relpath(path, posixpath.dirname(page.url) or ".") + mark + anchor

    def name_link(self, page, text):
        """Returns the link to what `text` names, such as talus_world_step, TalusWorldDef.step or talus run; None if nothing."""
        target = self.names.get(text.removesuffix("()")) or self.commands.get(text)
        return target and self.link(page, target)

    def error(self, page, line, text):
        self.errors.append(f"{page.source}:{line}: {text}")


def slug(text, taken):
    """Returns the anchor of a heading as other renderers of Markdown make it; `taken` has those of the page so far.

    >>> slug("Where each: one, two", set()), slug("Drive", {"drive"})
    ('where-each-one-two', 'drive-1')
    """
    base = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    anchor, count = base, 0
    while anchor in taken:
        count += 1
        anchor = f"{base}-{count}"
    return anchor


COMMAND = re.compile(
    r"(\w+=\S* )*(\S*/)?(talus|dev|cmake|cc|ctest|sudo|sh|python3?|mpirun|srun|sbatch|pip|export|ninja|apt-get|git|cd|mkdir)( |$)"
)


def shell_text(code):
    """Returns a session in a shell as HTML: commands are strong, remarks pale, and what they print is plain.

    >>> shell_text("talus list  # names\\n3 things")
    '<b>talus list</b><span class="c">  # names</span>\\n3 things'
    """
    lines, goes_on = [], False
    for line in code.split("\n"):
        text = html.escape(line, quote=False)
        if goes_on or COMMAND.match(line):
            command, remark = re.fullmatch(r"(.*?)(\s+# .*)?", text).groups()
            text = f"<b>{command}</b>" + (f'<span class="c">{remark}</span>' if remark else "")
            goes_on = line.endswith("\\")
        lines.append(text)
    return "\n".join(lines)


def language_of(code):
    """Guesses the language of a block that does not say it.

    >>> language_of("./dev run"), language_of('{"step": 1}'), language_of("#include <a.h>"), language_of("a b")
    ('sh', 'json', 'c', 'text')
    """
    first = code.lstrip().split("\n")[0]
    if re.match(r"#include|TALUS_API|typedef |struct ", first):
        return "c"
    if re.match(r"import |from \w+ import ", first):
        return "python"
    if re.match(r'[{\[]?\s*"\w+":|\{$|\{"|"\w[\w ]*":', first):
        return "json"
    if COMMAND.match(first):
        return "sh"
    return "text"


FORMATTER = HtmlFormatter(nowrap=True)
PLAIN = re.compile(r'<span class="(?:w|p|o|n[acfvx]?)">([^<]*)</span>')  # what has no colour of its own


def code_block(site, page, code, language):
    """Returns a block of code as HTML; in C, names of the library are links."""
    guess = language_of(code)
    if (language or guess) == "sh":
        return f'<pre class="code"><code>{shell_text(code)}</code></pre>\n'
    try:
        lexer = get_lexer_by_name(language or guess, stripnl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False)
    text = PLAIN.sub(r"\1", highlight(code, lexer, FORMATTER))
    if not language and 'class="err"' in text:  # a wrong guess: a mixture
        text = shell_text(code)
    if lexer.name == "C":
        text = NAME.sub(lambda m: name_or_text(site, page, m[0]), text)
    return f'<pre class="code"><code>{text}</code></pre>\n'


def name_or_text(site, page, name):
    """Returns the name as a link if it is known; of a field that is unknown, the struct may be."""
    link = site.name_link(page, name)
    if link:
        return f'<a href="{html.escape(link)}">{name}</a>'
    before, dot, after = name.partition(".")
    return name_or_text(site, page, before) + dot + after if dot else name


def comment_html(site, page, text):
    """Returns the text of a comment of C as HTML: paragraphs, indented formulas, links to names, headers and pages."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.strip("\n").split("\n")
        for formula, group in runs(lines):
            joined = comment_words(site, page, "\n".join(group))
            parts.append(f"<pre>{joined}</pre>" if formula else f"<p>{joined}</p>")
    return "\n".join(parts)


def runs(lines):
    """Splits lines into runs of those that are indented, formulas, and those that are not."""
    result = []
    for line in lines:
        formula = line.startswith("    ")
        if result and result[-1][0] == formula:
            result[-1][1].append(line)
        else:
            result.append((formula, [line]))
    return result


def comment_words(site, page, text):
    """Returns running text of a comment as HTML."""

    def word(match):
        found = match[0]
        if found.startswith("docs/"):
            target = site.urls.get(found)
        elif found.startswith("talus/"):
            target = site.urls.get("include/" + found)
        elif found.startswith("`"):
            inner = html.unescape(found[1:-1])
            link = site.name_link(page, inner)
            code = f"<code>{html.escape(inner, quote=False)}</code>"
            return f'<a href="{html.escape(link)}">{code}</a>' if link else code
        else:
            return name_or_text(site, page, found)
        return f'<a href="{html.escape(site.link(page, target))}">{found}</a>' if target else found

    pattern = r"`[^`\n]+`|\bdocs/[\w/-]+\.md|\btalus/\w+\.h|" + NAME.pattern
    return re.sub(pattern, word, html.escape(text, quote=False))


def plain(inline):
    """Returns the text of an inline token as a reader sees it."""
    words = {"text": lambda t: t.content, "code_inline": lambda t: t.content, "softbreak": lambda t: " ",
             "hardbreak": lambda t: " ", "image": lambda t: t.content}
    return "".join(words[t.type](t) for t in inline.children if t.type in words)


class Markdown:
    """Turns pages of Markdown into HTML, by CommonMark with tables."""

    def __init__(self, site):
        self.site = site
        self.page = None
        self.parser = MarkdownIt("commonmark", {"html": False}).enable("table")
        for rule in ("fence", "code_block", "code_inline", "table_open", "table_close"):
            self.parser.renderer.rules[rule] = getattr(self, rule)

    def read(self, page, text):
        """Fills a page; its links are checked later, when all pages are known."""
        self.page = page
        tokens = self.parser.parse(text)
        line = 1
        for i, token in enumerate(tokens):
            if token.map:
                line = token.map[0] + 1
            if token.type == "inline":
                self.resolve_links(token, line)
            if token.type == "heading_open":
                self.enter_heading(token, tokens[i + 1])
            elif page.sections and token.type in ("inline", "fence", "code_block"):
                if tokens[i - 1].type != "heading_open":
                    page.sections[-1].text += (plain(token) if token.children else token.content) + " "
        page.body = self.parser.renderer.render(tokens, self.parser.options, {})

    def enter_heading(self, token, inline):
        page, level, text = self.page, int(token.tag[1]), plain(inline)
        anchor = slug(text, page.anchors)
        page.anchors.add(anchor)
        token.attrSet("id", anchor)
        if not page.title:
            page.title = text
        elif level in (2, 3):
            page.contents.append((level, anchor, html.escape(text, quote=False)))
        page.sections.append(Section(anchor, text))

    def resolve_links(self, inline, line):
        """Turns links and pictures from paths of the tree into URLs of the site; what is only in the tree is copied."""
        opened = None
        for token in inline.children:
            if token.type in ("softbreak", "hardbreak"):
                line += 1
            elif token.type == "link_open":
                opened = token
                self.resolve(token, "href", line)
            elif token.type == "link_close" and opened.tag == "span":
                token.tag = "span"
            elif token.type == "image":
                self.resolve(token, "src", line)
                token.attrs["loading"] = "lazy"

    def resolve(self, token, key, line):
        site, page, link = self.site, self.page, token.attrs[key]
        if re.match(r"[a-z]+:", link):
            return
        path, _, anchor = link.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path)) if path else page.source
        file = site.root / path
        if path.startswith("..") or not file.exists():
            site.error(page, line, f"{link}: no such file")
        elif path in site.urls:
            page.links.append((line, link, site.urls[path], anchor))
            token.attrs[key] = site.link(page, site.urls[path] + ("#" + anchor if anchor else ""))
        elif file.is_file():
            token.attrs[key] = site.link(page, site.copies.setdefault(path, copy_url(path)))
        else:  # a folder of the tree: a word, with its path
            token.tag = "span"
            token.attrs = {"title": path + " in the source tree"}

    def fence(self, tokens, i, options, env):
        return code_block(self.site, self.page, tokens[i].content, tokens[i].info.split(" ")[0])

    def code_block(self, tokens, i, options, env):
        return code_block(self.site, self.page, tokens[i].content, "")

    def code_inline(self, tokens, i, options, env):
        code = f"<code>{html.escape(tokens[i].content, quote=False)}</code>"
        inside = sum(t.nesting for t in tokens[:i] if t.type.startswith("link_"))
        link = None if inside else self.site.name_link(self.page, tokens[i].content)
        return f'<a class="name" href="{html.escape(link)}">{code}</a>' if link else code

    def table_open(self, tokens, i, options, env):
        return '<div class="scroll"><table>\n'

    def table_close(self, tokens, i, options, env):
        return "</table></div>\n"


def copy_url(path):
    """Returns where a file of the tree lies in the site. Sources end in .txt, so that a browser shows them.

    >>> copy_url("docs/img/a.png"), copy_url("src/a.c")
    ('img/a.png', 'source/src/a.c.txt')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.txt"
