# The checker of errors accepts this tree and a good one, and catches each way of reading an error's text.
set -eu
checker=$TALUS_SOURCE_DIR/scripts/check-errors.sh
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# put FILE TEXT
put() {
    rm -rf tree
    mkdir -p "tree/${1%/*}"
    printf '%s\n' "$2" >"tree/$1"
}

# offends FILE TEXT LINE 'PART OF THE RULE'
offends() {
    put "$1" "$2"
    if sh "$checker" tree >report 2>&1; then
        fail "accepted: $2"
    elif ! grep -F "$1:$3:" report | grep -qF "$4"; then
        fail "no report of '$4' at $1:$3 for $2"
        cat report
    fi
}

passes() {
    put "$1" "$2"
    sh "$checker" tree >report 2>&1 || fail "refused: $2: $(cat report)"
}

offends src/io/a.c 'if (strstr(talus_error(), "no solver")) x();' 1 'looks into'
offends src/io/a.c 'int n = strncmp(talus_error(), prefix, strlen(prefix));' 1 'looks into'
offends apps/cli/a.c 'if (strcmp(name(x), talus_error()) == 0) x();' 1 'looks into'
offends apps/cli/a.c "$(printf 'a();\nif (strncmp(\n        talus_error(),\n        "--set ", 6) == 0)\n    b();')" 2 'looks into'
offends apps/cli/a.c 'x = strchr(talus_error_record()->text, 58);' 1 'looks into'
offends apps/cli/a.c 'say("%s", talus_error() + 8);' 1 'takes the text'
offends src/world/a.c 'if (talus_error()[0] == 0) x();' 1 'takes the text'
offends src/world/a.c 'if (*talus_error()) x();' 1 'takes the text'
offends src/world/a.c 'const char *text = talus_error();' 1 'keeps a pointer'
offends apps/cli/a.c 'all = strstr(row.accepts, " x ") == 0;' 1 'what a solver takes'
offends apps/cli/a.c 'all = !strstr(rows[i]->accepts, "joints");' 1 'what a solver takes'

passes src/base/status.c 'if (strstr(talus_error(), "x")) y();'
passes src/io/a.c 'snprintf(why, sizeof why, "%s", talus_error());'
passes src/io/a.c 'return talus_fail(status, "part %d: %s", k, talus_error());'
passes src/io/a.c '/* strstr(talus_error(), "x") would be wrong */ int a;'
passes src/io/a.c "$(printf '/* strstr(\n * talus_error()) */\nint a;')"
passes apps/cli/a.c 'say("strstr(talus_error())"); printf("%s", row.accepts);'
passes apps/cli/a.c 'memcpy(to, from, strlen(from)); talus_error_restore(&kept);'
passes apps/cli/a.c 'TalusError kept = *talus_error_record();'

rm -rf tree && mkdir tree
sh "$checker" tree >report 2>&1 && fail "accepted a tree without sources"
sh "$checker" "$TALUS_SOURCE_DIR" >report 2>&1 || fail "this tree: $(cat report)"
exit $failed
