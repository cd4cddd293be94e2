/* plugins/tao.c - the module talus_tao.so: bound constrained quadratic programs by PETSc's TAO.
 *
 * PETSc requires MPI, which is started as a single process, without network and daemons (mpi_settings), unless mpirun has
 * started this process or ranks use MPI already; all PETSc objects are on PETSC_COMM_SELF. PETSc is kept from printing,
 * aborting, catching signals and reading options files. Errors of PETSc become texts in the result. The memory that PETSc
 * allocates is counted. Only one thread may use the module at a time. */
#include "solvers/tao/tao_module.h"

#include <dlfcn.h>
#include <malloc.h>
#include <petscksp.h>
#include <petsctao.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(PetscInt) == sizeof(int32_t), "the module shares arrays of indices");
_Static_assert(sizeof(PetscScalar) == sizeof(double), "the module shares arrays of numbers");

#define TO_TEXT(x) #x
#define TEXT(x) TO_TEXT(x)

/* PETSc's names of the methods of TalusTaoMethod. */
static const char *const types[] = {TAOBLMVM, TAOTRON, TAOGPCG, TAOBQPIP};

/* One solve, with the data that PETSc's callbacks need. */
typedef struct Run {
    const TalusTaoProblem *problem;
    Vec x, lower, upper;                       /* on the arrays of the problem */
    Mat hessian;                               /* NULL for blmvm */
    PetscErrorCode (*multiply)(Mat, Vec, Vec); /* PETSc's product with the Hessian */
    Tao tao;
    void *default_test; /* data of KSPConvergedDefault, PETSc's rule for conjugate gradients */
    bool ended;         /* the callback `iterated` returned false: end the solve */
    bool stop;          /* the callback `multiplied` returned false: end the conjugate gradients */
    /* True if conjugate gradients multiply by the Hessian itself (bqpip), so that multiply_counted counts their
     * products. Otherwise they multiply by a part of it, and test_inner_convergence counts their steps. */
    bool counted;
} Run;

/* The solve that is running, the innermost one where a callback has started another; NULL: none. */
static Run *current;

/* ---- memory ---- */

/* Bytes that PETSc holds. */
typedef struct Memory {
    size_t now, peak; /* at present; largest since the start of the solve */
    size_t limit;     /* allocations beyond it are refused; 0: no limit */
    /* Bytes of a failed allocation, noted because PETSc does not always return its error; 0: none. */
    size_t refused;
} Memory;

static Memory memory;

/* Adds `more` bytes and subtracts `less`; updates the peak. */
static void count_memory(size_t more, size_t less)
{
    memory.now += more;
    memory.now -= less < memory.now ? less : memory.now;
    memory.peak = memory.now > memory.peak ? memory.now : memory.peak;
}

/* PETSc's malloc: aligned and counted memory; refuses what exceeds the limit. Size 0 gives NULL. */
static PetscErrorCode allocate_counted(size_t size, PetscBool clear, int line,
                                       const char function[], const char file[], void **out)
{
    (void)line, (void)function, (void)file;
    *out = NULL;
    if (size == 0)
        return 0;
    if ((memory.limit > 0 && memory.now + size > memory.limit) ||
        posix_memalign(out, PETSC_MEMALIGN, size) != 0) {
        *out = NULL;
        memory.refused = size;
        return PETSC_ERR_MEM;
    }
    if (clear)
        memset(*out, 0, size);
    count_memory(malloc_usable_size(*out), 0);
    return 0;
}

/* PETSc's free. */
static PetscErrorCode free_counted(void *block, int line, const char function[], const char file[])
{
    (void)line, (void)function, (void)file;
    count_memory(0, block ? malloc_usable_size(block) : 0);
    free(block);
    return 0;
}

/* PETSc's realloc. */
static PetscErrorCode resize_counted(size_t size, int line, const char function[],
                                     const char file[], void **block)
{
    void *fresh;
    PetscErrorCode error = allocate_counted(size, PETSC_FALSE, line, function, file, &fresh);
    if (error)
        return error;
    if (*block && fresh) {
        size_t had = malloc_usable_size(*block);
        memcpy(fresh, *block, had < size ? had : size);
    }
    free_counted(*block, line, function, file);
    *block = fresh;
    return 0;
}

/* ---- errors ---- */

/* The first error of a solve. */
typedef struct FirstError {
    PetscErrorCode code; /* 0: none */
    char text[TALUS_TAO_TEXT];
} FirstError;

static FirstError first_error;

/* Error handler in place of PETSc's, which prints. PETSc calls it for every function that passes an error on to its
 * caller; it records code and text where the first error of a solve arises. */
