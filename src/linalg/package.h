/* linalg/package.h - packages that factorise, loaded when they are first used.
 *
 * They stand on BLAS. OpenBLAS starts its threads while it is loaded, and each of them asks for memory without end
 * where there is none, even at the end of the process. So a program that never factorises does not load it, and one
 * that does loads it only where the memory can be had. */
#ifndef TALUS_LINALG_PACKAGE_H
#define TALUS_LINALG_PACKAGE_H

#include "base/status.h"

typedef struct TalusPackage {
    const char *name;           /* for messages */
    const char *library;        /* the file, as the linker of this build would name it */
    const char *const *symbols; /* [count] */
    int count;
    void *functions; /* a struct of `count` function pointers, in that order */
    bool loaded;     /* they are set */
} TalusPackage;

/* Loads it unless it is there; it stays to the end of the process. TALUS_ERR_MEMORY: not enough memory for it;
 * TALUS_ERR_UNSUPPORTED: it cannot be loaded. After a failure it may be tried again. */
TalusStatus talus_package_load(TalusPackage *package);

#endif
