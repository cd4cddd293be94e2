#!/bin/sh
# Hold that documentation leads somewhere: check-links.sh [ROOT]
#
# - A relative link of a Markdown page, [text](path#heading), names a file of the tree and a heading of that file.
# - A page that any text of the tree names as docs/FOLDER/PAGE.md is there.
# - A source file that a page names by its whole path, such as src/base/pool.h, is there.
# - docs/index.md links every page under docs/.
# - README.md has at most 150 lines.
# Links to other hosts are not followed. Build folders, out/ and built pages are left out.
# Prints file:line: the link: the rule, for each offence; exit status 1 if there is one.
set -eu
cd "${1:-$(dirname "$0")/..}"
if [ ! -f docs/index.md ]; then
    echo "check-links: no docs/index.md in $(pwd)" >&2
    exit 2
fi

find . -type d \( -name .git -o -name node_modules -o -name dist -o -path ./build -o -path ./out \) -prune -o \
    -type f \( -name '*.md' -o -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.ts' -o -name '*.mjs' -o -name '*.py' \
    -o -name '*.sh' -o -name '*.cmake' -o -name '*.json' -o -name '*.txt' -o -name dev \) -print |
    sed 's|^\./||' | LC_ALL=C sort | awk '
function offence(link, rule) {
    printf "%s:%d: %s: %s\n", file, line, link, rule
    bad++
}

function exists(path) {
    if (!(path in known)) known[path] = path !~ /["$`\\]/ && system("test -e \"" path "\"") == 0
    return known[path]
}

# The name of a heading in links: lower case, letters, digits, - and _ alone, spaces as -.
function slug(text) {
    text = tolower(text)
    gsub(/[^a-z0-9 _-]/, "", text)
    gsub(/ /, "-", text)
    return text
}

function has_heading(path, name,   text, found, fenced) {
    found = 0
    fenced = 0
    while ((getline text < path) > 0) {
        if (text ~ /^```/) fenced = !fenced
        if (!fenced && sub(/^#+ +/, "", text) && slug(text) == name) found = 1
    }
    close(path)
    return found
}

# path as seen from the root, for a link in this file; "" if it leaves the tree
function resolve(path,   dir, parts, n, i, out, k) {
    dir = file
    if (!sub(/\/[^\/]*$/, "", dir)) dir = ""
    n = split((dir == "" ? "" : dir "/") path, parts, "/")
    k = 0
    for (i = 1; i <= n; i++) {
        if (parts[i] == "" || parts[i] == ".") continue
        if (parts[i] == "..") {
            if (k == 0) return ""
            k--
        } else out[++k] = parts[i]
    }
    path = ""
    for (i = 1; i <= k; i++) path = path (i > 1 ? "/" : "") out[i]
    return path
}

function check_link(link,   path, heading, at, target) {
    if (link ~ /^[a-z]+:/) return
    links++
    path = link
    heading = ""
    if ((at = index(link, "#")) > 0) {
        heading = substr(link, at + 1)
        path = substr(link, 1, at - 1)
    }
    target = path == "" ? file : resolve(path)
    if (target == "" || !exists(target)) offence(link, "no such file")
    else if (heading != "" && !has_heading(target, heading)) offence(link, "no such heading")
    if (file == "docs/index.md") listed[target] = 1
}

function check_sources(rest,   name) {
    while (match(rest, /(^|[^a-zA-Z0-9_.\/-])(src|include|apps|tests|scripts|bench|examples)\/[a-z0-9_\/-]+\.(cu|c|h|ts|mjs|py|sh)/)) {
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (rest ~ /^[a-zA-Z0-9_]/) continue # a longer ending, or a name with a placeholder
        sub(/^[^a-z]/, "", name)
        if (!exists(name)) offence(name, "no such source file")
    }
}

function check_line(text,   rest, name) {
    if (file ~ /\.md$/) {
        rest = text
        gsub(/`[^`]*`/, "", rest)
        while (match(rest, /\]\([^) ]+\)/)) {
            check_link(substr(rest, RSTART + 2, RLENGTH - 3))
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    if (file ~ /^(docs\/.*|README|CONTRIBUTING)\.md$/) check_sources(text)
    rest = text
    while (match(rest, /docs\/[a-z0-9_\/-]+\.md/)) {
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (!exists(name)) offence(name, "no such page")
    }
}

{
    file = $0
    files++
    fenced = 0
    if (file ~ /^docs\/.*\.md$/) pages[file] = 1
    if (file ~ /check[-_]links\.sh$/) next # its own examples
    # The whole file first: a link to a heading of this file reads it again.
    n = 0
    while ((getline text < file) > 0) lines[++n] = text
    close(file)
    for (line = 1; line <= n; line++) {
        if (file ~ /\.md$/ && lines[line] ~ /^```/) fenced = !fenced
        if (!fenced) check_line(lines[line])
    }
    if (file == "README.md" && n > 150) offence(n " lines", "README.md has at most 150")
}

END {
    file = "docs/index.md"
    line = 1
    for (page in pages)
        if (page != file && !(page in listed)) offence(page, "not listed in docs/index.md")
    if (bad) {
        printf "check-links: %d offence(s)\n", bad
        exit 1
    }
    printf "check-links: %d links of %d files lead somewhere\n", links, files
}'