static PetscErrorCode record_error(MPI_Comm comm, int line, const char *function, const char *file,
                                   PetscErrorCode code, PetscErrorType type, const char *message,
                                   void *user)
{
    (void)comm, (void)line, (void)file, (void)user;
    if (type == PETSC_ERROR_INITIAL && !first_error.code) {
        first_error.code = code;
        snprintf(first_error.text, sizeof first_error.text, "%s: %s", function ? function : "PETSc",
                 message && *message ? message : "no reason given");
    }
    return code;
}

/* Writes end and text of a failed solve to the result: refused memory, else the first recorded error, else PETSc's
 * general text for `code`. */
static void report_error(PetscErrorCode code, TalusTaoResult *result)
{
    const char *general = NULL;
    result->end = TALUS_TAO_FAILED;
    if (memory.refused > 0) {
        result->end = TALUS_TAO_MEMORY;
        snprintf(result->text, sizeof result->text, "no memory for %zu bytes more than %zu",
                 memory.refused, memory.now);
        return;
    }
    if (first_error.code) {
        snprintf(result->text, sizeof result->text, "%s", first_error.text);
        return;
    }
    PetscErrorMessage(code, &general, NULL);
    snprintf(result->text, sizeof result->text, "PETSc's error %d: %s", (int)code,
             general ? general : "unknown");
}

/* ---- start and end ---- */

/* Environment variables by which MPI runs as a single process, without daemon, network and signal handlers. Variables
 * that the user has set keep their values. */
static const char *const mpi_settings[][2] = {
    {"OMPI_MCA_ess_singleton_isolated", "1"},
    {"OMPI_MCA_orte_create_session_dirs", "0"}, /* MPI ends the process if it cannot make them */
    {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "self"},
    {"OMPI_MCA_osc", "^ucx"},
    {"OMPI_MCA_opal_signal", ""},
    {"OMPI_MCA_mpi_yield_when_idle", "1"},
    {"OMPI_MCA_mpi_warn_on_fork", "0"},
};
enum { SETTINGS = sizeof mpi_settings / sizeof *mpi_settings };

static pid_t opened_by; /* the process that has started PETSc */

/* Ends PETSc when the process exits. */
static void finish_petsc(void)
{
    if (getpid() == opened_by) /* a forked child runs atexit handlers too */
        PetscFinalize();
}

/* Starts PETSc and MPI, with the functions of this file for memory. Sets mpi_settings in the environment meanwhile, unless
 * mpirun has started the process, which is then one of several. MPI may serve ranks later, from one thread at a time
 * (talus_ranks_run_mpi). */
static PetscErrorCode start_petsc(void)
{
    const bool alone = !getenv("OMPI_COMM_WORLD_SIZE");
    bool set[SETTINGS];
    for (int i = 0; i < SETTINGS; i++) {
        set[i] = alone && !getenv(mpi_settings[i][0]);
        if (set[i])
            setenv(mpi_settings[i][0], mpi_settings[i][1], 0);
    }
    PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_SERIALIZED;
    PetscErrorCode error = PetscMallocSet(allocate_counted, free_counted, resize_counted);
    if (!error)
        error = PetscOptionsSetValue(NULL, "-no_signal_handler", "1");
    if (!error)
        error = PetscOptionsSetValue(NULL, "-skip_petscrc", "1");
    if (!error)
        error = PetscOptionsSetValue(NULL, "-mat_cholmod_print", "0");
    if (!error)
        error = PetscInitializeNoArguments();
    for (int i = 0; i < SETTINGS; i++)
        if (set[i])
            /* so that programs started later do not inherit the setting */
            unsetenv(mpi_settings[i][0]);
    return error;
}

/* True if the program has an environ of its own, a copy beside libc's, as the linker makes it for x86-64 programs whose
 * code refers to environ and is not compiled by -fPIC. MPI then sees two, and frees the memory of one twice. */
static bool has_environ_copy(void)
{
    extern char **environ;
    /* not RTLD_DEFAULT, which would begin with this module's libraries */
    void *program = dlopen(NULL, RTLD_NOW);
    void *of_program = program ? dlsym(program, "environ") : NULL;
    if (program)
        dlclose(program);
    return of_program && of_program != (void *)&environ;
}

/* Function of OpenBLAS, which is limited to one thread, as its threads change the order of sums; NULL with another
 * BLAS. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* `open` of the module: starts PETSc in the first call; later calls return the same value, after a failure with a more
 * general text. */
