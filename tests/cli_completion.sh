#!/bin/sh
# Manual pages and completions are made of the commands' tables: every option is in them, shells accept the scripts, and
# what completes is what it should be.
set -u
failures=0
rm -rf cli_completion.work
mkdir cli_completion.work
cd cli_completion.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# ---- manual pages ----
"$TALUS" help --man man || fail "talus help --man"
commands=$("$TALUS" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail "no commands in the overview"
for command in $commands; do
    page=man/talus-$command.1
    [ -s "$page" ] || fail "no page of $command"
    # options as the help has them, with the dashes of man(7)
    "$TALUS" help "$command" | sed -n 's/^  \(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' >options
    [ -s options ] || fail "help $command has no options"
    while read -r option; do
        grep -qF "\\-\\-$(printf '%s' "$option" | sed 's/-/\\-/g')" "$page" || fail "$page lacks --$option"
    done <options
    grep -qF "\\fB$command" man/talus.1 || grep -qx ".B $command" man/talus.1 || fail "talus.1 lacks $command"
done
if command -v groff >/dev/null 2>&1; then
    for page in man/*.1; do
        groff -man -Tutf8 -ww -z "$page" >groff.out 2>&1
        [ -s groff.out ] && fail "groff: $page: $(head -n 1 groff.out)"
    done
else
    echo "groff is not there: pages were not set"
fi
"$TALUS" help --man man/talus.1 >out 2>err && fail "--man wrote to a file as to a directory"
grep -q talus.1 err || fail "--man FILE: $(cat err)"

# ---- bash ----
for shell in bash zsh fish; do
    "$TALUS" help --completion $shell >talus.$shell || fail "--completion $shell"
    command -v $shell >/dev/null 2>&1 || { echo "$shell is not there: its completion was not tried" && continue; }
    $shell -n talus.$shell 2>err || fail "$shell: $(cat err)"
done

# completes WORD LINE...: the completions of the last word of a line have WORD, on a line of its own
completes() {
    word=$1
    shift
    bash -c 'compopt() { :; }
        . ./talus.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _talus
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@" >replies 2>err
    grep -qxF -- "$word" replies || fail "bash: '$*' is not completed to '$word' but to $(tr '\n' ' ' <replies) $(cat err)"
}
if command -v bash >/dev/null 2>&1; then
    touch here.json
    mkdir folder
    completes run talus r
    completes hourglass talus run hourg
    completes here.json talus run he
    completes --solver talus run --so
    completes apgd talus run hourglass --solver ap
    completes folder talus run --resume fo
    completes scenes talus list sc
    completes zsh talus help --completion z
    completes --help talus view --h
fi
if command -v fish >/dev/null 2>&1; then
    mkdir -p home
    HOME=$PWD/home fish --no-config -c 'source talus.fish; complete -C "talus run hourg"; complete -C "talus solve --backend cu"' >replies 2>err
    grep -q '^hourglass' replies || fail "fish: scenes: $(cat replies err)"
    grep -q '^cuda-mixed' replies || fail "fish: backends: $(cat replies err)"
fi

# ---- wrong usage ----
"$TALUS" help --completion fihs >out 2>err && fail "--completion fihs was accepted"
grep -q "did you mean 'fish'" err || fail "--completion fihs: $(cat err)"
"$TALUS" help run --man man >out 2>err && fail "--man with a command was accepted"

[ $failures -eq 0 ] || exit 1
