# shellcheck shell=sh
# Sourced by tests that compare the files of runs, and by those that wait for a run.

# Every column of steps.csv but those of measured seconds, NAME_seconds, which no two runs have in common.
columns() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) measured[i] = $i ~ /_seconds$/ }
        { for (i = 1; i <= NF; i++) if (!measured[i]) printf "%s,", $i; print "" }' "$1"
}

# Files of DIR that must be equal: all but checkpoints (how many there were decides which is which), the
# state and its lock; the columns of measured seconds cut off.
fingerprint() {
    (cd "$1" && find . -type f ! -name 'checkpoint-*' ! -name run.json ! -name run.lock \
        ! -name steps.csv | LC_ALL=C sort | xargs cksum && columns steps.csv | cksum)
}

# await CONDITION: until the shell says that it holds, 10 s at most
await() {
    for moment in $(seq 100); do
        eval "$1" && return
        sleep 0.1
    done
}
