/* solvers/driver/auto.h - the parts of "auto". */
#ifndef TALUS_SOLVERS_DRIVER_AUTO_H
#define TALUS_SOLVERS_DRIVER_AUTO_H

/* Indices of the solvers that "auto" hands over to, each named as the solver; GS_EXACT and GS_DAMPED are gs-coulomb with
 * relaxation 1 and less. Saved worlds contain the states of these solvers, except those of gs-coulomb, in this order. */
enum {
    TALUS_AUTO_LBFGS_FB,
    TALUS_AUTO_GS,
    TALUS_AUTO_APGD,
    TALUS_AUTO_PROX,
    TALUS_AUTO_IPM_SOC,
    TALUS_AUTO_IPM_CHOL,
    TALUS_AUTO_ADMM,
    TALUS_AUTO_GS_COULOMB,
    TALUS_AUTO_CONTINUATION,
    TALUS_AUTO_GS_EXACT,
    TALUS_AUTO_GS_DAMPED
};

#endif
