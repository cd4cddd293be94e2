/* linalg/direct_mumps.c - the direct solver `mumps` (direct_make.h): calls of MUMPS, which exchanges rows.
 *
 * The analysis uses the pattern only (no matching by values), so reusing an analysis changes no result. MUMPS shares
 * variables among all instances, so calls are serialised. */
#include "base/memory.h"
#include "base/status.h"
#include "linalg/direct_make.h"
#include "linalg/one_thread.h"
#include "linalg/package.h"

#include <dmumps_c.h>
#include <pthread.h>
#include <stdlib.h>

_Static_assert(sizeof(MUMPS_INT) == sizeof(int32_t), "MUMPS with 32-bit integers");

enum {
    JOB_START = -1,
    JOB_END = -2,
    JOB_ANALYSE = 1,
    JOB_FACTOR = 2,
    JOB_SOLVE = 3,
    NO_MPI = -987654, /* MUMPS's code for MPI_COMM_WORLD, which is this process alone */
    EXTRA = 30,       /* per cent of memory beyond the estimate, for exchanged rows */
    MAX_EXTRA = 4000  /* the percentage, ICNTL(14), is doubled while it is at most this */
};

typedef void CallFn(DMUMPS_STRUC_C *);
_Static_assert(_Generic(&dmumps_c, CallFn * : 1, default : 0), "dmumps_c");

/* The one function of the package; set by talus_package_load. */
static struct {
    CallFn *call;
} mumps;
static const char *const symbols[] = {"dmumps_c"};
static TalusPackage package = {.name = "mumps",
                               .library = TALUS_MUMPS_FILE,
                               .symbols = symbols,
                               .count = 1,
                               .functions = &mumps};

/* State of a solver. */
typedef struct Mumps {
    DMUMPS_STRUC_C id;
    bool started; /* `id` is an instance of MUMPS */
    int rows;
    int32_t *row, *column; /* indices of the entries, from 1 */
} Mumps;

/* Held during every call of MUMPS. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Runs a job of MUMPS, one thread at a time. Returns its code INFOG(1), negative on failure. */
static int run_job(Mumps *m, int job)
{
    pthread_mutex_lock(&one_at_a_time);
    m->id.job = job;
    mumps.call(&m->id);
    pthread_mutex_unlock(&one_at_a_time);
    return m->id.infog[0];
}

/* Returns the address of ICNTL(number), a setting, numbered from 1 as in the manual. */
static MUMPS_INT *setting_address(Mumps *m, int number)
{
    return &m->id.icntl[number - 1];
}

/* Returns the count INFOG(number), numbered from 1 as in the manual, that MUMPS reports after a job. */
static int64_t reported_count(const Mumps *m, int number)
{
    int64_t value = m->id.infog[number - 1];
    return value < 0 ? -value * 1000000 : value; /* a negative count is in millions */
}

/* Fails with a message for the error that MUMPS reported last. */
static TalusStatus fail_by_code(const Mumps *m)
{
    int code = m->id.infog[0], detail = m->id.infog[1];
    switch (code) {
    case -10:
        return talus_fail(TALUS_ERR_NUMERIC,
                          "mumps: the matrix of %d rows is singular after %d pivots", m->rows,
                          detail);
    case -5:
    case -7:
    case -8:
    case -9:
    case -13:
    case -19:
        return talus_fail(TALUS_ERR_MEMORY,
                          "mumps: out of memory for a factor of %d rows (its error %d, %d)",
                          m->rows, code, detail);
    default:
        return talus_fail(TALUS_ERR_UNSUPPORTED, "mumps: %d rows: its error %d, %d", m->rows, code,
                          detail);
    }
}

/* Ends the instance of MUMPS, if one was started, and releases the pattern. */
static void end_instance(Mumps *m)
{
    if (m->started)
        run_job(m, JOB_END);
    m->started = false;
    TALUS_RELEASE(m->row, m->column);
    m->row = m->column = NULL;
}

/* Starts a new instance of MUMPS with our settings. Each pattern has its own instance, so that an earlier pattern has
 * no effect. */
