#!/bin/sh
# Hold that errors are data: check-errors.sh [ROOT]
#
# Nothing in src/ and apps/ but src/base/status.c takes the text of an error apart or compares it; what a program
# decides it decides by talus_error_record() (code, domain, key). Neither is read what a solver takes from the
# words of TalusSolverRow.accepts, which are for people; the bits of `takes` say it. A text may be printed, copied
# and put into another one.
# Prints file:line: the rule, for each offence; exit status 1 if there is one.
set -eu
cd "${1:-$(dirname "$0")/..}"

dirs=
for d in src apps; do
    if [ -d "$d" ]; then dirs="$dirs $d"; fi
done
if [ -z "$dirs" ]; then
    echo "check-errors: no src/ or apps/ in $(pwd)" >&2
    exit 2
fi

# shellcheck disable=SC2086 # a list of folder names
find $dirs -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) |
    LC_ALL=C sort | awk '
BEGIN {
    # a call that looks into a text, up to one of its arguments, which may hold one level of calls
    look = "(str(n?casecmp|n?cmp|n?len|(case)?str|r?chr|pbrk|c?spn|tok(_r)?|sep|to[a-z]+|coll)|memcmp|memchr|memmem|" \
           "sscanf|fnmatch|regexec|ato[fil]l?)[ \t]*\\([^()]*(\\([^()]*\\)[^()]*)*"
    error = "(talus_error(_reason)?[ \t]*\\(\\)|talus_error_record[ \t]*\\(\\)[ \t]*->[ \t]*text)"
}

function offence(rule) {
    printf "%s:%d: %s\n", file, first, rule
    bad++
}

function check(statement) {
    if (statement !~ /talus_error|accepts/) return
    if (statement ~ look error)
        offence("looks into the text of an error; talus_error_record() has it as data")
    else if (statement ~ error "[ \t]*[+[]" || statement ~ "[*][ \t]*" error)
        offence("takes the text of an error apart; talus_error_record() has it as data")
    else if (statement ~ "=[ \t]*" error)
        offence("keeps a pointer to the text of an error; print it, or copy *talus_error_record()")
    if (statement ~ look "[.>]accepts")
        offence("reads what a solver takes from words; TalusSolverRow.takes has it as bits")
}

# Comments and literals are none of it; a statement may have many lines.
function read_file(   text, at, statement) {
    line = 0
    statement = ""
    inside = 0
    while ((getline text < file) > 0) {
        line++
        gsub(/"([^"\\]|\\.)*"/, "\"\"", text)
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", text)
        if (inside && !sub(/^.*\*\//, "", text)) continue
        inside = 0
        if (sub(/\/\*.*$/, "", text)) inside = 1
        sub(/\/\/.*$/, "", text)
        while ((at = match(text, /[;{}]/)) > 0) {
            if (statement ~ /^[ \t]*$/) first = line
            check(statement substr(text, 1, at))
            text = substr(text, at + 1)
            statement = ""
        }
        if (statement ~ /^[ \t]*$/) first = line
        statement = statement " " text
    }
    close(file)
}

{
    file = $0
    files++
    if (file != "src/base/status.c") read_file()
}

END {
    if (bad) {
        printf "check-errors: %d offence(s)\n", bad
        exit 1
    }
    printf "check-errors: %d files take no text of an error apart\n", files
}'