static bool open_petsc(TalusTaoResult *result)
{
    static bool tried, works;
    if (has_environ_copy()) {
        result->end = TALUS_TAO_FAILED;
        snprintf(result->text, sizeof result->text,
                 "the program contains its own copy of the variable environ, with which Open MPI "
                 "fails; compile the files that refer to environ with -fPIC");
        return false;
    }
    if (tried) {
        if (!works)
            report_error(PETSC_ERR_LIB, result);
        return works;
    }
    tried = true;
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    PetscErrorCode error = start_petsc();
    if (!error)
        error = PetscPushErrorHandler(record_error, NULL);
    if (error) {
        report_error(error, result);
        return false;
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    opened_by = getpid();
    atexit(finish_petsc);
    works = true;
    return true;
}

/* ---- callbacks ---- */

/* TAO's callback for objective and gradient: passes on to the callback `evaluate` of the problem. */
static PetscErrorCode evaluate_objective(Tao tao, Vec x, PetscReal *f, Vec gradient, void *user)
{
    Run *run = user;
    const double *at;
    double *g;
    (void)tao;
    PetscCall(VecGetArrayRead(x, &at));
    PetscCall(VecGetArray(gradient, &g));
    *f = run->problem->evaluate(run->problem->user, at, g);
    PetscCall(VecRestoreArray(gradient, &g));
    PetscCall(VecRestoreArrayRead(x, &at));
    return 0;
}

/* TAO's callback for the Hessian at x: does nothing, since the Hessian is constant. */
static PetscErrorCode keep_hessian(Tao tao, Vec x, Mat hessian, Mat preconditioner, void *user)
{
    (void)tao, (void)x, (void)hessian, (void)preconditioner, (void)user;
    return 0;
}

/* Calls the problem's `multiplied`; sets run->stop if it asks to end the conjugate gradients. */
static void count_product(Run *run)
{
    run->stop = !run->problem->multiplied(run->problem->user) || run->stop;
}

/* Product with the Hessian in place of PETSc's: counts it, then calls PETSc's. */
static PetscErrorCode multiply_counted(Mat hessian, Vec x, Vec y)
{
    count_product(current);
    return current->multiply(hessian, x, y);
}

/* Stopping rule in place of TAO's: stops when the callback `iterated` says so. */
static PetscErrorCode test_convergence(Tao tao, void *user)
{
    Run *run = user;
    Vec x;
    const double *at;
    PetscInt number;
    PetscReal norm;
    PetscCall(TaoGetSolution(tao, &x));
    PetscCall(TaoGetSolutionStatus(tao, &number, NULL, &norm, NULL, NULL, NULL));
    PetscCall(VecGetArrayRead(x, &at));
    run->ended = !run->problem->iterated(run->problem->user, (int)number, at, norm);
    PetscCall(VecRestoreArrayRead(x, &at));
    return TaoSetConvergedReason(tao, run->ended ? TAO_CONVERGED_USER : TAO_CONTINUE_ITERATING);
}

/* Stopping rule of conjugate gradients: PETSc's own, and the callback `multiplied` may stop them earlier. */
static PetscErrorCode test_inner_convergence(KSP ksp, PetscInt number, PetscReal norm,
                                             KSPConvergedReason *reason, void *user)
{
    Run *run = user;
    if (number > 0 && !run->counted)
        count_product(run);
    PetscCall(KSPConvergedDefault(ksp, number, norm, reason, run->default_test));
    if (run->stop && *reason == KSP_CONVERGED_ITERATING)
        *reason = KSP_CONVERGED_ITS;
    return 0;
}

/* ---- the solve ---- */

/* Makes the Hessian on the problem's arrays, with counted products, and gives it to TAO. */
static PetscErrorCode make_hessian(Run *run)
{
    const TalusTaoProblem *p = run->problem;
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, p->n, p->n, p->start, p->column, p->value,
                                        &run->hessian));
    PetscCall(MatSetOption(run->hessian, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(run->hessian, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
    PetscCall(MatGetOperation(run->hessian, MATOP_MULT, (void (**)(void)) & run->multiply));
    PetscCall(MatSetOperation(run->hessian, MATOP_MULT, (void (*)(void))multiply_counted));
    return TaoSetHessian(run->tao, run->hessian, run->hessian, keep_hessian, run);
}

/* Selects CHOLMOD for a Cholesky preconditioner where PETSc has it, instead of PETSc's own, slower factors. Sets the
 * shift of any preconditioner that factorises, since the Hessian may be singular. */
static PetscErrorCode set_factorisation(PC pc)
{
    PetscBool cholesky, found;
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCCHOLESKY, &cholesky));
    PetscCall(
        MatSolverTypeGet(MATSOLVERCHOLMOD, MATSEQAIJ, MAT_FACTOR_CHOLESKY, NULL, &found, NULL));
    if (cholesky && found)
        PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERCHOLMOD));
    return PCFactorSetShiftType(pc, MAT_SHIFT_POSITIVE_DEFINITE);
}

