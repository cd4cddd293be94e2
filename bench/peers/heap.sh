#!/bin/sh
# Bullet and Talus on one heap of boxes, in one process; options are those of heap.cpp, which says more.
#
# Talus is taken from build/release (another: TALUS_BUILD=DIR).
set -eu

# shellcheck source=bench/peers/in_process.sh
. "$(dirname "$0")/in_process.sh"
in_process heap 'no Bullet' libbullet-dev
exec "$bin/heap" "$@"
