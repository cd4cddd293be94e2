/* io/problem/fclib.c - functions for FCLIB problems that need no HDF5: sizes, release of memory, and the test whether a
 * file is HDF5. */
#include "io/problem/fclib.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "linalg/sparse.h"

#include <string.h>

bool talus_fclib_is_hdf5(const char *path)
{
    static const unsigned char magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8];
    return talus_read_start(path, head, sizeof head) == sizeof head &&
           memcmp(head, magic, sizeof head) == 0;
}

int talus_fclib_rows(const TalusFclib *fclib)
{
    return fclib->dimension * fclib->contacts;
}

int talus_fclib_dofs(const TalusFclib *fclib)
{
    return fclib->global ? fclib->M.rows : 0;
}

int talus_fclib_joints(const TalusFclib *fclib)
{
    return fclib->global && fclib->G.start ? fclib->G.columns : 0;
}

void talus_fclib_free_point(TalusFclibPoint *point)
{
    TALUS_RELEASE(point->u, point->r, point->v, point->l);
    *point = (TalusFclibPoint){0};
}

void talus_fclib_destroy(TalusFclib *fclib)
{
    if (!fclib)
        return;
    TalusSparse *const matrices[] = {&fclib->W, &fclib->M, &fclib->H, &fclib->G};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        talus_sparse_clear(matrices[i]);
    for (int i = 0; i < fclib->guess_count; i++)
        talus_fclib_free_point(&fclib->guesses[i]);
    talus_fclib_free_point(&fclib->solution);
    TALUS_RELEASE(fclib->q, fclib->f, fclib->w, fclib->b, fclib->mu, fclib->title,
                  fclib->description, fclib->math_info, fclib->guesses, fclib);
}
