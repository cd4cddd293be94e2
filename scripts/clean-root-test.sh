#!/bin/sh
# Does a fresh Debian 12 machine suffice? clean-root-test.sh [--worktree | --files DIR] [COMMAND...]
#
# Makes a minimal Debian 12 root (debootstrap, variant minbase), puts a clean clone of this repository
# into it with ../shared beside it, and runs there, with timing, `./dev run` and then `./dev test`, or
# each COMMAND instead (one argument each, e.g. 'scripts/setup.sh run').
#   --worktree   take the files of the working tree (not the ignored ones) instead of a clone of HEAD
#   --files DIR  take the files of DIR instead, and no ../shared
# Environment:
#   TALUS_CLEAN_CACHE   where the root is cached as a tarball   (default ~/.cache/talus)
#   TALUS_CLEAN_DIR     in which folder a root is unpacked; needs 4 GiB (default /var/tmp)
#   TALUS_CLEAN_KEEP    if not empty, the root is left in place
# Needs root, debootstrap, git and unshare. Package sources, keys, proxies and name resolution are the
# host's, copied when the script runs.
set -eu

repo=$(cd "$(dirname "$0")/.." && pwd -P)
suite=bookworm
cache=${TALUS_CLEAN_CACHE:-${HOME:-/root}/.cache/talus}
tarball=$cache/$suite-minbase-$(dpkg --print-architecture).tar

say() { printf 'clean-root: %s\n' "$*"; }

# ---- Second half: inside a mount namespace of its own, so that no mount outlives this process ----
if [ "${1:-}" = --inside ]; then
    root=$2
    shift 2
    mount -t proc proc "$root/proc"
    for command; do
        say "$command"
        start=$(date +%s)
        status=0
        chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
            ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
            /bin/sh -c "cd /talus && $command" </dev/null || status=$?
        say "$command: exit status $status after $(($(date +%s) - start)) s"
        [ $status -eq 0 ] || exit $status
    done
    exit 0
fi

worktree=no files=
if [ "${1:-}" = --worktree ]; then
    worktree=yes
    shift
elif [ "${1:-}" = --files ]; then
    files=$2
    shift 2
fi
if [ $# -eq 0 ]; then set -- './dev run' './dev test'; fi
if [ "$(id -u)" -ne 0 ]; then
    say "needs root: sudo sh scripts/clean-root-test.sh" >&2
    exit 1
fi
for tool in debootstrap git unshare; do
    if ! command -v $tool >/dev/null 2>&1; then
        say "$tool is missing: apt-get install -y debootstrap git util-linux" >&2
        exit 1
    fi
done

root=$(mktemp -d "${TALUS_CLEAN_DIR:-/var/tmp}/talus-root.XXXXXX")
cleanup() {
    if [ -n "${TALUS_CLEAN_KEEP:-}" ]; then say "root kept in $root"; else rm -rf "$root"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if [ ! -f "$tarball" ]; then
    # The host's first binary package source that carries the suite itself, as apt sees it.
    # shellcheck disable=SC2016 # apt's own variables
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
        awk -v suite=$suite '$2 == suite { print $1; exit }')
    if [ -z "$mirror" ]; then
        say "no package source of this host carries $suite" >&2
        exit 1
    fi
    say "making a minimal $suite root (cached in $tarball)"
    mkdir -p "$cache"
    rm -rf "$tarball.root"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}"
    debootstrap --variant=minbase "$suite" "$tarball.root" "$mirror" >"$tarball.log" || {
        tail -n 20 "$tarball.log" >&2
        exit 1
    }
    rm -f "$tarball.root"/var/cache/apt/archives/*.deb
    tar -C "$tarball.root" -cf "$tarball.part" .
    mv "$tarball.part" "$tarball"
    rm -rf "$tarball.root"
fi

say "unpacking into $root"
tar -C "$root" -xf "$tarball"

# The host's way to packages: sources, apt configuration, keys, name resolution.
rm -f "$root/etc/apt/sources.list"
for path in apt/sources.list apt/sources.list.d apt/apt.conf apt/apt.conf.d apt/keyrings \
    apt/trusted.gpg apt/trusted.gpg.d apt/preferences apt/preferences.d resolv.conf hosts; do
    if [ -e "/etc/$path" ]; then
        rm -rf "${root:?}/etc/$path"
        cp -rL "/etc/$path" "$root/etc/$path"
    fi
done
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
    mkdir -p "$root/etc/ssl/certs"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi

if [ -n "$files" ]; then
    say "copying $files"
    cp -r "$files" "$root/talus"
elif [ $worktree = yes ]; then
    say "copying the working tree"
    mkdir -p "$root/talus"
    (cd "$repo" && git ls-files -z --cached --others --exclude-standard |
        tar --null -T - --ignore-failed-read -cf -) |
        tar -C "$root/talus" --no-same-owner -xf -
else
    say "cloning $(git -C "$repo" rev-parse --short HEAD)"
    git clone --quiet --no-hardlinks "$repo" "$root/talus"
fi
if [ -z "$files" ] && [ -d "$repo/../shared" ]; then cp -r "$repo/../shared" "$root/shared"; fi

unshare --mount --propagation private sh "$0" --inside "$root" "$@"
