# The include checker accepts this tree and a good one, and catches each kind of offence.
set -eu
checker=$TALUS_SOURCE_DIR/scripts/check-includes.sh
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# offends FILE 'INCLUDE LINE' 'PART OF THE RULE': the line, alone in FILE, is reported as FILE:1.
offends() {
    rm -rf bad
    mkdir -p "bad/${1%/*}"
    printf '%s\n' "$2" >"bad/$1"
    if sh "$checker" bad >report 2>&1; then
        fail "accepted: $1: $2"
    elif ! grep -F "$1:" report | grep -qF "$3"; then
        fail "no report of '$3' for $1: $2"
        cat report
    fi
}

offends src/base/a.c '#include "world/world.h"' 'base may not include world'
offends src/sets/a.h '  #  include "problem/problem.h"' 'sets may not include problem'
offends src/solvers/a.c '#include "world/world.h" // why' 'solvers may not include world'
offends src/solvers/a.c '#include <cuda_runtime.h>' 'solvers may not include CUDA or MPI'
offends src/solvers/a.c '#include <mpi.h>' 'solvers may not include CUDA or MPI'
offends src/solvers/a.c '#include "backend/cuda/kernels.h"' 'solvers may not include CUDA or MPI'
offends src/problem/a.c '#include "backend/cpu/cpu.h"' 'headers of one backend are its own'
offends apps/cli/a.c '#include "backend/cuda/device/device.h"' 'headers of one backend are its own'
offends src/engine/cpu/a.c '#include "backend/cuda/device/device.h"' 'headers of one backend are its own'
offends apps/cli/a.c '#include "lab/missing.h"' 'is no folder of src/'
offends src/linalg/a.c '#include "backend/operator.h"' 'linalg may not include backend'
offends src/base/a.c '#include "../world/world.h"' 'relative to src/'
offends src/base/a.c '#include "./a.h"' 'relative to src/'
offends src/base/a.c '#include "missing.h"' 'no such file beside this one'
offends src/backend/cpu/a.c '#include "cpu/b.h"' 'is no folder of src/'
offends src/base/a.c '#include "talus/base.h"' 'included as <talus/x.h>'
offends src/io/a.c '#include <world/world.h>' 'included as "folder/file.h"'
offends src/io/a.c '#include WORLD_H' 'literally'
offends include/talus/a.h '#include "base.h"' 'include one another as <talus/x.h>'
offends include/talus/a.h '#include <base/log.h>' 'included as "folder/file.h"'
offends apps/verify/a.c '#include "sets/cone.h"' 'the verifier shares no code with src/'
offends src/extras/a.c '' 'belongs in a folder of src/'
offends src/a.c '' 'belongs in a folder of src/'

mkdir -p good/src/base good/src/backend/cpu good/src/engine/cpu good/src/solvers good/apps/cli good/apps/lab good/apps/verify \
    good/include/talus
cat >good/src/solvers/a.c <<'END'
#include "a.h"
#include "backend/backend.h"
#include "base/log.h"
#include <math.h>
#include <talus/solver.h>
// #include "world/world.h"
const char *s = "#include \"world/world.h\"";
END
touch good/src/solvers/a.h
echo '#include "backend/cpu/b.h"' >good/src/backend/cpu/b.c
printf '#include "io/scene/scene.h"\n#include "verify/verify.h"\n' >good/apps/cli/main.c
touch good/apps/lab/lab.h
echo '#include "lab/lab.h"' >good/apps/cli/bench.c
echo '#include "backend/cpu/b.h"' >good/src/engine/cpu/a.c
echo '#include "verify.h"' >good/apps/verify/a.c
touch good/apps/verify/verify.h
echo '#include <talus/base.h>' >good/include/talus/world.h
sh "$checker" good || fail "rejected a good tree"

if sh "$checker" nowhere >/dev/null 2>&1; then fail "accepted a missing root"; fi
sh "$checker" "$TALUS_SOURCE_DIR" || fail "this source tree is out of order"

exit $failed
