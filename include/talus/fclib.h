/* talus/fclib.h - contact problems in FCLIB's HDF5 layout, as they are stored (docs/reference/fclib.md).
 *
 *     local    u = W r + q
 *     global   M v = f + H r + G l,   u = H' v + w,   G' v + b = 0    (l: impulses of joints)
 * Contact k owns `dimension` consecutive rows: normal, tangent 1 and in space tangent 2. Numbers
 * are kept as the file has them; talus_fclib_problem makes of them what a solver takes.
 * HDF5 is not safe for threads: read and write from one thread at a time. */
#ifndef TALUS_FCLIB_H
#define TALUS_FCLIB_H

#include <talus/base.h>
#include <talus/problem.h>
#include <talus/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A solution or a guess. Vectors the file does not have are NULL. */
typedef struct TalusFclibPoint {
    double *u, *r; /* [dimension * contacts]: contact velocities and impulses */
    double *v;     /* [dofs], global problems */
    double *l;     /* [joint rows], global problems with G */
} TalusFclibPoint;

typedef struct TalusFclib {
    int dimension; /* 2 or 3 */
    int contacts;
    bool global;
    TalusSparse W; /* local: square, dimension * contacts */
    double *q;
    TalusSparse M, H, G; /* global: dofs x dofs, dofs x rows, dofs x joint rows (may be absent) */
    double *f, *w, *b;
    double *mu;                            /* [contacts] */
    char *title, *description, *math_info; /* may be NULL */
    TalusFclibPoint solution;
    int guess_count;
    TalusFclibPoint *guesses;
} TalusFclib;

/* True when this build can read and write such files (it was built with HDF5). */
bool talus_fclib_available(void);
/* In a build without HDF5, what would give it. */
const char *talus_fclib_how(void);

/* True when the file looks like HDF5, whatever is in it. */
bool talus_fclib_is(const char *path);

/* Fails with FILE, the dataset, what is there and what was expected. In a build without HDF5:
 * UNSUPPORTED. Files of other tools often hold solutions and guesses whose r was never written. */
TalusStatus talus_fclib_read(const char *path, TalusFclib **out);
/* /solution, or another group of that shape such as "ccp_solution", of any HDF5 file. */
TalusStatus talus_fclib_read_point(const char *path, const char *group, const TalusFclib *problem,
                                   TalusFclibPoint *out);
/* Whether it is an HDF5 file with that group; false where it cannot be read. */
bool talus_fclib_has(const char *path, const char *group);
/* Atomic: an existing file is replaced whole or not at all. The same data gives the same bytes. */
TalusStatus talus_fclib_write(const char *path, const TalusFclib *problem);
void talus_fclib_destroy(TalusFclib *problem);
void talus_fclib_free_point(TalusFclibPoint *point);

/* Degrees of freedom and joint rows of a global problem; 0 for a local one. */
int talus_fclib_dofs(const TalusFclib *fclib);
int talus_fclib_joints(const TalusFclib *fclib);

/* |W - W'| / |W| in the Frobenius norm; of a global problem that of its condensed W. */
TalusStatus talus_fclib_asymmetry(const TalusFclib *fclib, double *out);

/* The problem over N and q with this friction model; NULL: the circular cone of the relaxation, whose
 * problem is convex. N is W as stored where the law is Coulomb's, else (W + W')/2. A global problem is
 * condensed to W = H' M^-1 H and q = H' M^-1 f + w, its joints eliminated. Explicit, one row per contact when
 * no contact has friction, else three. A plane contact gets a third row of its own, coupled to
 * nothing, with the diagonal of the second: its impulse stays zero. */
TalusStatus talus_fclib_problem(const TalusFclib *fclib, const TalusFrictionModel *model,
                                TalusPool *pool, TalusProblem **out);

/* Sets fclib->solution from impulses in the rows of that problem: r in the rows of the file, u, v
 * and l from the file's own matrices (W as stored). */
TalusStatus talus_fclib_set_solution(TalusFclib *fclib, const TalusProblem *problem,
                                     const double *gamma);
/* The other way: impulses of a point of the file, in the problem's rows. */
TalusStatus talus_fclib_impulses(const TalusFclib *fclib, const TalusProblem *problem,
                                 const TalusFclibPoint *point, double *gamma);

/* A matrix-free problem as a global one (M, H, f, w), an explicit one as a local one (W, q). What
 * the layout cannot hold, such as compliance, is refused by name. Bodies that cannot move have no
 * place in M; their velocity goes into w. The impulses become guess 1. */
TalusStatus talus_fclib_from_problem(TalusProblem *problem, const char *title, TalusFclib **out);

#ifdef __cplusplus
}
#endif

#endif
