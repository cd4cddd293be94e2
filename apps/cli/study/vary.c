/* cli/study/vary.c - parses what a study varies; numbers its points. */
#include "vary.h"

#include "cli/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(char *why, size_t size, const char *text, const char *format, ...)
    CLI_PRINTF(4, 5);

/* Writes "TEXT: REASON" and returns false. */
static bool refuse(char *why, size_t size, const char *text, const char *format, ...)
{
    va_list args;
    const int used = snprintf(why, size, "%s: ", text);
    va_start(args, format);
    if ((size_t)used < size)
        vsnprintf(why + used, size - (size_t)used, format, args);
    va_end(args);
    return false;
}

/* ---- values ---- */

static double read_real(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(value) ? value : NAN;
}

/* Appends the text of `length` characters. */
static void add_value(StudyAxis *axis, const char *text, size_t length)
{
    const size_t count = (size_t)axis->count;
    if ((count & (count - 1)) == 0) { /* 0 or a power of two: the arrays are full */
        const size_t capacity = count ? 2 * count : 1;
        axis->value = cli_check_memory(realloc(axis->value, capacity * sizeof *axis->value));
        axis->real = cli_check_memory(realloc(axis->real, capacity * sizeof *axis->real));
    }
    char *copy = cli_check_memory(malloc(length + 1));
    memcpy(copy, text, length);
    copy[length] = '\0';
    axis->value[axis->count] = copy;
    axis->real[axis->count++] = read_real(copy);
}

static void add_real(StudyAxis *axis, double value)
{
    char text[40];
    const int length = snprintf(text, sizeof text, "%.12g", value);
    add_value(axis, text, (size_t)length);
}

/* Returns the length of the value at the start of the text: up to a comma outside of brackets, braces and quotes. */
static size_t value_length(const char *text)
{
    int depth = 0;
    bool quoted = false;
    size_t n = 0;
    for (; text[n] && (quoted || depth > 0 || text[n] != ','); n++) {
        if (text[n] == '"')
            quoted = !quoted;
        else if (quoted && text[n] == '\\' && text[n + 1])
            n++;
        else if (!quoted && strchr("[{(", text[n]))
            depth++;
        else if (!quoted && strchr("]})", text[n]))
            depth--;
    }
    return n;
}

/* False if two values are equal, as numbers or as texts. */
static bool check_distinct(const char *text, const StudyAxis *axis, char *why, size_t size)
{
    for (int i = 0; i < axis->count; i++)
        for (int k = 0; k < i; k++)
            if (axis->real[i] == axis->real[k] || strcmp(axis->value[i], axis->value[k]) == 0)
                return refuse(why, size, text, "the value %s is given twice", axis->value[i]);
    return true;
}

static bool parse_list(const char *text, const char *values, StudyAxis *axis, char *why,
                       size_t size)
{
    for (;; values++) {
        const size_t length = value_length(values);
        if (length == 0)
            return refuse(why, size, text, "a value is empty");
        add_value(axis, values, length);
        values += length;
        if (*values == '\0')
            return check_distinct(text, axis, why, size);
    }
}

/* ---- ranges ---- */

/* A range A:B:N or A:B:N:log. */
typedef struct Range {
    double first, last, count;
    bool log;
} Range;

/* True if the values begin with "NUMBER:", as those of a range do and texts such as polygon:8 do not. */
static bool is_range(const char *values)
{
    char *end;
    strtod(values, &end);
    return end != values && *end == ':';
}

/* Reads the parts of a range; false if it has another form. */
static bool read_range(const char *values, Range *range)
{
    double *const number[] = {&range->first, &range->last, &range->count};
    for (int i = 0; i < 3; i++) {
        char *end;
        *number[i] = strtod(values, &end);
        if (end == values || !isfinite(*number[i]) || (i < 2 && *end != ':'))
            return false;
        values = i < 2 ? end + 1 : end;
    }
    range->log = strcmp(values, ":log") == 0;
    return *values == '\0' || range->log;
}

/* Returns value i of the range; the ends are exact. */
static double range_value(const Range *range, int i)
{
    const double share = i / (range->count - 1.0);
    if (i == 0 || share == 1.0)
        return i == 0 ? range->first : range->last;
    return range->log ? range->first * pow(range->last / range->first, share)
                      : range->first + share * (range->last - range->first);
}

static bool parse_range(const char *text, const char *values, StudyAxis *axis, char *why,
                        size_t size)
{
    Range range;
    if (!read_range(values, &range))
        return refuse(why, size, text,
                      "expected FIRST:LAST:NUMBER or FIRST:LAST:NUMBER:log, such as 0.1:0.9:9");
    if (!(range.count >= 2.0 && range.count <= STUDY_RANGE_MAX) ||
        range.count != floor(range.count))
        return refuse(why, size, text, "expected a whole number of values from 2 to %d",
                      STUDY_RANGE_MAX);
    if (range.log && !(range.first > 0.0 && range.last > 0.0))
        return refuse(why, size, text, "the ends of a logarithmic range are to be above 0");
    if (range.first == range.last)
        return refuse(why, size, text, "both ends are %g", range.first);
    axis->log = range.log;
    for (int i = 0; i < (int)range.count; i++)
        add_real(axis, range_value(&range, i));
    return true;
}

/* ---- axes ---- */

bool study_axis_parse(const char *text, StudyAxis *axis, char *why, size_t size)
{
    const char *equals = strchr(text, '=');
    *axis = (StudyAxis){0};
    if (!equals || equals == text)
        return refuse(why, size, text, "expected KEY=VALUES, such as mu=0.1:0.9:9 or mu=0.1,0.5");
    axis->key = cli_check_memory(strndup(text, (size_t)(equals - text)));
    return is_range(equals + 1) ? parse_range(text, equals + 1, axis, why, size)
                                : parse_list(text, equals + 1, axis, why, size);
}

void study_axis_clear(StudyAxis *axis)
{
    for (int i = 0; i < axis->count; i++)
        free(axis->value[i]);
    free(axis->value);
    free(axis->real);
    free(axis->key);
    *axis = (StudyAxis){0};
}

int64_t study_grid_count(const StudyGrid *grid)
{
    int64_t count = 1;
    for (int a = 0; a < grid->axes; a++) {
        const int64_t more = grid->axis[a].count;
        if (grid->paired)
            return more;
        count = count > INT64_MAX / more ? INT64_MAX : count * more;
    }
    return count;
}

int study_grid_index(const StudyGrid *grid, int point, int axis)
{
    if (grid->paired)
        return point;
    for (int a = grid->axes - 1; a > axis; a--)
        point /= grid->axis[a].count;
    return point % grid->axis[axis].count;
}
