/* solvers/driver/auto.h - the parts of "auto". */
#ifndef TALUS_SOLVERS_DRIVER_AUTO_H
#define TALUS_SOLVERS_DRIVER_AUTO_H

/* In the order in which their states are saved. */
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
