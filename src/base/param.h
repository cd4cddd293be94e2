/* base/param.h - typed parameter tables.
 *
 * One table per solver feeds the command line, scene keys, range checks, listings and docs. */
#ifndef TALUS_BASE_PARAM_H
#define TALUS_BASE_PARAM_H

#include <talus/base.h>

typedef enum TalusParamType {
    TALUS_PARAM_REAL,   /* double */
    TALUS_PARAM_INT,    /* int */
    TALUS_PARAM_CHOICE, /* int, index into `choices` */
    TALUS_PARAM_FLAG    /* bool; written on/off */
} TalusParamType;

typedef struct TalusParam {
    const char *key;
    TalusParamType type;
    size_t offset; /* of the field in the parameter struct, bytes */
    double preset; /* default value; of a choice, its index in `choices` */
    double min, max;
    const char *const *choices; /* NULL-terminated */
    const char *help;
} TalusParam;

/* Writes every preset into `values`. */
void talus_params_set_defaults(const TalusParam *table, int count, void *values);

/* Reads "key=value,key=value" (may be empty or NULL) into `values`. `owner` names the solver in messages. The error of
 * an unknown key names the nearest valid key, that of a bad value what is expected. */
TalusStatus talus_params_parse(const TalusParam *table, int count, const char *owner,
                               const char *text, void *values);

/* Writes one line of a listing: "  key=preset   help (range)". */
void talus_param_describe(const TalusParam *param, char *text, size_t size);

/* Returns the entry of names[count] most like `word`: by a common beginning, else by edit distance. NULL if all
 * are more than a third of its letters plus one edits away. */
const char *talus_nearest_name(const char *word, const char *const *names, int count);

#endif
