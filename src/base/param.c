/* base/param.c - reading and describing parameter tables; nearest-name suggestions. */
#include "base/param.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of characters of a word that count in comparisons; a text key=value has fewer than twice as many. */
enum { MAX_WORD = 64 };

/* Stores a value in the parameter's field of the struct `values`, converted to the field's type. */
static void store_value(const TalusParam *param, void *values, double value)
{
    char *field = (char *)values + param->offset;
    switch (param->type) {
    case TALUS_PARAM_REAL: *(double *)(void *)field = value; break;
    case TALUS_PARAM_INT:
    case TALUS_PARAM_CHOICE: *(int *)(void *)field = (int)value; break;
    case TALUS_PARAM_FLAG: *(bool *)(void *)field = value != 0.0; break;
    }
}

void talus_params_set_defaults(const TalusParam *table, int count, void *values)
{
    for (int i = 0; i < count; i++)
        store_value(&table[i], values, table[i].preset);
}

/* Returns the least number of insertions, deletions and substitutions of characters that turn a into b; only the first
 * MAX_WORD characters count. */
static int edit_distance(const char *a, const char *b)
{
    int m = (int)strnlen(a, MAX_WORD), n = (int)strnlen(b, MAX_WORD);
    int row[MAX_WORD + 1];
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int substitute = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int best = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
            row[j] = best < substitute ? best : substitute;
        }
    }
    return row[n];
}

/* Returns the name that begins with `word`, or that `word` begins with ("tol", "tolerance"); of several, the nearest in
 * length. The shorter of the two has at least PREFIX letters. NULL if there is none. */
static const char *nearest_by_prefix(const char *word, const char *const *names, int count)
{
    enum { PREFIX = 3 };
    const char *best = NULL;
    size_t length = strnlen(word, MAX_WORD), smallest = MAX_WORD;
    for (int i = 0; i < count; i++) {
        size_t other = strnlen(names[i], MAX_WORD);
        size_t common = length < other ? length : other;
        size_t apart = length < other ? other - length : length - other;
        if (common >= PREFIX && apart < smallest && strncmp(word, names[i], common) == 0) {
            smallest = apart;
            best = names[i];
        }
    }
    return best;
}

const char *talus_nearest_name(const char *word, const char *const *names, int count)
{
    const char *best = nearest_by_prefix(word, names, count);
    if (best)
        return best;
    int limit = (int)strnlen(word, MAX_WORD) / 3 + 1;
    for (int i = 0; i < count; i++) {
        int d = edit_distance(word, names[i]);
        if (d <= limit) {
            limit = d - 1; /* of equal distances, the first wins */
            best = names[i];
        }
    }
    return best;
}

/* Writes the choices of a parameter as "a|b|c". */
static void list_choices(const TalusParam *param, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; param->choices[i] && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i ? "|" : "", param->choices[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* read_choice, read_flag and read_number store the text `value` in the parameter's field of `values`, by the
 * parameter's type; they fail if it is no valid value. */
static TalusStatus read_choice(const TalusParam *param, const char *owner, const char *value,
                               void *values)
{
    for (int i = 0; param->choices[i]; i++)
        if (strcmp(param->choices[i], value) == 0) {
            store_value(param, values, i);
            return TALUS_OK;
        }
    char list[256];
    list_choices(param, list, sizeof list);
    return talus_reject("%s: %s=%s: expected one of %s", owner, param->key, value, list);
}

static TalusStatus read_flag(const TalusParam *param, const char *owner, const char *value,
                             void *values)
{
    bool on = strcmp(value, "on") == 0 || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    bool off = strcmp(value, "off") == 0 || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
    if (!on && !off)
        return talus_reject("%s: %s=%s: expected on or off", owner, param->key, value);
    store_value(param, values, on);
    return TALUS_OK;
}

static TalusStatus read_number(const TalusParam *param, const char *owner, const char *value,
                               void *values)
{
    char *end;
    double x = strtod(value, &end);
    const char *kind = param->type == TALUS_PARAM_INT ? "a whole number" : "a number";
    if (end == value || *end != '\0' || !isfinite(x) ||
        (param->type == TALUS_PARAM_INT && x != floor(x)))
        return talus_reject("%s: %s=%s: expected %s", owner, param->key, value, kind);
    if (x < param->min || x > param->max)
        return talus_reject("%s: %s=%s: expected %s from %g to %g", owner, param->key, value, kind,
                            param->min, param->max);
    store_value(param, values, x);
    return TALUS_OK;
}

/* Calls the one of the three that belongs to the parameter's type. */
static TalusStatus read_value(const TalusParam *param, const char *owner, const char *value,
                              void *values)
{
    switch (param->type) {
    case TALUS_PARAM_CHOICE: return read_choice(param, owner, value, values);
    case TALUS_PARAM_FLAG: return read_flag(param, owner, value, values);
    default: return read_number(param, owner, value, values);
    }
}

/* Fails with a message that suggests the nearest valid key. */
static TalusStatus reject_unknown_key(const TalusParam *table, int count, const char *owner,
                                      const char *key)
{
    const char *names[64];
    int n = count < 64 ? count : 64;
    for (int i = 0; i < n; i++)
        names[i] = table[i].key;
    const char *near = talus_nearest_name(key, names, n);
    if (near)
        return talus_reject("%s: no parameter '%s'; did you mean '%s'?", owner, key, near);
    return talus_reject("%s: no parameter '%s'; `talus list solvers` names its parameters", owner,
                        key);
}

/* Reads one "key=value", in place, into `values`. */
static TalusStatus read_pair(const TalusParam *table, int count, const char *owner, char *pair,
                             void *values)
{
    char *equals = strchr(pair, '=');
    if (!equals)
        return talus_reject("%s: '%s': expected key=value", owner, pair);
    *equals = '\0';
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].key, pair) == 0)
            return talus_error_key(pair, read_value(&table[i], owner, equals + 1, values));
    return talus_error_key(pair, reject_unknown_key(table, count, owner, pair));
}

TalusStatus talus_params_parse(const TalusParam *table, int count, const char *owner,
                               const char *text, void *values)
{
    while (text && *text) {
        char pair[2 * MAX_WORD];
        size_t length = strcspn(text, ",");
        if (length >= sizeof pair)
            return talus_reject("%s: '%.40s...': expected key=value", owner, text);
        memcpy(pair, text, length);
        pair[length] = '\0';
        TALUS_TRY(read_pair(table, count, owner, pair, values));
        text += length + (text[length] == ',');
    }
    return TALUS_OK;
}

void talus_param_describe(const TalusParam *param, char *text, size_t size)
{
    char list[256];
    switch (param->type) {
    case TALUS_PARAM_CHOICE:
        list_choices(param, list, sizeof list);
        snprintf(text, size, "  %s=%s  %s (%s)", param->key, param->choices[(int)param->preset],
                 param->help, list);
        break;
    case TALUS_PARAM_FLAG:
        snprintf(text, size, "  %s=%s  %s (on|off)", param->key, param->preset ? "on" : "off",
                 param->help);
        break;
    default:
        snprintf(text, size, "  %s=%g  %s (%g to %g)", param->key, param->preset, param->help,
                 param->min, param->max);
    }
}
