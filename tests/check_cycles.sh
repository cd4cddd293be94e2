# The cycle checker accepts this tree and a good one, and catches each kind of circle.
set -eu
checker=$TALUS_SOURCE_DIR/scripts/check-cycles.sh
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# put FILE: standard input, as a file of the tree that is looked at.
put() {
    mkdir -p "tree/${1%/*}"
    cat >"tree/$1"
}

# finds 'LINE'...: the tree is refused and each line reported, and nothing else.
finds() {
    if sh "$checker" tree >report 2>&1; then fail "accepted a tree with: $1"; fi
    for line in "$@"; do
        grep -qxF "$line" report || fail "no report of: $line"
    done
    if [ "$(wc -l <report)" -ne $(($# + 1)) ]; then
        fail "reported more than: $*"
        cat report
    fi
    rm -rf tree
}

# accepts: the tree is in order.
accepts() {
    sh "$checker" tree >report 2>&1 || {
        fail "refused: $1"
        cat report
    }
    rm -rf tree
}

# Two functions that call each other; main and leaf are beside the circle, not on it.
put src/base/a.c <<'END2'
int a_go(int depth)
{
    return depth ? b_go(depth - 1) : leaf();
}
END2
put src/base/b.c <<'END2'
int b_go(
    int depth)
{
    return depth ? a_go(depth - 1) : 0;
}
END2
put src/base/leaf.c <<'END2'
int leaf(void)
{
    return 1;
}
END2
put apps/cli/main.c <<'END2'
int main(void)
{
    return a_go(3);
}
END2
finds 'src/base/a.c: needs src/base/b.c: b_go' 'src/base/b.c: needs src/base/a.c: a_go'

# By way of a table, a variable, a pointer to an array, a macro, a kernel, and across folders.
put src/base/a.c <<'END2'
#define GO(x) b_table[x]
const double (*a_rows(void))[3]
{
    return GO(0);
}
END2
put src/linalg/b.cu <<'END2'
const Row b_table[] = {
    {"c", c_limit},
};
END2
put src/linalg/c.c <<'END2'
int c_limit = 3, c_other;
struct C {
    int x;
};
void c_go(void)
{
    use(a_rows());
}
END2
finds 'src/base/a.c: needs src/linalg/b.cu: b_table' 'src/linalg/b.cu: needs src/linalg/c.c: c_limit' \
    'src/linalg/c.c: needs src/base/a.c: a_rows'

# Headers that include each other, as they may be written.
put src/base/a.h <<'END2'
#include "b.h"
END2
put src/base/b.h <<'END2'
#  include "linalg/c.h" // why
END2
put src/linalg/c.h <<'END2'
#include "base/a.h"
#include "missing.h"
END2
finds 'src/base/a.h: needs src/base/b.h: #include' 'src/base/b.h: needs src/linalg/c.h: #include' \
    'src/linalg/c.h: needs src/base/a.h: #include'
put include/talus/a.h <<'END2'
#include <talus/b.h>
END2
put include/talus/b.h <<'END2'
#include <talus/a.h>
END2
finds 'include/talus/a.h: needs include/talus/b.h: #include' \
    'include/talus/b.h: needs include/talus/a.h: #include'

# What is static, declared, a member, a label, in a comment or a string makes no circle; nor does an alternate.
put src/base/kernel.h <<'END2'
#define KERNEL static inline
END2
put src/base/a.c <<'END2'
#include "kernel.h"
extern int shared;
int declared(int);
static int twice(int x)
{
    return 2 * x;
}
KERNEL int quick(int x)
{
    return twice(x);
}
int a_go(B *b)
{
    /* b_go(1)
       b_go(2) */
    b->b_go = quick(b.b_go) + b_other('"'); // b_go(3)
    log("b_go \" b_go");
done:
    return declared(shared);
}
END2
put src/base/b.c <<'END2'
KERNEL int quick(int x)
{
    return x;
}
static int twice(int x)
{
    a_go(x);
done:
    return quick(x);
}
int b_go(int x)
{
    return twice(x);
}
typedef struct shared declared;
END2
put src/base/b_none.c <<'END2'
int b_other(int x)
{
    return a_go(x);
}
END2
accepts 'a tree without circles'

if sh "$checker" nowhere >/dev/null 2>&1; then fail "accepted a missing root"; fi
sh "$checker" "$TALUS_SOURCE_DIR" || fail "this source tree has circles"

exit $failed
