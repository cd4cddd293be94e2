/* solvers/driver/auto.h - the parts of "auto". */
#ifndef TALUS_SOLVERS_DRIVER_AUTO_H
#define TALUS_SOLVERS_DRIVER_AUTO_H

/* The order is that in which the states of the parts are saved. */
enum {
    TALUS_AUTO_TIGHT,
    TALUS_AUTO_LOOSE,
    TALUS_AUTO_BETWEEN,
    TALUS_AUTO_COULOMB,
    TALUS_AUTO_CONES,
    TALUS_AUTO_POLYGONS,
    TALUS_AUTO_PRISMS
};

#endif
