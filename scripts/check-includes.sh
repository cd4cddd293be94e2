#!/bin/sh
# Hold the folder order of docs/explanation/architecture.md: check-includes.sh [ROOT]
#
# In src/ a file may include its own folder and folders earlier in the order below, written
# "folder/file.h" or, beside it, "file.h"; public headers are <talus/x.h> everywhere. apps/ come
# last and see everything; they include one another as "cli/x.h", "lab/x.h", "verify/x.h". apps/verify, the
# independent verifier, sees only public headers and itself. include/talus/ sees only itself. What is in a backend's
# own folder, src/backend/NAME/, is seen by src/backend and by its engine, src/engine/NAME/, alone. Solvers see no
# CUDA and no MPI.
# Prints file:line: the include: the rule, for each offence; exit status 1 if there is one.
set -eu
cd "${1:-$(dirname "$0")/..}"

dirs=
for d in include src apps; do
    if [ -d "$d" ]; then dirs="$dirs $d"; fi
done
if [ -z "$dirs" ]; then
    echo "check-includes: no include/, src/ or apps/ in $(pwd)" >&2
    exit 2
fi

# shellcheck disable=SC2086 # a list of folder names
find $dirs -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) |
    LC_ALL=C sort | awk '
BEGIN {
    order = "base comm linalg geometry collide sets backend problem engine solvers world measure io draw"
    n = split(order, names, " ")
    for (i = 1; i <= n; i++) rank[names[i]] = i
}

function offence(rule) {
    printf "%s:%d: %s: %s\n", file, line, text, rule
    bad++
}

function exists(path,   ignored, found) {
    found = (getline ignored < path) >= 0
    if (found) close(path)
    return found
}

function check_quoted(name,   part, count) {
    count = split(name, part, "/")
    if (area == "include")
        offence("public headers include one another as <talus/x.h>")
    else if (part[1] == "talus")
        offence("public headers are included as <talus/x.h>")
    else if (name ~ /(^|\/)\.\.?\//)
        offence("write \"folder/file.h\" relative to src/, or \"file.h\" for a neighbour")
    else if (count == 1) {
        if (!exists(dir "/" name))
            offence("no such file beside this one; write \"folder/file.h\" relative to src/")
    } else if (dir == "apps/verify")
        offence("the verifier shares no code with src/: public headers and its own files only")
    else if (area == "apps" && part[1] ~ /^(cli|lab|verify)$/ && exists("apps/" name))
        return
    else if (!(part[1] in rank))
        offence("\"" part[1] "\" is no folder of src/; write \"folder/file.h\" relative to src/")
    else if (area == "src" && rank[part[1]] > rank[folder])
        offence(folder " may not include " part[1] " (order: " order ")")
    else if (folder == "solvers" && name ~ /^(backend\/cuda|comm\/mpi)\//)
        offence("solvers may not include CUDA or MPI headers")
    else if (part[1] == "backend" && count > 2 && folder != "backend" &&
             index(dir "/", "src/engine/" part[2] "/") != 1)
        offence("headers of one backend are its own; shared ones are in src/backend/")
}

function check_angled(name,   part) {
    split(name, part, "/")
    if (part[1] in rank && name ~ /\//)
        offence("headers of src/ are included as \"folder/file.h\"")
    else if (folder == "solvers" &&
             name ~ /^(cuda|cub|cu(blas|sparse|solver|rand|fft)|cooperative_groups|thrust|nccl|mpi|petsc)/)
        offence("solvers may not include CUDA or MPI headers")
}

{
    file = $0
    depth = split(file, path, "/")
    area = path[1]
    dir = file
    sub(/\/[^\/]*$/, "", dir)
    folder = area == "src" ? path[2] : area
    line = 0
    text = "(place)"
    if (area == "src" && (depth < 3 || !(folder in rank))) {
        offence("belongs in a folder of src/: " order)
        next
    }
    while ((getline source < file) > 0) {
        line++
        if (source !~ /^[ \t]*#[ \t]*include/) continue
        text = source
        sub(/^[ \t]*#[ \t]*include[ \t]*/, "", text)
        if (match(text, /^"[^"]*"/)) {
            text = substr(text, 1, RLENGTH)
            check_quoted(substr(text, 2, RLENGTH - 2))
        } else if (match(text, /^<[^>]*>/)) {
            text = substr(text, 1, RLENGTH)
            check_angled(substr(text, 2, RLENGTH - 2))
        } else
            offence("name the header literally, so that this check can read it")
    }
    close(file)
    files++
}

END {
    if (bad) {
        printf "check-includes: %d offence(s)\n", bad
        exit 1
    }
    printf "check-includes: %d files in order\n", files
}'
