/* linalg/package.h - factorisation packages, loaded on first use.
 *
 * They use BLAS. OpenBLAS starts its threads while it is loaded, and each thread asks for memory for ever if there is
 * none, even at the end of the process. So a program that never factorises does not load a package, and one that does
 * loads it only if the memory is available. */
#ifndef TALUS_LINALG_PACKAGE_H
#define TALUS_LINALG_PACKAGE_H

#include "base/status.h"

typedef struct TalusPackage {
    const char *name;           /* for messages */
    const char *library;        /* file name, for dlopen */
    const char *const *symbols; /* [count]: names of its functions */
    int count;
    void *functions; /* a struct of `count` function pointers, in the order of `symbols` */
    bool loaded;     /* `functions` are set */
} TalusPackage;

/* Loads a package unless loaded; it stays until the process ends. TALUS_ERR_MEMORY: not enough memory;
 * TALUS_ERR_UNSUPPORTED: it cannot be loaded. After a failure it may be tried again. */
TalusStatus talus_package_load(TalusPackage *package);

#endif
