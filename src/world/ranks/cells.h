/* world/ranks/cells.h - cells of a grid, by which ranks ask each other for the bodies of their halos (halo.c): all ranks
 * choose the same grid, ask for the cells that their free bodies touch, and send the bodies that touch these. */
#ifndef TALUS_WORLD_RANKS_CELLS_H
#define TALUS_WORLD_RANKS_CELLS_H

#include "world/ranks/ranks.h"

#include <talus/world.h>

/* Number of cells from which on a box counts as large. */
enum { TALUS_MANY_CELLS = 512 };

typedef struct TalusCellGrid {
    double edge[3];    /* m */
    double from[3];    /* m: start of a period; 0 */
    double lean;       /* of the grid along x over y, which follows the images of a sheared cell */
    int64_t around[3]; /* cells of a period; 0: none */
} TalusCellGrid;

/* Makes a grid whose cells have edges of about `edge`, so that they divide a period evenly. */
TalusCellGrid talus_cell_grid_make(const TalusPeriod *period, double edge);

/* The cells along the three axes that a box touches, ends included; along a period from 0 on, and at most those of one
 * period. */
typedef struct TalusCellRange {
    int64_t lo[3], hi[3];
} TalusCellRange;

TalusCellRange talus_cells_of_box(const TalusCellGrid *grid, const TalusReachBox *box);
/* Returns the number of cells, or TALUS_MANY_CELLS if there are more. */
int64_t talus_count_cells(const TalusCellRange *range);

/* A cell and a body that touches it. */
typedef struct TalusCellTouch {
    int32_t cell, body;
} TalusCellTouch;

/* The cells that bodies of a rank touch, and which bodies these are. Starts as zeros, but for the grid. */
typedef struct TalusCellTable {
    TalusCellGrid grid;
    int64_t cells;
    uint64_t *key; /* [cells]: one number for each cell */
    uint8_t *asks; /* [cells]: 1 if a free body touches the cell */
    int32_t
        *start; /* [cells + 1]: the bodies of cell c are body[start[c]] to body[start[c + 1] - 1] */
    int32_t *body;
    TalusCellTouch *touch; /* [touches], in the order of bodies */
    int64_t touches;
    int32_t *place; /* [mask + 1]: index of a cell, by a hash of its key; -1: none */
    uint64_t mask;
} TalusCellTable;

/* Adds a body in a box that is not large. */
TalusStatus talus_cell_table_add(TalusCellTable *t, int32_t body, bool is_free,
                                 const TalusReachBox *box);
/* Lists the bodies by cells, after the last one was added. */
TalusStatus talus_cell_table_list(TalusCellTable *t);
/* Writes the keys of the cells that free bodies touch within `box` to out[cells]; returns their number. */
int64_t talus_cell_table_ask(const TalusCellTable *t, const TalusReachBox *box, uint64_t *out);
/* Sets *body to the bodies of the cell with this key, and returns their number. */
int32_t talus_cell_table_find(const TalusCellTable *t, uint64_t key, const int32_t **body);
void talus_cell_table_clear(TalusCellTable *t);

#endif
