/* cli/study/figure.h - what a study measures: columns of the tables of its runs. */
#ifndef TALUS_CLI_STUDY_FIGURE_H
#define TALUS_CLI_STUDY_FIGURE_H

#include "cli/cli.h"

typedef enum StudyTable {
    STUDY_BULK,
    STUDY_STEPS,
    STUDY_PROBES,
    STUDY_FLOWS,
    STUDY_JOINTS,
    STUDY_CELL,
    STUDY_FIELDS,
    STUDY_TABLES
} StudyTable;

enum { STUDY_NAME = 128 }; /* bytes of a name of a column, probe or joint */

/* A figure of a run: a column of one of its tables, at the end or as the mean from a time on. */
typedef struct StudyFigure {
    const char *text; /* as given */
    StudyTable table;
    char column[STUDY_NAME];
    char row[STUDY_NAME]; /* name of the probe, flow or joint */
    double
        every; /* s: between the rows of a probe of fields; 0: each step, and of all other tables */
    double from; /* the mean of the rows from this time on, s; NAN: the last row */
} StudyFigure;

/* Parses "COLUMN" (a bulk figure), "steps:COLUMN", "cell:COLUMN", "probe:NAME.COLUMN", "flow:NAME.COLUMN",
 * "joint:NAME.COLUMN" or "field:NAME.COLUMN", each perhaps with "@T", the
 * time from which on the mean is taken; without it, `from`. Checks names of columns, and of probes, flows and joints by the scene.
 * Returns the exit code, after a message of `command` if the figure is not known. */
int study_figure_parse(const CliCommand *command, const char *text, double from,
                       const TalusScene *scene, StudyFigure *out);
/* Reads the figure from the tables in the directory of a run; *value is NAN if their cells are empty. */
TalusStatus study_figure_read(const StudyFigure *figure, const char *dir, double *value);

#endif
