"""The reference of the command line, from what `talus help COMMAND` prints."""

import html
import re
import subprocess

from markup import Section, code_block, comment_words


def run_help(talus, *arguments):
    """Returns what the program prints."""
    result = subprocess.run([talus, "help", *arguments], capture_output=True, text=True, timeout=60, check=True)
    return result.stdout


def list_commands(text):
    """Returns names and summaries of the commands that the general help lists.

    >>> list_commands("usage: x\\n\\ncommands:\\n  run   Simulates.\\n\\noptions:\\n  -h   this\\n")
    [('run', 'Simulates.')]
    """
    block = text.partition("commands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\w+) +(.*)$", block, re.M)


def split_help(text):
    """Returns the parts of a help text: (kind, value), kind being text, title or option; of an option the pair of its
    form and its meaning.

    >>> split_help("usage: a\\n\\noptions:\\n  --b C   d\\n            e\\nf\\n")
    [('text', 'usage: a\\n'), ('title', 'options'), ('option', ('--b C', 'd e')), ('text', 'f')]
    """
    parts, option = [], None
    for line in text.rstrip("\n").split("\n"):
        found = re.match(r"  (-\S.*?)(?:  +(.*))?$", line)
        if re.fullmatch(r"\w[\w ]*:", line):
            parts.append(("title", line[:-1]))
            option = None
        elif found:
            option = [found[1], found[2] or ""]
            parts.append(("option", option))
        elif option and line.startswith("     "):
            option[1] = f"{option[1]} {line.strip()}".strip()
        else:
            option = None
            if parts and parts[-1][0] == "text":
                parts[-1] = ("text", parts[-1][1] + "\n" + line)
            else:
                parts.append(("text", line))
    return [(kind, tuple(value) if kind == "option" else value) for kind, value in parts]


def render(site, page, name, summary, text):
    """Fills the page of a command."""
    page.title = f"talus {name}"
    page.anchors.add("top")
    page.sections.append(Section("top", page.title, ""))
    out = [f'<h1 id="top">{page.title}</h1>', f"<p>{comment_words(site, page, summary)}</p>"]
    body = text.replace(summary + "\n", "", 1)
    usage, _, body = body.partition("\n\n")
    out.append(code_block(site, page, re.sub(r"(?m)^(usage: | {7})", "", usage) + "\n", "text"))
    in_list = False
    for kind, value in split_help(body):
        if in_list and kind != "option":
            out.append("</dl>")
        elif not in_list and kind == "option":
            out.append("<dl>")
        in_list = kind == "option"
        out.append({"option": option, "title": title, "text": words}[kind](site, page, value))
    page.body = "\n".join(out + (["</dl>"] if in_list else [])) + "\n"


def free_anchor(page, base):
    """Returns an anchor that the page has not yet, and gives it to the page."""
    anchor, count = base, 1
    while anchor in page.anchors:
        count += 1
        anchor = f"{base}-{count}"
    page.anchors.add(anchor)
    return anchor


def option(site, page, value):
    form, meaning = value
    long = re.search(r"--[\w-]+", form)
    anchor = free_anchor(page, (long[0] if long else form).strip("-").split(" ")[0])
    page.sections.append(Section(anchor, f"{page.title} {form}", meaning))
    page.contents.append((3, anchor, f"<code>{html.escape(form.split(' ')[0].rstrip(','), quote=False)}</code>"))
    return f'<dt id="{anchor}"><code>{html.escape(form, quote=False)}</code></dt><dd>{comment_words(site, page, meaning)}</dd>'


def title(site, page, value):
    anchor = free_anchor(page, value.lower().replace(" ", "-"))
    heading = value[:1].upper() + value[1:]
    page.contents.append((2, anchor, heading))
    return f'<h2 id="{anchor}">{heading}</h2>'


def words(site, page, value):
    """Text between options: paragraphs are filled, what is indented stays as it is."""
    page.sections[0].text += value + " "
    out = []
    for block in re.split(r"\n\s*\n", value.strip("\n")):
        text = comment_words(site, page, block)
        out.append(f"<pre>{text}</pre>" if re.search(r"(?m)^  ", block) else f"<p>{text}</p>" if text.strip() else "")
    return "\n".join(filter(None, out))
