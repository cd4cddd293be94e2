/* solvers/driver/auto.h - the parts of "auto". */
#ifndef TALUS_SOLVERS_DRIVER_AUTO_H
#define TALUS_SOLVERS_DRIVER_AUTO_H

/* Indices of the solvers that "auto" hands over to. Each is named by the tolerances or the problems that it is chosen
 * for. Saved worlds contain the states of these solvers in this order. */
enum {
    TALUS_AUTO_TIGHT,    /* lbfgs-fb */
    TALUS_AUTO_LOOSE,    /* gs */
    TALUS_AUTO_BETWEEN,  /* apgd */
    TALUS_AUTO_COULOMB,  /* prox */
    TALUS_AUTO_CONES,    /* ipm-soc */
    TALUS_AUTO_POLYGONS, /* ipm-chol */
    TALUS_AUTO_PRISMS,   /* admm */
    TALUS_AUTO_SWEEP,    /* gs-coulomb */
    TALUS_AUTO_FOLDED    /* continuation */
};

#endif
