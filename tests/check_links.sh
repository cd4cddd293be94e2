# The checker of links accepts this tree and a good one, and catches each kind of offence.
set -eu
checker=$TALUS_SOURCE_DIR/scripts/check-links.sh
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# tree: a sound one, to which an offence is added
tree() {
    rm -rf tree
    mkdir -p tree/docs/how-to tree/src/io tree/build
    printf '# Index\n\n[a](how-to/a.md)\n' >tree/docs/index.md
    printf '# Page a\n\n## To begin with: one, two\n\n[up](../index.md#index) [here](#to-begin-with-one-two) [x](https://x.y/z)\n' \
        >tree/docs/how-to/a.md
    printf '```\n[no link](nowhere.md)\n```\n`[nor here](nowhere.md)`, [folder](docs)\nsrc/io/a.c, src/io/NAME.c, x.json\n' >tree/README.md
    echo '/* docs/how-to/a.md tells more. */' >tree/src/io/a.c
    echo '[not looked at](nowhere.md)' >tree/build/a.md
}

# offends FILE LINE TEXT 'PART OF THE RULE': the text, appended to FILE, is reported there.
offends() {
    tree
    printf '%s\n' "$3" >>"tree/$1"
    if sh "$checker" tree >report 2>&1; then
        fail "accepted: $3"
    elif ! grep -F "$1:$2:" report | grep -qF "$4"; then
        fail "no report of '$4' at $1:$2 for $3"
        cat report
    fi
}

tree
sh "$checker" tree >report 2>&1 || fail "rejected a good tree: $(cat report)"

offends docs/how-to/a.md 6 '[b](b.md)' 'b.md: no such file'
offends docs/how-to/a.md 6 '[root](/docs/index.md) [out](../../../x.md)' '../../../x.md: no such file'
offends docs/how-to/a.md 6 '[good](a.md), ![bad](../img/a.png)' '../img/a.png: no such file'
offends docs/how-to/a.md 6 '[b](../index.md#other)' 'no such heading'
offends docs/how-to/a.md 6 '[b](#other)' 'no such heading'
offends README.md 6 '[b](docs/b.md)' 'no such file'
offends src/io/a.c 2 '/* docs/a.md */' 'docs/a.md: no such page'
offends docs/how-to/a.md 6 '`src/io/a.c`, src/io/b.c and c.h' 'src/io/b.c: no such source file'
offends README.md 6 '(src/io/a.h)' 'src/io/a.h: no such source file'
tree
echo 'new' >tree/docs/how-to/b.md
if sh "$checker" tree >report 2>&1 || ! grep -q 'how-to/b.md: not listed' report; then fail "a page outside the index: $(cat report)"; fi
tree
seq 160 >>tree/README.md
if sh "$checker" tree >report 2>&1 || ! grep -q 'at most 150' report; then fail "a long README.md: $(cat report)"; fi

rm -rf tree && mkdir tree
if sh "$checker" tree >/dev/null 2>&1; then fail "accepted a tree without docs/index.md"; fi
sh "$checker" "$TALUS_SOURCE_DIR" >report 2>&1 || fail "this tree: $(cat report)"
exit $failed
