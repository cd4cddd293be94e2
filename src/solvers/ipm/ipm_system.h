/* solvers/ipm/ipm_system.h - the linear systems of the interior point method of ipm_qp.c, in the terms of problem/qp.h.
 *
 * A Newton step is (P + T) dlambda = r, T = W / Lambda diagonal and positive. A direct method (linalg/direct.h) solves
 * this system in one of three forms:
 *     normal      M1 dv = D G S^-1 r, M1 = M + D H D', H = G S^-1 G'; dlambda = S^-1 (r - A dv)
 *                 petra-2009 Eq. 33, whose A'D2 A is D H D', H in small blocks; S is T plus the contacts' compliance
 *     augmented   [M A'; A -T] (dv, -dlambda) = (0, r), with one more row per compliant contact     (Eq. 31)
 *     dual        P + T itself: OOQP's form with bounds alone, for problems given as a matrix
 * Rows of free joints are equations of the quadratic program: T is 0 there. The normal form eliminates them last, by
 * the Schur complement of Eq. 34 and 35 (ipm_schur.h); the other two have them as they have other rows. A small T, the
 * floor below, is factorised in place of 0, so that equations that imply each other have a factor too.
 * A power of two scales the numbers to a mass of about one before a package sees them. */
#ifndef TALUS_SOLVERS_IPM_IPM_SYSTEM_H
#define TALUS_SOLVERS_IPM_IPM_SYSTEM_H

#include "linalg/direct.h"
#include "problem/qp.h"
#include "solvers/ipm/ipm_schur.h"

typedef struct TalusIpmSystem TalusIpmSystem;

typedef struct TalusIpmForm {
    /* Sets the pattern in s->lower and, unless all are 1, the signs of pivots in s->sign, once per problem. */
    TalusStatus (*prepare)(TalusIpmSystem *s, const TalusProblem *problem);
    /* Sets the values in s->lower from s->t, which is T times s->mass. */
    void (*fill)(TalusIpmSystem *s);
    /* Factorises what else the form needs, once s->lower has its factor; NULL: nothing. */
    TalusStatus (*factor)(TalusIpmSystem *s);
    /* x = (P + T)^-1 x with the factor, [multipliers]. */
    TalusStatus (*solve)(TalusIpmSystem *s, double *x);
} TalusIpmForm;

extern const TalusIpmForm talus_ipm_normal, talus_ipm_augmented, talus_ipm_dual;

/* Entries of D of one contact, for the normal form. A group is three unknowns: a body's velocity or its spin. A contact
 * acts on at most TALUS_IPM_GROUPS groups, which have at most TALUS_IPM_PAIRS pairs (p, q), q <= p. */
enum { TALUS_IPM_GROUPS = 4, TALUS_IPM_PAIRS = 10 };

typedef struct TalusIpmContact {
    int32_t groups, group[TALUS_IPM_GROUPS]; /* number of groups; their indices, rising */
    /* For pair (p, q), at p (p + 1) / 2 + q: index of group q among the groups in the rows of group p of M1. */
    int32_t pair_column[TALUS_IPM_PAIRS];
    double d[TALUS_IPM_GROUPS][9]; /* for each group, the `rows` x 3 entries of D' */
} TalusIpmContact;

struct TalusIpmSystem {
    const TalusIpmForm *form;
    const TalusQp *qp;
    TalusDirect *direct;  /* factorisation of `lower` */
    TalusDirectKind kind; /* of `direct` */
    double mass;          /* unit of mass: a power of two, kg */
    TalusSparse lower;    /* lower triangle of the matrix */
    int8_t *sign;         /* signs of the pivots of `lower`; NULL: all 1 */
    double *t;            /* [multipliers]: T times `mass` */
    double *x;            /* [rows of lower]: right-hand side, then solution */
    /* Dual form: P times `mass`, entries as in `lower`. Augmented form: scales of v and s. */
    double *base;
    TalusIpmContact *contact; /* [blocks]: for the normal form */
    TalusIpmSchur schur;      /* normal form: rows of free joints */
    int32_t *compliance_row;  /* augmented: [blocks], row of the contact's unknown s; -1: none */
    double floor;             /* least t / qp->scale in the factor; raised if that fails */
    int factorisations;       /* number so far, failed ones included */
};

/* Sets up pattern, memory and analysis for the problem of `qp`, whose address must stay valid. `form` is used if the
 * problem has bodies, else the dual form. An earlier analysis is reused if the pattern is the same. */
TalusStatus talus_ipm_system_prepare(TalusIpmSystem *s, const TalusIpmForm *form,
                                     TalusDirectKind kind, const TalusQp *qp,
                                     const TalusProblem *problem);
/* Raises the entries of `t`, T [multipliers], in place to at least s->floor times the scale of their row, then
 * factorises P + T. Equations keep their t of 0, and only their factor has the floor. If the factorisation fails,
 * s->floor is raised, up to a limit, and the call repeated. TALUS_ERR_NUMERIC: the matrix is singular even with the
 * largest floor. */
TalusStatus talus_ipm_system_factor(TalusIpmSystem *s, double *t);
/* x = (P + T)^-1 x, [multipliers], with the floor in place of 0. */
TalusStatus talus_ipm_system_solve(TalusIpmSystem *s, double *x);
/* Releases the memory and zeroes *s. */
void talus_ipm_system_clear(TalusIpmSystem *s);
/* Returns an estimate of factorisation time over solution time, from the size of the factor. */
double talus_ipm_system_cost_ratio(const TalusIpmSystem *s);

#endif
