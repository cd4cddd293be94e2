/* base/param.h - typed parameter tables.
 *
 * Each solver has one table of its parameters, from which the command line, scene keys, range checks, listings and
 * docs are made. */
#ifndef TALUS_BASE_PARAM_H
#define TALUS_BASE_PARAM_H

#include <talus/base.h>

typedef enum TalusParamType {
    TALUS_PARAM_REAL,   /* double */
    TALUS_PARAM_INT,    /* int */
    TALUS_PARAM_CHOICE, /* int, index into `choices` */
    TALUS_PARAM_FLAG    /* bool; listed as on or off, read also as true or false, 1 or 0 */
} TalusParamType;

/* One parameter: a row of the table. */
typedef struct TalusParam {
    const char *key;
    TalusParamType type;
    size_t offset;              /* of the field in the parameter struct, bytes */
    double preset;              /* default value; of a choice, its index in `choices` */
    double min, max;            /* range of a number, both included */
    const char *const *choices; /* of a choice: its values, NULL-terminated */
    const char *help;
} TalusParam;

/* Sets every parameter of the struct `values` to its preset. */
void talus_params_set_defaults(const TalusParam *table, int count, void *values);

/* Reads "key=value,key=value" (may be empty or NULL) into the struct `values`. `owner` names the solver in messages.
 * For an unknown key the error names the nearest valid key, if one is near; for a bad value, what is expected. Values
 * before the one that fails have been stored. */
TalusStatus talus_params_parse(const TalusParam *table, int count, const char *owner,
                               const char *text, void *values);

/* Writes one line of a listing, cut at `size`: "  key=preset  help (range)", or the choices "a|b" for the range. */
void talus_param_describe(const TalusParam *param, char *text, size_t size);

/* Returns the entry of names[count] that is most like `word`: one that begins with `word` or that `word` begins with,
 * the shorter of the two having 3 letters or more; else the one with the least edit distance. NULL if that distance is
 * above a third of the length of `word` plus one. */
const char *talus_nearest_name(const char *word, const char *const *names, int count);

#endif
