"""The reference of the C library, made from the public headers: one page per header.

The headers are regular: a comment stands before what it explains, or behind it on its line; a blank line ends a group that
shares a comment; `---- title ----` begins a section. read_header() makes a list of items of that, render() a page.
"""

import html
import re
from dataclasses import dataclass, field

from markup import Section, code_block, comment_html, comment_words

COMMENT = re.compile(r"/\*.*?\*/", re.S)


@dataclass
class Member:
    """A field of a struct, or several of one type, or a constant of an enum."""

    code: str
    names: list
    comment: str = ""


@dataclass
class Declaration:
    code: str  # without comments
    names: list  # what it defines: one name, but for an enum without a name
    members: list = field(default_factory=list)
    comment: str = ""  # behind it
    forward: bool = False  # the name of a struct that a later declaration defines


@dataclass
class Item:
    """Declarations that share a comment; without declarations prose, or the title of a section."""

    comment: str = ""
    declarations: list = field(default_factory=list)
    title: str = ""


@dataclass
class Header:
    path: str
    summary: str
    intro: str
    items: list


def comment_text(comment):
    """Returns the text of a comment without its marks.

    >>> comment_text("/* One\\n * two. */")
    'One\\ntwo.'
    """
    lines = comment[2:-2].strip().split("\n")
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() if i else line for i, line in enumerate(lines))


def without_comments(code):
    """Returns code without comments and without the spaces that they leave."""
    code = re.sub(r"[ \t]*/\*.*?\*/", "", code, flags=re.S)
    return re.sub(r"\n\s*\n", "\n", code).strip()


def without_mark(code):
    """Returns a declaration without TALUS_API or TALUS_INLINE, its arguments aligned again."""
    mark = re.match(r"TALUS_(API|INLINE)(\s+)", code)
    if not mark:
        return code
    width = len(mark[0]) if "\n" not in mark[0] else 0
    return re.sub(rf"\n {{{width}}}", "\n", code[mark.end() :])


def read_header(path, text):
    """Parses a header; `path` is that in the tree."""
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    guard = re.search(r"#ifndef (\w+)", text)[1]
    items, seen = [], {guard}
    pending, broken = None, False  # a comment that waits for its declaration; a blank line since the last declaration
    at = 0
    while True:
        space = re.compile(r"\s*").match(text, at)
        broken = broken or space[0].count("\n") > 1
        same_line = "\n" not in space[0]
        at = space.end()
        if at == len(text):
            break
        comment = COMMENT.match(text, at)
        if comment or pending and broken:
            if pending:  # a comment that a blank line or another comment follows stands for itself
                items.append(prose(pending))
                pending = None
            if comment:
                at = comment.end()
                if same_line and items and items[-1].declarations and not broken:
                    items[-1].declarations[-1].comment = comment_text(comment[0])
                else:
                    pending, broken = comment_text(comment[0]), False
                continue
        end = end_of(text, at)
        declaration = read_declaration(text[at:end], seen)
        at = end
        if declaration is None:
            continue
        if pending or broken or not items or not items[-1].declarations:
            items.append(Item(pending or ""))
        items[-1].declarations.append(declaration)
        pending, broken = None, False
    if pending:
        items.append(prose(pending))
    declarations = [d for item in items for d in item.declarations]
    defined = {n for d in declarations if d.members for n in d.names}
    for d in declarations:
        d.forward = not d.members and d.names[0] in defined
    first = items.pop(0).comment
    summary, _, intro = first.partition("\n\n")
    summary = re.sub(r"\s+", " ", summary.partition(" - ")[2])
    return Header(path, sentence(summary), intro, items)


def prose(comment):
    """Returns the item of a comment that stands for itself; `---- title: more ----` begins a section."""
    title = re.fullmatch(r"-+ (.*) -+", comment, re.S)
    if not title:
        return Item(comment)
    words = re.split(r"[:,(]", title[1])[0].strip()
    return Item(sentence(title[1][len(words) :].strip(" :,()")), title=sentence(words))


def sentence(text):
    return text[:1].upper() + text[1:]


def end_of(text, at):
    """Returns the index behind the declaration or the preprocessor line that begins at `at`."""
    if text[at] == "#":
        return re.compile(r"(?:\\\n|/\*.*?\*/|[^\n])*", re.S).match(text, at).end()
    inline, depth = text.startswith("TALUS_INLINE", at), 0
    for token in re.compile(r"/\*.*?\*/|[{}();]", re.S).finditer(text, at):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(token[0], 0)
        if depth == 0 and token[0] == ("}" if inline else ";"):
            return token.end()
    raise ValueError(f"a declaration without an end: {text[at:at + 60]!r}")


def read_declaration(code, seen):
    """Parses a declaration or preprocessor line; None if it defines nothing that `seen` has not. Adds to `seen`."""
    if code.startswith("#"):
        define = re.match(r"#define (\w+)", code)
        if not define or define[1] in seen:
            return None
        seen.add(define[1])
        comments = [comment_text(c) for c in COMMENT.findall(code)]
        return Declaration(without_comments(code), [define[1]], comment=" ".join(comments))
    if code.startswith("TALUS_INLINE"):
        code = code[: code.index("{")].rstrip() + ";"
    bare = without_mark(without_comments(code))
    body = re.match(r"(?:typedef )?(struct|enum)\s*(\w*)\s*\{(.*)\}\s*(\w*)\s*;", code, re.S)
    if body:
        members = read_members(body[3], "," if body[1] == "enum" else ";")
        name = body[4] or body[2]
        if body[1] == "struct":
            for member in members:
                member.names = [f"{name}.{n}" for n in member.names]
        return Declaration(bare, [name] if name else [m.names[0] for m in members], members)
    for pattern in (r"typedef struct \w+ (\w+);", r"typedef [^(]*\(\s*\*\s*(\w+)\)", r"[^(]*?\b(\w+)\("):
        found = re.match(pattern, bare)
        if found:
            return Declaration(bare, [found[1]])
    raise ValueError(f"not understood: {bare!r}")


