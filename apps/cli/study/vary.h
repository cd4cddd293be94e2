/* cli/study/vary.h - what a study varies: values of keys of the scene, and the points they form. */
#ifndef TALUS_CLI_STUDY_VARY_H
#define TALUS_CLI_STUDY_VARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STUDY_AXES = 8,
    STUDY_RANGE_MAX = 100000
}; /* maximum number of axes; of values of a range */

/* A key of the scene and its values, as in --vary KEY=... */
typedef struct StudyAxis {
    char *key;
    char **value; /* [count], texts as for --set */
    double *real; /* [count], the values as numbers; NAN: a text that is none */
    int count;
    bool log; /* a logarithmic range */
} StudyAxis;

/* Parses "KEY=A:B:N" (N values from A to B, evenly spaced), "KEY=A:B:N:log" (in equal ratios) or "KEY=V1,V2,...", where commas
 * in brackets, braces and quotes separate no values. Values of a range are rounded to 12 digits. On failure returns false
 * with the reason, which begins with the text; clear the axis in any case. */
bool study_axis_parse(const char *text, StudyAxis *axis, char *why, size_t size);
void study_axis_clear(StudyAxis *axis);

/* Axes form a grid: each value of one with each of the others, the last axis varying first. Paired, the first values of
 * all axes form the first point, and so on. */
typedef struct StudyGrid {
    StudyAxis axis[STUDY_AXES];
    int axes;
    bool paired;
} StudyGrid;

/* Returns the number of points, 1 without axes; limited to INT64_MAX. */
int64_t study_grid_count(const StudyGrid *grid);
/* Returns which value of an axis a point has. */
int study_grid_index(const StudyGrid *grid, int point, int axis);

#endif
