#!/bin/sh
# An installed program finds the scenes of its own prefix by name, also after the prefix was moved; only the program in
# the build tree uses those of the source tree.
set -u
failures=0
rm -rf cli_install.work
mkdir cli_install.work
cd cli_install.work || exit 1
root=$(pwd -P)

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

command -v cmake >/dev/null 2>&1 || { echo "skipped: there is no cmake" && exit 77; }
cmake --install "$TALUS_BUILD_DIR" --prefix "$root/prefix" >log 2>&1 || {
    cat log
    echo "FAILED: cmake --install"
    exit 1
}
installed=prefix/bin/talus
scenes=prefix/share/talus/scenes
[ -x $installed ] && [ -d $scenes ] || fail "not installed: $(find prefix -maxdepth 3)"

# The installed scenes are told from the source tree's by what stands in them.
sed 's/"title": *"[^"]*"/"title": "From the prefix"/' "$TALUS_SOURCE_DIR/scenes/box-stack.json" >$scenes/box-stack.json
cp $scenes/box-stack.json $scenes/only-here.json
rm $scenes/dominoes.json

mkdir away && cd away || exit 1 # where no folder `scenes` is


check() { # check PROGRAM: it has the scenes of its prefix and no others
    "$1" list scenes >list 2>err || fail "$1 list scenes: $(cat err)"
    grep -q "^  only-here " list || fail "$1: only-here is not listed"
    grep -q "^  dominoes " list && fail "$1: dominoes is listed, from elsewhere"
    "$1" info dominoes >said 2>err && fail "$1: opens dominoes, from elsewhere"
    "$1" run only-here --until 0.01 --no-out --json --quiet >said 2>err || fail "$1 run only-here: $(cat err)"
    "$1" info box-stack >said 2>err || fail "$1 info box-stack: $(cat err)"
    grep -q "From the prefix" said || fail "$1 info box-stack: $(cat said)"
    "$1" run mesh-silo --until 0.001 --no-out --quiet 2>err || fail "$1 run mesh-silo, with its mesh: $(cat err)"
}

check "$root/$installed"
mv ../prefix ../moved
check "$root/moved/bin/talus"
ln -s "$root/moved/bin/talus" link # as in a folder of PATH
check ./link
PATH=$root/moved/bin:$PATH
check talus

# the build tree's
"$TALUS" list scenes >list || fail "list scenes"
grep -q "^  only-here " list && fail "the build tree's program lists scenes of a prefix"
grep -q "^  dominoes " list || fail "the build tree's program does not list the source tree's"

# a program on its own has none, and says what it expected
cp "$root/moved/bin/talus" alone
./alone info box-stack >said 2>err && fail "a program without its prefix opens $(cat said)"
grep -q "no scene 'box-stack'" err || fail "a program without its prefix: $(cat err)"
# where the user is, there may be scenes too
mkdir scenes && cp "$TALUS_SOURCE_DIR/scenes/box-stack.json" scenes/here.json
./alone info here >said 2>err || fail "a scene in ./scenes: $(cat err)"

[ $failures -eq 0 ] && echo "cli_install: passed"
[ $failures -eq 0 ]
