/* linalg/package.h - factorisation packages, loaded on first use.
 *
 * Packages use BLAS. OpenBLAS starts its threads while it is loaded, and a thread that gets no memory asks for it for
 * ever, even at the end of the process. So a package is loaded only when a program first factorises, and only if the
 * memory is available. */
#ifndef TALUS_LINALG_PACKAGE_H
#define TALUS_LINALG_PACKAGE_H

#include "base/status.h"

/* A package; all members but `loaded` are constant. */
typedef struct TalusPackage {
    const char *name;           /* name of the package in messages */
    const char *library;        /* file name, for dlopen */
    const char *const *symbols; /* [count]: names of the package's functions that are used */
    int count;
    void *functions; /* a struct of `count` function pointers, in the order of `symbols` */
    bool loaded;     /* `functions` are set */
} TalusPackage;

/* Loads a package unless it is loaded; a package stays loaded until the process ends. TALUS_ERR_MEMORY: not enough
 * memory; TALUS_ERR_UNSUPPORTED: the library or a function is not found. After a failure the call may be repeated. */
TalusStatus talus_package_load(TalusPackage *package);

#endif