/* Sets preconditioner, accuracy and stopping rule of TAO's conjugate gradients. */
static PetscErrorCode set_conjugate_gradients(Run *run)
{
    const TalusTaoProblem *p = run->problem;
    KSP ksp;
    PC pc;
    PetscCall(TaoGetKSP(run->tao, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, p->precondition));
    PetscCall(set_factorisation(pc));
    if (p->inner_steps > 0)
        PetscCall(
            KSPSetTolerances(ksp, p->inner_accuracy, PETSC_DEFAULT, PETSC_DEFAULT, p->inner_steps));
    PetscCall(KSPConvergedDefaultCreate(&run->default_test));
    return KSPSetConvergenceTest(ksp, test_inner_convergence, run, NULL);
}

/* Creates PETSc's objects for the problem and gives TAO its callbacks. */
static PetscErrorCode create_objects(Run *run)
{
    const TalusTaoProblem *p = run->problem;
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, p->n, p->x, &run->x));
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, p->n, p->lower, &run->lower));
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, p->n, p->upper, &run->upper));
    PetscCall(TaoCreate(PETSC_COMM_SELF, &run->tao));
    PetscCall(TaoSetType(run->tao, types[p->method]));
    PetscCall(TaoSetSolution(run->tao, run->x));
    PetscCall(TaoSetVariableBounds(run->tao, run->lower, run->upper));
    PetscCall(TaoSetObjectiveAndGradient(run->tao, NULL, evaluate_objective, run));
    PetscCall(TaoSetConvergenceTest(run->tao, test_convergence, run));
    if (p->method == TALUS_TAO_BLMVM)
        return 0;
    run->counted = p->method == TALUS_TAO_BQPIP;
    PetscCall(make_hessian(run));
    return set_conjugate_gradients(run);
}

/* Runs TAO and writes how it ended. */
static PetscErrorCode run_tao(Run *run, TalusTaoResult *result)
{
    TaoConvergedReason reason;
    PetscCall(TaoSolve(run->tao));
    PetscCall(TaoGetConvergedReason(run->tao, &reason));
    result->end = run->ended ? TALUS_TAO_ENDED : TALUS_TAO_GAVE_UP;
    if (!run->ended)
        snprintf(result->text, sizeof result->text, "TAO ended with %s",
                 TaoConvergedReasons[reason]);
    return 0;
}

/* Releases PETSc's objects of the solve, also after a failure. Not called after a failed allocation, which may leave
 * incomplete objects: releasing them can crash. */
static void destroy_objects(Run *run)
{
    TaoDestroy(&run->tao);
    MatDestroy(&run->hessian);
    VecDestroy(&run->upper);
    VecDestroy(&run->lower);
    VecDestroy(&run->x);
    if (run->default_test)
        KSPConvergedDefaultDestroy(run->default_test);
}

/* `solve` of the module. Saves and restores the state of an outer solve, whose callback may have started this solve. */
static void solve_problem(const TalusTaoProblem *problem, TalusTaoResult *result)
{
    Run run = {.problem = problem}, *outer = current;
    Memory outer_memory = memory;
    FirstError outer_error = first_error;
    size_t before = memory.now;
    *result = (TalusTaoResult){.end = TALUS_TAO_FAILED};
    memory.peak = before;
    memory.limit = problem->memory_limit > 0 ? before + problem->memory_limit : 0;
    memory.refused = 0;
    first_error.code = 0;
    current = &run;
    PetscErrorCode error = create_objects(&run);
    if (!error)
        error = run_tao(&run, result);
    if (error)
        report_error(error, result);
    memory.limit = 0;
    result->bytes = memory.peak - before;
    if (result->end != TALUS_TAO_MEMORY)
        destroy_objects(&run);
    current = outer;
    memory.limit = outer_memory.limit;
    memory.refused = outer_memory.refused;
    memory.peak = outer_memory.peak > memory.peak ? outer_memory.peak : memory.peak;
    first_error = outer_error;
}

static const TalusTaoModule module = {
    .version = TALUS_TAO_VERSION,
    .package = "PETSc " TEXT(PETSC_VERSION_MAJOR) "." TEXT(PETSC_VERSION_MINOR) "." TEXT(
        PETSC_VERSION_SUBMINOR),
    .open = open_petsc,
    .solve = solve_problem,
};

__attribute__((visibility("default"))) const TalusTaoModule *talus_tao_module(void);

const TalusTaoModule *talus_tao_module(void)
{
    return &module;
}
