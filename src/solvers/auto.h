/* solvers/auto.h - "auto": which methods a problem is given to, and when it changes hands. */
#ifndef TALUS_SOLVERS_AUTO_H
#define TALUS_SOLVERS_AUTO_H

#include "solvers/solver.h"

/* The solvers that it chooses from. The first is what a solver "auto" is itself; states are saved in this
 * order. */
enum {
    TALUS_AUTO_TIGHT,
    TALUS_AUTO_LOOSE,
    TALUS_AUTO_BETWEEN,
    TALUS_AUTO_COULOMB,
    TALUS_AUTO_CONES,
    TALUS_AUTO_POLYGONS,
    TALUS_AUTO_PRISMS,
    TALUS_AUTO_CHOICES
};
extern const char *const talus_auto_specs[TALUS_AUTO_CHOICES];
extern const char talus_auto_summary[];

/* First order, or a direct method, or one after the other. Follows from problem and options alone. */
typedef struct TalusAutoPlan {
    int first;      /* choice of first order */
    int direct;     /* choice, -1: none */
    int iterations; /* of `first` before `direct` is tried; 0: it begins */
    int most;       /* iterations of `direct` */
} TalusAutoPlan;

TalusAutoPlan talus_auto_plan(TalusProblem *problem, const TalusSolveOptions *options);

TalusStatus talus_auto_solve(TalusSolver *const choice[TALUS_AUTO_CHOICES], TalusProblem *problem,
                             const TalusSolveOptions *options, TalusSolveInfo *info);

/* The driver's: has `s` go on from the problem's gamma and from the counts and the clock in *info until it has
 * done with it or there are `most` iterations in all. *over: nothing is to follow. The problem is
 * solved, or proves infeasible, or the whole budget is used up, or an observer or a monitor has ended it. */
TalusStatus talus_solver_leg(TalusSolver *s, TalusProblem *problem,
                             const TalusSolveOptions *options, int most, TalusSolveInfo *info,
                             bool *over);

#endif
