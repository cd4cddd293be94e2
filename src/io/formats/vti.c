/* io/formats/vti.c - a VTK image with the fields of a grid as cell data. */
#include "io/formats/vti.h"

#include "base/memory.h"
#include "io/formats/vtp_xml.h"

static void write_head(TalusFile *file, const TalusGridDef *def, double time)
{
    const int *n = def->cells;
    const TalusVec3 side = talus_sub(def->hi, def->lo);
    talus_file_print(file,
                     "<?xml version=\"1.0\"?>\n"
                     "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                     "header_type=\"UInt64\">\n"
                     "<ImageData WholeExtent=\"0 %d 0 %d 0 %d\" Origin=\"%.17g %.17g %.17g\" "
                     "Spacing=\"%.17g %.17g %.17g\">\n",
                     n[0], n[1], n[2], def->lo.x, def->lo.y, def->lo.z, side.x / n[0],
                     side.y / n[1], side.z / n[2]);
    talus_file_print(file,
                     "<FieldData>\n"
                     "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                     "format=\"ascii\">%.17g</DataArray>\n"
                     "</FieldData>\n"
                     "<Piece Extent=\"0 %d 0 %d 0 %d\">\n<CellData>\n",
                     time, n[0], n[1], n[2]);
}

/* Copies a field of all cells to `value`, x fastest. */
static void copy_field(const TalusContinuum *continuum, TalusQuantity quantity, double *value)
{
    const TalusGridDef def = talus_continuum_grid(continuum);
    const int components = talus_quantity_row(quantity).components;
    double cell[TALUS_QUANTITY_COMPONENTS];
    for (int k = 0; k < def.cells[2]; k++)
        for (int j = 0; j < def.cells[1]; j++)
            for (int i = 0; i < def.cells[0]; i++) {
                talus_continuum_get(continuum, quantity, i, j, k, cell);
                for (int c = 0; c < components; c++)
                    *value++ = cell[c];
            }
}

TalusStatus talus_vti_write(const char *path, const TalusContinuum *continuum,
                            const TalusQuantity *quantity, int count, double time)
{
    const TalusGridDef def = talus_continuum_grid(continuum);
    const size_t cells = (size_t)def.cells[0] * (size_t)def.cells[1] * (size_t)def.cells[2];
    double *value = NULL;
    TalusFile *file;
    TALUS_TRY(TALUS_ALLOC(value, cells * TALUS_QUANTITY_COMPONENTS, "image"));
    TalusStatus status = talus_file_create(path, &file);
    if (status == TALUS_OK) {
        write_head(file, &def, time);
        for (int i = 0; i < count; i++) {
            const TalusQuantityRow row = talus_quantity_row(quantity[i]);
            copy_field(continuum, quantity[i], value);
            talus_vtp_write_values(file, TALUS_FIELD_F64, row.name, row.components, value, cells);
        }
        talus_file_print(file, "</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n");
        status = talus_file_commit(file);
    }
    talus_release(value);
    return status;
}
