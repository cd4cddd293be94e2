#!/bin/sh
# The solver of docs/how-to/adding-a-solver.md compiles as printed and, with the page's line in the table, is found by
# its name, takes its parameter, and solves a step of a scene with friction and one without.
set -eu
page=$TALUS_SOURCE_DIR/docs/how-to/adding-a-solver.md

awk '/^```c solver$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >steepest.c
test "$(wc -l <steepest.c)" -gt 50
compile() {
    cc -std=c17 -Wall -Wextra -Werror -O2 -ffp-contract=off -D_POSIX_C_SOURCE=200809L "$@" \
        -I "$TALUS_SOURCE_DIR/include" -I "$TALUS_SOURCE_DIR/src"
}
compile -c steepest.c -o steepest.o
echo "ok       the page's solver compiles"
if [ -n "${TALUS_SANITIZE:-}" ]; then
    echo "skipped  running it: the library is built for a sanitizer"
    exit 0
fi

# The page's line, in a copy of the table for a solver.c that is linked in place of the library's.
row='TALUS_SOLVER(steepest)'
grep -qF "$row" "$page"
mkdir -p solvers/driver
{ cat "$TALUS_SOURCE_DIR/src/solvers/driver/table.h" && echo "$row"; } >solvers/driver/table.h
cp "$TALUS_SOURCE_DIR/src/solvers/driver/solver.c" solver.c
cat >main.c <<'END'
#include <stdio.h>
#include <talus/talus.h>

int main(int argc, char **argv)
{
    TalusProblem *problem;
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusMetrics zero;
    TalusSolveOptions options = talus_solve_options_default();
    if (argc != 2 || talus_problem_read(argv[1], NULL, &problem) != TALUS_OK ||
        talus_solver_create("steepest:step=1.5", &solver) != TALUS_OK ||
        talus_problem_measure(problem, talus_problem_gamma(problem), &zero) != TALUS_OK) {
        printf("%s\n", talus_error());
        return 1;
    }
    options.tolerance = 1e-4 * zero.natural_at_zero;
    if (talus_solver_solve(solver, problem, &options, &info) != TALUS_OK)
        return 1;
    printf("%s: %s: %s after %d iterations\n", argv[1], info.solver,
           talus_outcome_name(info.outcome), info.iterations);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    return info.outcome != TALUS_OUTCOME_CONVERGED;
}
END
# shellcheck disable=SC2086 # words
compile -I . main.c solver.c steepest.o "$TALUS_BUILD_DIR/libtalus.a" $TALUS_LINK -lm -lpthread -o try
"$TALUS" extract settle-box --set bodies=27 --at 0.4 -o rough.talus >/dev/null
"$TALUS" extract settle-box --set bodies=27 --set mu=0 --at 0.4 -o smooth.talus >/dev/null
./try rough.talus
./try smooth.talus
echo "ok       and solves problems with the page's line"
