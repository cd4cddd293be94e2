/* io/formats/format_vtkhdf_none.c - replaces format_vtkhdf.c in a build without HDF5: can only remove its file. */
#include "io/formats/formats.h"

static TalusStatus remove_hdf(TalusDir *dir)
{
    return talus_dir_remove_file(dir, "bodies.vtkhdf");
}

const TalusFormat talus_format_vtkhdf = {
    .name = "vtkhdf",
    .missing = "HDF5 (Debian: libhdf5-dev)",
    .remove = remove_hdf,
};

void talus_hdf5_skip_exit(void) {}
