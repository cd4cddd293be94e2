/* talus/sparse.h - a sparse matrix in compressed rows. */
#ifndef TALUS_SPARSE_H
#define TALUS_SPARSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sparse matrix in compressed rows. Column indices ascend within a row, without duplicates. An absent matrix has start
 * NULL. */
typedef struct TalusSparse {
    int rows, columns;
    int32_t *start; /* [rows + 1], from 0 to the number of entries */
    int32_t *column;
    double *value;
} TalusSparse;

#ifdef __cplusplus
}
#endif

#endif
