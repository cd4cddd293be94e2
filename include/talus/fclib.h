/* talus/fclib.h - contact problems as stored in FCLIB's HDF5 layout (docs/reference/fclib.md).
 *
 *     local    u = W r + q
 *     global   M v = f + H r + G l,   u = H' v + w,   G' v + b = 0    (l: impulses of joints)
 * Contact k owns `dimension` consecutive rows: normal, tangent 1 and, in space, tangent 2. Numbers are as in the file;
 * talus_fclib_problem forms the problem that a solver takes. HDF5 is not thread-safe: use one thread at a time. */
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

/* True if this build has HDF5 and can read and write FCLIB files. */
TALUS_API bool talus_fclib_available(void);
/* Returns how to get HDF5, as text for a message; "" in a build with HDF5. The text is static. */
TALUS_API const char *talus_fclib_build_hint(void);

/* True if the file can be read and begins with HDF5's signature: for any HDF5 file, FCLIB or not. Needs no HDF5. */
TALUS_API bool talus_fclib_is_hdf5(const char *path);

/* Reads a file. The error names the file, the dataset, its content and what was expected; without HDF5 the call
 * fails with TALUS_ERR_UNSUPPORTED. Files of other tools often hold solutions and guesses whose r was never written. */
TALUS_API TalusStatus talus_fclib_read(const char *path, TalusFclib **out);
/* Reads /solution, or another group of that layout such as "ccp_solution", from any HDF5 file. The name of the group
 * has at most 255 bytes. */
TALUS_API TalusStatus talus_fclib_read_point(const char *path, const char *group,
                                             const TalusFclib *problem, TalusFclibPoint *out);
/* True if the file is a readable HDF5 file with that group; false in a build without HDF5. */
TALUS_API bool talus_fclib_has(const char *path, const char *group);
/* Writes a file atomically: an existing file is replaced whole or not at all. Equal data gives equal bytes. */
TALUS_API TalusStatus talus_fclib_write(const char *path, const TalusFclib *problem);
TALUS_API void talus_fclib_destroy(TalusFclib *problem);
TALUS_API void talus_fclib_free_point(TalusFclibPoint *point);

/* Return the numbers of degrees of freedom and of joint rows of a global problem; 0 for a local one. */
TALUS_API int talus_fclib_dofs(const TalusFclib *fclib);
TALUS_API int talus_fclib_joints(const TalusFclib *fclib);

/* Computes the asymmetry |W - W'| / |W| in the Frobenius norm; for a global problem, of its condensed W. */
TALUS_API TalusStatus talus_fclib_asymmetry(const TalusFclib *fclib, double *out);

/* Creates the explicit problem over N and q with this friction model; NULL: the circular cone of the convex
 * relaxation. N is W as stored under Coulomb's law, else (W + W')/2. A global problem is condensed to W = H' M^-1 H
 * and q = H' M^-1 f + w, its joints eliminated. Blocks have one row if no contact has friction, else three. A plane
 * contact gets an uncoupled third row with the diagonal of the second, whose impulse stays zero. */
TALUS_API TalusStatus talus_fclib_problem(const TalusFclib *fclib, const TalusFrictionModel *model,
                                          TalusPool *pool, TalusProblem **out);

/* Sets fclib->solution from impulses in the rows of the problem that talus_fclib_problem made: r in the rows of the
 * file; u, v and l from the file's matrices (W as stored). */
TALUS_API TalusStatus talus_fclib_set_solution(TalusFclib *fclib, const TalusProblem *problem,
                                               const double *gamma);
/* Writes the impulses of a point of the file into `gamma`, in the problem's rows. */
TALUS_API TalusStatus talus_fclib_impulses(const TalusFclib *fclib, const TalusProblem *problem,
                                           const TalusFclibPoint *point, double *gamma);

typedef enum TalusFclibForm {
    TALUS_FCLIB_AUTO, /* local: an explicit problem, or one with compliance; global: any other */
    TALUS_FCLIB_GLOBAL,
    TALUS_FCLIB_LOCAL
} TalusFclibForm;

/* Largest number of entries of W in the local form of a problem with bodies: 1.2 GB in the file. */
#define TALUS_FCLIB_ENTRIES_MAX 100000000

/* Converts a problem, under TALUS_FCLIB_AUTO. The impulses become guess 1. The call fails on what the layout or the
 * form cannot hold and names it.
 *     global   M, H, f and w of a matrix-free problem; bodies that cannot move have no rows in M, their velocity goes
 *              into w; no compliance
 *     local    W = N + E and q. The compliance E is on the diagonal of normal rows: u_n of the file is the contact
 *              velocity plus E r_n. At most TALUS_FCLIB_ENTRIES_MAX entries. */
TALUS_API TalusStatus talus_fclib_from_problem(TalusProblem *problem, const char *title,
                                               TalusFclib **out);
TALUS_API TalusStatus talus_fclib_from_problem_as(TalusProblem *problem, TalusFclibForm form,
                                                  const char *title, TalusFclib **out);

#ifdef __cplusplus
}
#endif

#endif