static TalusStatus start_instance(Mumps *m)
{
    m->id = (DMUMPS_STRUC_C){.par = 1, .sym = 2, .comm_fortran = NO_MPI};
    if (run_job(m, JOB_START) < 0)
        return fail_by_code(m);
    m->started = true;
    for (int stream = 1; stream <= 3; stream++)
        *setting_address(m, stream) = -1;
    *setting_address(m, 4) = 0;      /* MUMPS prints nothing */
    *setting_address(m, 6) = 0;      /* no permutation by values */
    *setting_address(m, 7) = 0;      /* order by AMD: SCOTCH's differs from run to run */
    *setting_address(m, 8) = 7;      /* scales rows and columns, at the factorisation, by values */
    *setting_address(m, 12) = 1;     /* order by the pattern only */
    *setting_address(m, 14) = EXTRA; /* per cent of memory beyond the estimate */
    return TALUS_OK;
}

static TalusStatus create_mumps(void **out)
{
    Mumps *m;
    TALUS_TRY(talus_package_load(&package));
    TALUS_TRY(TALUS_ALLOC(m, 1, "direct solver"));
    *out = m;
    return TALUS_OK;
}

static void destroy_mumps(void *state)
{
    end_instance(state);
    talus_release(state);
}

static TalusStatus analyse_mumps(void *state, const TalusSparse *lower, const int8_t *sign,
                                 int64_t *fill)
{
    Mumps *m = state;
    size_t entries = (size_t)lower->start[lower->rows];
    (void)sign;
    end_instance(m);
    m->rows = lower->rows;
    TALUS_TRY(TALUS_ALLOC(m->row, entries, "pattern"));
    TALUS_TRY(TALUS_ALLOC(m->column, entries, "pattern"));
    for (int i = 0; i < lower->rows; i++)
        for (int32_t e = lower->start[i]; e < lower->start[i + 1]; e++) {
            m->row[e] = i + 1;
            m->column[e] = lower->column[e] + 1;
        }
    TALUS_TRY(start_instance(m));
    m->id.n = lower->rows;
    m->id.nnz = (MUMPS_INT8)entries;
    m->id.irn = m->row;
    m->id.jcn = m->column;
    if (run_job(m, JOB_ANALYSE) < 0)
        return fail_by_code(m);
    *fill = reported_count(m, 20);
    return TALUS_OK;
}

/* Factorises if twice the memory of MUMPS's estimate INFOG(17), in megabytes, is available. If MUMPS finds its work
 * space too small, the extra space is doubled and the job repeated, until the extra space exceeds MAX_EXTRA. */
static TalusStatus factor_mumps(void *state, const TalusSparse *lower)
{
    Mumps *m = state;
    int code;
    m->id.a = lower->value;
    *setting_address(m, 14) = EXTRA;
    TALUS_TRY(
        talus_memory_probe(2 * (size_t)m->id.infog[16] * 1000000 + TALUS_BLAS_BYTES, "factor"));
    while ((code = run_job(m, JOB_FACTOR)) == -8 || code == -9) { /* work space was too small */
        if (*setting_address(m, 14) > MAX_EXTRA)
            break;
        *setting_address(m, 14) *= 2;
    }
    m->id.a = NULL;
    return code < 0 ? fail_by_code(m) : TALUS_OK;
}

static TalusStatus solve_mumps(void *state, double *x)
{
    Mumps *m = state;
    m->id.nrhs = 1;
    m->id.lrhs = m->rows;
    m->id.rhs = x;
    return run_job(m, JOB_SOLVE) < 0 ? fail_by_code(m) : TALUS_OK;
}

/* Returns the memory of the factorisation, which MUMPS reports in megabytes as INFOG(19). */
static size_t bytes_of_mumps(const void *state)
{
    const Mumps *m = state;
    return m->started ? (size_t)m->id.infog[18] * 1000000 : 0;
}

const TalusDirectMethod talus_direct_mumps = {.name = "mumps",
                                              .create = create_mumps,
                                              .destroy = destroy_mumps,
                                              .analyse = analyse_mumps,
                                              .factor = factor_mumps,
                                              .solve = solve_mumps,
                                              .bytes = bytes_of_mumps,
                                              .allocates_itself = true};
