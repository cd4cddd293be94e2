#!/bin/sh
# Do the Debian packages suffice? packages-test.sh
#
# Builds them from a clean export of HEAD, lets lintian judge them, installs them into a minimal Debian 12 root without any
# source (clean-root-test.sh), and runs debian/tests there; strace sees that the program reads nothing of the tree that it was
# built in. The packages are left in build/packages.
# Needs root, what clean-root-test.sh needs, dpkg-dev, lintian and the packages of Build-Depends in debian/control.
set -eu

repo=$(cd "$(dirname "$0")/.." && pwd -P)
out=$repo/build/packages
say() { printf 'packages: %s\n' "$*"; }

for tool in dpkg-buildpackage lintian; do
    if ! command -v $tool >/dev/null 2>&1; then
        say "$tool is missing: apt-get install -y dpkg-dev lintian debhelper" >&2
        exit 1
    fi
done

tree=$(mktemp -d "${TMPDIR:-/tmp}/talus-packages.XXXXXX")
trap 'rm -rf "$tree"' EXIT
trap 'exit 130' INT TERM

say "building $(git -C "$repo" rev-parse --short HEAD)"
mkdir "$tree/talus"
git -C "$repo" archive HEAD | tar -C "$tree/talus" -xf -
(cd "$tree/talus" && dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes) >"$tree/log" 2>&1 || {
    tail -n 30 "$tree/log" >&2
    exit 1
}
rm -rf "$out"
mkdir -p "$out"
mv "$tree"/*.deb "$tree"/*.changes "$tree"/*.buildinfo "$out"
say "lintian"
lintian --allow-root --fail-on error,warning "$out"/*.changes

say "a root with the packages alone"
mkdir "$tree/files"
cp "$out"/*.deb "$repo"/debian/tests/* "$tree/files"
rm "$tree"/files/*-dbgsym_*.deb
sh "$repo/scripts/clean-root-test.sh" --files "$tree/files" \
    'apt-get -qq update && apt-get -qq install -y ./*.deb gcc cmake make pkg-config libc6-dev strace >/dev/null' \
    'rm ./*.deb && sh ./program' \
    'sh ./library' \
    'sh ./python' \
    "cd /tmp && strace -f -o calls -e trace=open,openat,execve,stat talus run hourglass --until 0.02 --quiet --out traced &&
        grep -q /usr/share/talus/scenes/hourglass calls && ! grep -F '$tree' calls"
say "the packages suffice"
