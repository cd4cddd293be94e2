/* solvers/driver/auto.h - the parts of "auto". */
#ifndef TALUS_SOLVERS_DRIVER_AUTO_H
#define TALUS_SOLVERS_DRIVER_AUTO_H

/* Solvers that "auto" hands over to, by tolerance or by what they solve. States are saved in this order. */
enum {
    TALUS_AUTO_TIGHT,    /* lbfgs-fb */
    TALUS_AUTO_LOOSE,    /* gs */
    TALUS_AUTO_BETWEEN,  /* apgd */
    TALUS_AUTO_COULOMB,  /* prox */
    TALUS_AUTO_CONES,    /* ipm-soc */
    TALUS_AUTO_POLYGONS, /* ipm-chol */
    TALUS_AUTO_PRISMS,   /* admm */
    TALUS_AUTO_SWEEP     /* gs-coulomb */
};

#endif
