#!/bin/sh
# The site of the documentation (./dev docs): it is built of this tree, with the commands of this program; its pages are well
# formed and every link of them leads somewhere; the reference has every function that the library exports, with its words; the
# search finds pages; and of a bad tree, bad links are reported with page and line.
set -eu
site=$TALUS_SOURCE_DIR/scripts/site
if ! python=$(sh "$site/python.sh" 2>reason); then
    echo "skip: $(cat reason)"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# has FILE TEXT: a file of the site has a text.
has() {
    grep -qF -e "$2" "site/$1" || fail "site/$1 lacks: $2"
}

rm -rf site tree empty
for part in markup headers commands index; do
    (cd "$site" && "$python" -m doctest "$part.py") >report 2>&1 || fail "examples in $part.py: $(cat report)"
done

"$python" "$site/build.py" --out site --talus "$TALUS" >report 2>&1 || {
    cat report
    echo "FAILED: the site was not built"
    exit 1
}
"$python" "$site/check.py" site >report 2>&1 || fail "the site: $(head -20 report)"

# Every exported function has its place, and what is written in the headers is there.
cat site/reference/c/*.html | sed -n 's/<span id="\(talus_[a-z0-9_]*\)">/\n\1\n/gp' | grep '^talus_[a-z0-9_]*$' | LC_ALL=C sort -u >described
LC_ALL=C sort "$TALUS_SOURCE_DIR/tests/library_symbols.txt" | LC_ALL=C comm -23 - described >missing
[ ! -s missing ] || fail "no reference of: $(cat missing)"
has reference/c/sizes.html '<td>mean size of a body</td>'
has reference/c/world.html 'id="TalusWorldDef.tolerance"'
has reference/c/world.html 'href="math.html#TalusVec3"'
has reference/commands/run.html '<dt id="threads"><code>--threads N</code></dt>'
has reference/scenes.html 'aria-label="On this page"'
has index.html 'href="reference/c/index.html"'
if "$TALUS" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >names && [ -s names ]; then
    while read -r name; do
        [ -e "site/reference/commands/$name.html" ] || fail "no page of talus $name"
    done <names
else
    fail "talus help lists no commands"
fi

# Every comment of the headers is on its page, but for the names of files and the titles of sections, which are headings there.
cat >comments.py <<'ASK'
import html, re, sys
from pathlib import Path
def squeeze(text):
    return re.sub(r"[\s`]+", "", text)
for header in sorted(Path(sys.argv[1]).glob("*.h")):
    page = Path("site/reference/c", header.stem + ".html").read_text(encoding="utf-8")
    page = squeeze(html.unescape(re.sub(r"<[^>]*>", "", page)))
    comments = re.findall(r"/\*(.*?)\*/", header.read_text(encoding="utf-8"), re.S)
    for i, comment in enumerate(comments):
        text = squeeze(re.sub(r"(?m)^ \* ?|^\s+\* ?", "", comment)) if "\n" in comment else squeeze(comment)
        if i == 0:
            text = text.partition("-")[2][1:]
        if not text.startswith("----") and text not in page:
            print(f"{header.name}: {' '.join(comment.split())[:100]}")
ASK
"$python" comments.py "$TALUS_SOURCE_DIR/include/talus" >report 2>&1 || fail "comments.py: $(cat report)"
[ ! -s report ] || fail "comments that no page has: $(cat report)"

# Without node, the index alone is looked at: that it has the words of a page.
cat >questions <<'ASK'
talus_world_step|reference/c/world.html#talus_world_step
install|how-to/install.html#install-and-build
angle of repose|tutorial/repose.html#angle-of-repose
warm start|reference/contact-problem.html#warm-start
checkpoint-every|reference/commands/run.html#checkpoint-every
resi defin|reference/contact-problem.html#the-one-residual-and-the-tolerance
ASK
if command -v node >/dev/null 2>&1; then
    cat >ask.cjs <<'ASK'
const fs = require("fs");
const { find } = require("./site/search.js");
const index = new Function(fs.readFileSync("site/search-index.js", "utf8") + "; return talusIndex;")();
for (const line of fs.readFileSync("questions", "utf8").trim().split("\n")) {
    const [query, page] = line.split("|");
    const urls = find(index, query, 3).map((result) => result.url);
    if (!urls.includes(page)) console.log(`"${query}" finds ${urls}, not ${page}`);
}
if (find(index, "xyzzy", 3).length > 0) console.log("xyzzy is found");
ASK
    node ask.cjs >report 2>&1 || fail "the search: $(cat report)"
    [ ! -s report ] || fail "the search: $(cat report)"
fi
cat >ask.py <<'ASK'
import json, re
text = open("site/search-index.js", encoding="utf-8").read()
index = json.loads(text[len("var talusIndex = ") : -2])
for line in open("questions", encoding="utf-8").read().split("\n")[:-2]:
    query, page = line.split("|")
    for word in re.findall(r"\w+", query):
        urls = [index["sections"][i][0] for i in index["words"].get(word, [])[::2]]
        if page not in urls:
            print(f"{word} is not of {page}")
ASK
"$python" ask.py >report 2>&1 || fail "the index: $(cat report)"
[ ! -s report ] || fail "the index: $(cat report)"

# A tree of its own: what is wrong in it is reported with page and line, and the site is there nevertheless.
mkdir -p tree/docs/how-to tree/include/talus
printf '# Index\n\n## How-to: do\n\n| page |\n|---|\n| [a](how-to/A.md#part-one) |\n' >tree/docs/index.md
printf '# Page a\n\n## Part one\n\n<b>text</b>, `a()` & more\n[self](#part-one)\n' >tree/docs/how-to/A.md
printf '/* talus/base.h - the base. */\n#ifndef TALUS_BASE_H\n#define TALUS_BASE_H\n#define TALUS_VERSION_MAJOR 1\n#define TALUS_VERSION_MINOR 2\n#define TALUS_VERSION_PATCH 3\n#endif\n' \
    >tree/include/talus/base.h
"$python" "$site/build.py" --root tree --out site >report 2>&1 || fail "a good tree: $(cat report)"
grep -q 'pages of commands are left out' report || fail "no word about the absent program: $(cat report)"
has how-to/A.html '&lt;b&gt;text&lt;/b&gt;'
has how-to/A.html 'Talus 1.2.3'
printf '\n[x](b.md) and\n[y](../index.md#nothing)\n' >>tree/docs/how-to/A.md
if "$python" "$site/build.py" --root tree --out site >report 2>&1; then fail "accepted bad links"; fi
grep -qxF 'docs/how-to/A.md:8: b.md: no such file' report || fail "no report of line 8: $(cat report)"
grep -qxF 'docs/how-to/A.md:9: ../index.md#nothing: no such heading' report || fail "no report of line 9: $(cat report)"
if "$python" "$site/check.py" site >report 2>&1; then fail "check.py accepts bad links"; fi
mkdir empty
echo 'of somebody' >empty/file
if "$python" "$site/build.py" --root tree --out empty >report 2>&1 || [ ! -s empty/file ]; then fail "a folder of others was replaced"; fi
printf '<html><p><b>a</p></html><a href="x.html">' >site/index.html
if "$python" "$site/check.py" site >report 2>&1; then fail "check.py accepts a broken page"; fi
grep -q '^index.html:1: </p> where </b> should close' report || fail "the broken page: $(cat report)"

[ $failed -ne 0 ] || echo "docs_site: passed"
exit $failed