def read_members(body, separator):
    """Parses what is between the braces of a struct or an enum."""
    members, leading, at = [], [], 0
    for part in re.finditer(r"/\*.*?\*/|[^/%s]+%s?" % (separator, separator), body, re.S):
        if part[0].startswith("/*"):
            # Behind a member on its line: of this member.
            behind = members and not leading and "\n" not in body[at : part.start()]
            if behind:
                members[-1].comment = " ".join(filter(None, [members[-1].comment, comment_text(part[0])]))
            else:
                leading.append(comment_text(part[0]))
        elif part[0].strip():
            code = re.sub(r"\s+", " ", part[0].strip().rstrip(",")).replace(" [", "[")
            members.append(Member(code, member_names(code, separator), " ".join(leading)))
            leading = []
        if part[0].strip():
            at = part.start() + len(part[0].rstrip())
    return members


def member_names(code, separator):
    """Returns the names that a member defines.

    >>> member_names("double x, *y[3];", ";"), member_names("int (*f)(int a);", ";"), member_names("A = 1", ",")
    (['x', 'y'], ['f'], ['A'])
    """
    if separator == ",":
        return [re.match(r"\w+", code)[0]]
    pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", code)
    if pointer:
        return [pointer[1]]
    return [re.search(r"(\w+)\s*(?:\[.*)?$", part.strip())[1] for part in code.rstrip(";").split(",")]


def has_table(declaration):
    """True if the members of a declaration are explained one by one, in a table."""
    return any(m.comment for m in declaration.members) and not set(declaration.names) & set(declaration.members[0].names)


def anchors_of(header):
    """Returns the anchor of each name of a header; of members without a table that of the whole."""
    anchors = {}
    for d in (d for item in header.items for d in item.declarations if not d.forward):
        for name in (n for m in d.members for n in m.names):
            anchors[name] = name if has_table(d) else d.names[0]
        anchors.update((n, n) for n in d.names)
    return anchors


def render(site, page, header):
    """Fills the page of a header."""
    page.title = header.path.removeprefix("include/")
    page.anchors.update(anchors_of(header).values(), ["top"])
    page.sections.append(Section("top", page.title, header.summary + " " + header.intro))
    out = [f'<h1 id="top">{page.title}</h1>', f"<p>{comment_words(site, page, header.summary)}</p>"]
    if header.intro:
        out.append(comment_html(site, page, header.intro))
    for item in header.items:
        if item.title:
            out.append(section_title(page, item.title))
        if item.declarations:
            out += render_item(site, page, item)
        elif item.comment:
            out.append(comment_html(site, page, item.comment))
    page.body = "\n".join(out) + "\n"


def section_title(page, title):
    anchor = re.sub(r"\W+", "-", title.lower()).strip("-")
    page.anchors.add(anchor)
    page.contents.append((2, anchor, html.escape(title, quote=False)))
    return f'<h2 id="{anchor}">{html.escape(title, quote=False)}</h2>'


def render_item(site, page, item):
    """Returns the parts of the page about declarations that share a comment."""
    heads = []
    for d in item.declarations:
        for n in d.names:
            heads.append(n if d.forward else f'<span id="{n}">{n}</span>')
            if not d.forward:
                page.contents.append((3, n, f"<code>{n}</code>"))
    names = [n for d in item.declarations for n in d.names]
    text = [item.comment] + [d.comment for d in item.declarations]
    text += [" ".join([n.split(".")[-1] for n in m.names] + [m.comment]) for d in item.declarations for m in d.members]
    anchor = "top" if item.declarations[0].forward else names[0]
    page.sections.append(Section(anchor, ", ".join(names), " ".join(text)))
    out = ['<section class="item">', f'<h3 class="names">{", ".join(heads)}</h3>']
    out.append(code_block(site, page, "\n".join(code_of(d) for d in item.declarations) + "\n", "c"))
    if item.comment:
        out.append(comment_html(site, page, item.comment))
    out += remarks(site, page, item)
    out += [member_table(site, page, d) for d in item.declarations if any(m.comment for m in d.members)]
    return out + ["</section>"]


def code_of(declaration):
    """Returns the code to be shown: without the members that a table has."""
    code = declaration.code
    return re.sub(r"\{.*\}", "{ ... }", code, flags=re.S) if has_table(declaration) else code


def remarks(site, page, item):
    """Returns what comments behind declarations say."""
    rows = [(d.names[0], comment_words(site, page, d.comment)) for d in item.declarations if d.comment]
    if len(item.declarations) == 1:
        return [f"<p>{comment}</p>" for _, comment in rows]
    return [table("", [(f"<code>{name}</code>", comment) for name, comment in rows])] if rows else []


def member_table(site, page, declaration):
    rows = []
    for member in declaration.members:
        code = member.code.rstrip(";")
        field = "." in member.names[0]  # a field's type is linked; a constant is not, to itself
        code = comment_words(site, page, code) if field else html.escape(code, quote=False)
        marks = "".join(f'<span id="{n}"></span>' for n in member.names) if has_table(declaration) else ""
        rows.append((f"{marks}<code>{code}</code>", comment_words(site, page, member.comment)))
    return table("members", rows)


def table(kind, rows):
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    mark = f' class="{kind}"' if kind else ""
    return f'<div class="scroll"><table{mark}>\n{lines}</table></div>'
