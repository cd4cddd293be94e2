#!/bin/sh
# The solver of docs/adding-a-solver.md compiles as printed, and is used as the page says.
set -eu
page=$TALUS_SOURCE_DIR/docs/adding-a-solver.md

awk '/^```c solver$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >steepest.c
test "$(wc -l <steepest.c)" -gt 50
cc -std=c17 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -I "$TALUS_SOURCE_DIR/include" \
    -I "$TALUS_SOURCE_DIR/src" -c steepest.c -o steepest.o
echo "ok       the page's solver compiles"
