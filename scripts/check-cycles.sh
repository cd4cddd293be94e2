#!/bin/sh
# Hold that no files need each other in a circle: check-cycles.sh [ROOT]
#
# A source file (.c, .cu) of src/ or apps/ needs another one if it uses a function or variable that the other defines
# at file level, not static; as clang-format lays files out, what begins in column 0 is at file level. Alternates
# (*_none.c) stand in for other files and are left out. A header needs those that it includes.
# Prints file: the other file: the names, for each need that lies on a circle; exit status 1 if there is one.
set -eu
cd "${1:-$(dirname "$0")/..}"

dirs=
for d in include src apps; do
    if [ -d "$d" ]; then dirs="$dirs $d"; fi
done
if [ -z "$dirs" ]; then
    echo "check-cycles: no include/, src/ or apps/ in $(pwd)" >&2
    exit 2
fi

# shellcheck disable=SC2086 # a list of folder names
find $dirs -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) ! -name '*_none.c' |
    LC_ALL=C sort | awk '
# The line without comments and literals; a comment may go on (inside).
function strip(text,   out, what) {
    if (inside && !sub(/^.*\*\//, "", text)) return ""
    inside = 0
    out = ""
    while (match(text, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047|\/\/.*|\/\*/)) {
        what = substr(text, RSTART, 2)
        out = out substr(text, 1, RSTART - 1) (what ~ /^\// ? " " : "\"\"")
        text = substr(text, RSTART + RLENGTH)
        if (what == "/*" && !sub(/^([^*]|\*+[^*\/])*\*+\//, "", text)) {
            inside = 1
            return out
        }
    }
    return out text
}

# What a declaration at file level defines: the name before "=", "[" or ";", or the one before the arguments.
function define(text,   end) {
    end = match(text, /[={;]/) ? substr(text, RSTART, 1) : ""
    text = substr(text, 1, RSTART - 1)
    own_word = text
    sub(/[^A-Za-z_0-9].*/, "", own_word)
    while (sub(/__(launch_bounds|attribute)__[ ]*\(+[^()]*\)+/, "", text)) continue
    if (text ~ /^(typedef|extern|using|namespace)[^a-z_]/ || text ~ /^[a-z_0-9]+:/) return
    if (text ~ /\(/ ? end != "{" : end == "{" || text ~ /^(struct|union|enum) +[A-Za-z_0-9]+ *$/) return
    sub(/\(\*/, "", text) # a function that returns a pointer to an array
    sub(/[[(].*/, "", text)
    if (!match(text, /[A-Za-z_0-9]+ *$/)) return
    end = substr(text, RSTART)
    sub(/ +$/, "", end)
    if (text ~ /(^| )static / || own_word in static_macro)
        own[file, end] = 1
    else
        definer[end] = end in definer ? definer[end] " " file : file
}

function note_words(text,   word) {
    gsub(/(\.|->) *[A-Za-z_][A-Za-z_0-9]*/, " ", text) # members
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if ((file, word) in seen) continue
        seen[file, word] = 1
        words[file] = words[file] " " word
    }
}

function read_source(   text, declaration) {
    declaration = ""
    while ((getline text < file) > 0) {
        text = strip(text)
        if (text ~ /^[ \t]*#[ \t]*include/) continue
        note_macro(text)
        note_words(text)
        if (declaration == "" && text !~ /^[A-Za-z_]/) continue
        declaration = declaration " " text
        if (text ~ /[={;]|:[ \t]*$/) {
            define(substr(declaration, 2))
            declaration = ""
        }
    }
}

# A macro that makes functions static, as KERNEL.
function note_macro(text) {
    if (text !~ /^#[ \t]*define[ \t]+[A-Za-z_0-9]+[ \t].*static/) return
    sub(/^#[ \t]*define[ \t]+/, "", text)
    sub(/[ \t].*/, "", text)
    static_macro[text] = 1
}

function need(a, b, name) {
    if (a == b) return
    if (!((a, b) in names)) {
        needs[a] = needs[a] " " b
        needed[b] = needed[b] " " a
    }
    names[a, b] = names[a, b] " " name
}

function read_header(   text, dir, tried, i) {
    dir = file
    sub(/[^\/]*$/, "", dir)
    while ((getline text < file) > 0) {
        note_macro(text)
        if (text !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
        sub(/^[^"<]*["<]/, "", text)
        sub(/[">].*/, "", text)
        split(dir text " src/" text " apps/" text " include/" text, tried, " ")
        for (i = 1; i <= 4; i++)
            if (tried[i] in files) {
                need(file, tried[i], "#include")
                break
            }
    }
}

# Whether one of the files in a list is still there.
function some(list,   part, n, i) {
    n = split(list, part, " ")
    for (i = 1; i <= n; i++)
        if (part[i] in files) return 1
    return 0
}

# Whether file a needs file b, by way of others too; what has been tried is left out.
function reaches(a, b,   part, n, i) {
    if (a == b) return 1
    tried_from[a] = 1
    n = split(needs[a], part, " ")
    for (i = 1; i <= n; i++)
        if (part[i] in files && !(part[i] in tried_from) && reaches(part[i], b)) return 1
    return 0
}

{ files[$0] = 1; order[++count] = $0 }

END {
    for (pass = 1; pass <= 2; pass++) # headers first, for their macros
        for (i = 1; i <= count; i++) {
            file = order[i]
            inside = 0
            if (pass == 1 && file !~ /\.(c|cu)$/) read_header()
            if (pass == 2 && file ~ /\.(c|cu)$/) read_source()
            close(file)
        }
    for (i = 1; i <= count; i++) {
        n = split(words[order[i]], word, " ")
        for (k = 1; k <= n; k++) {
            if (!(word[k] in definer) || (order[i], word[k]) in own) continue
            m = split(definer[word[k]], at, " ")
            for (j = 1; j <= m; j++) need(order[i], at[j], word[k])
        }
    }
    do { # files that nobody needs, and files that need nobody, are on no circle
        changed = 0
        for (i = 1; i <= count; i++)
            if (order[i] in files && !(some(needs[order[i]]) && some(needed[order[i]]))) {
                delete files[order[i]]
                changed = 1
            }
    } while (changed)
    for (i = 1; i <= count; i++) {
        if (!(order[i] in files)) continue
        n = split(needs[order[i]], at, " ")
        for (k = 1; k <= n; k++) {
            split("", tried_from)
            if (!(at[k] in files) || !reaches(at[k], order[i])) continue
            printf "%s: needs %s:%s\n", order[i], at[k], names[order[i], at[k]]
            bad++
        }
    }
    if (bad) {
        printf "check-cycles: files need each other in circles\n"
        exit 1
    }
    printf "check-cycles: %d files without circles\n", count
}'
