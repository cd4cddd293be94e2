/* verify.h - the independent verifier: everything a solver reports, recomputed from raw data.
 *
 * It shares no code with src/, only the structs of the public headers that hold the data: bodies keep
 * their physical units, every contact applies its six-row columns of D one by one, M is inverted by
 * Gauss-Jordan, and the projection is written along the cone's generator instead of by cases of the
 * norm. Slow, and meant to be read. Out of memory it ends the program. */
#ifndef TALUS_VERIFY_H
#define TALUS_VERIFY_H

#include <talus/fclib.h>
#include <talus/problem.h>

/* ---- any problem: its data at one gamma ---- */

typedef struct VerifyPoint {
    int blocks, rows;   /* rows per block: 1, 2 (plane contacts) or 3 */
    double *mu;         /* [blocks] */
    double *normal;     /* [blocks]: (N + E)_nn */
    double *tangential; /* [blocks]: mean of the tangential diagonal entries of N */
    double *gamma, *q;  /* [rows * blocks] */
    double *u, *g;      /* contact velocity N gamma + q, gradient u + E gamma */
} VerifyPoint;

void verify_free(VerifyPoint *point);

/* Every figure of TalusMetrics. */
void verify_measure(const VerifyPoint *point, TalusMetrics *out);

VerifyPoint verify_def_point(const TalusProblemDef *def, const double *gamma);

/* An FCLIB problem at impulses r in the rows of the file, with (W + W')/2 for W (of a global problem
 * H' M^-1 H); where no contact has friction the normal rows alone. `as_stored` may be NULL: u with W as
 * stored, all rows of the file.
 * False with a reason when M cannot be inverted here. */
bool verify_fclib_point(const TalusFclib *problem, const double *r, VerifyPoint *out,
                        double *as_stored, const char **reason);

/* ---- a problem's def ---- */

int verify_blocks(const TalusProblemDef *def);
int verify_rows(const TalusProblemDef *def); /* 1 when no contact has friction, else 3 */
int verify_size(const TalusProblemDef *def);
double verify_mu(const TalusProblemDef *def, int block);

/* The contact frame as three rows (normal, tangent 1, tangent 2): n = -s H e_x, t1 = H e_y,
 * t2 = s H e_z with H the reflection along w = n + s e_x, s = sign(n_x), s(0) = 1. */
void verify_frame(TalusVec3 normal, double axis[3][3]);

/* Euclidean projection of one block of `rows` entries, in place. */
void verify_project(int rows, double mu, double *block);

/* v = v_f + M^-1 D gamma, [6 bodies]; contacts only. gamma NULL is zero. */
void verify_body_velocity(const TalusProblemDef *def, const double *gamma, double *v);
/* u = D'v + b, or N gamma + q: the contact velocity, [size]. gamma NULL gives q. */
void verify_velocity(const TalusProblemDef *def, const double *gamma, double *u);
/* u + E gamma. */
void verify_gradient(const TalusProblemDef *def, const double *gamma, double *gradient);
/* N x alone. */
void verify_product(const TalusProblemDef *def, const double *x, double *out);

/* Mean of the block's diagonal entries of N + E. */
double verify_diagonal(const TalusProblemDef *def, int block);
/* The natural residual of problem.h. */
TalusResidual verify_residual(const TalusProblemDef *def, const double *gamma);
double verify_objective(const TalusProblemDef *def, const double *gamma);
/* Largest distance of a block of gamma from its set. */
double verify_outside(const TalusProblemDef *def, const double *gamma);
/* What rounding in the residual is relative to: the largest |q_i| and d_i |gamma_i|, in m/s. */
double verify_scale(const TalusProblemDef *def, const double *gamma);

/* N + E as a full matrix, [size * size]. */
void verify_matrix(const TalusProblemDef *def, double *matrix);

#endif
