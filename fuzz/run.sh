#!/bin/sh
# Fuzzes the readers of FCLIB, frames, STL and OBJ files, and the server: run.sh BUILD SECONDS
#   BUILD     a build folder made with TALUS_FUZZ (./dev build fuzz)
#   SECONDS   for each target
# Fails on any finding, but for those of fclib_bytes that are libhdf5's.
set -eu

build=$1
seconds=$2
work=$build/fuzz/work
here=$(cd "$(dirname "$0")" && pwd -P)

say() { printf 'fuzz: %s\n' "$*" >&2; }

rm -rf "$work/found"
mkdir -p "$work/found"
sh "$here/corpus.sh" "$build/talus" "$work"
export ASAN_OPTIONS=allocator_may_return_null=1

say "fclib_content for $seconds s"
"$build/fuzz/talus_fuzz_fclib_content" "$work/content" -max_len=4096 \
    -max_total_time="$seconds" -artifact_prefix="$work/found/content-" -print_final_stats=1

say "frames_bytes for $seconds s"
"$build/fuzz/talus_fuzz_frames_bytes" "$work/frames" -max_len=8192 -rss_limit_mb=2048 \
    -timeout=20 -max_total_time="$seconds" -artifact_prefix="$work/found/frames-" \
    -print_final_stats=1

for kind in stl obj; do
    say "surface_$kind for $seconds s"
    "$build/fuzz/talus_fuzz_surface_$kind" "$work/$kind" -max_len=4096 -timeout=20 \
        -max_total_time="$seconds" -artifact_prefix="$work/found/$kind-" -print_final_stats=1
done

say "http_request for $seconds s"
"$build/fuzz/talus_fuzz_http_request" "$work/requests" -max_len=4096 -timeout=20 \
    -max_total_time="$seconds" -artifact_prefix="$work/found/request-" -print_final_stats=1

say "run_files for $seconds s"
"$build/fuzz/talus_fuzz_run_files" "$work/files" -max_len=16384 -timeout=20 \
    -max_total_time="$seconds" -artifact_prefix="$work/found/files-" -print_final_stats=1

if "$build/talus" list features | grep -A1 civetweb | grep -q "not in this build"; then
    say "http: this build has no server (Debian: libcivetweb-dev), skipped"
else
    say "http for $seconds s"
    sh "$here/http.sh" "$build" "$seconds"
fi

# libhdf5 fails on some of what this makes, so it goes on after a finding; leaks are libhdf5's too.
say "fclib_bytes for $seconds s"
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
(cd "$work/found" && "$build/fuzz/talus_fuzz_fclib_bytes" "$work/bytes" -max_len=40000 -fork=1 \
    -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1 -malloc_limit_mb=0 -rss_limit_mb=4096 \
    -timeout=20 -max_total_time="$seconds") || say "fclib_bytes found something"

# Where a crash is in libhdf5, the innermost frame that is no sanitizer's is libhdf5's.
status=0
for file in "$work"/found/*; do
    [ -f "$file" ] || continue
    "$build/fuzz/talus_fuzz_fclib_bytes" -malloc_limit_mb=0 -timeout=20 "$file" >"$work/log" 2>&1 ||
        true
    frame=$(grep -E '^ *#[0-9]+ ' "$work/log" | grep -vE 'sanitizer|asan|interceptor|fuzzer::|libc\.so|/sysdeps/| in (m|c|re)alloc ' |
        head -n 1)
    case $frame in
    *libhdf5*) say "in libhdf5: ${file##*/}: ${frame#*in }" ;;
    "") say "not repeated: ${file##*/}" ;;
    *)
        say "in Talus: ${file##*/}: $frame"
        status=1
        ;;
    esac
done
if [ $status -eq 0 ]; then say "clean"; fi
exit $status
