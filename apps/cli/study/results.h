/* cli/study/results.h - what a study has found, as tables, JSON and a page. */
#ifndef TALUS_CLI_STUDY_RESULTS_H
#define TALUS_CLI_STUDY_RESULTS_H

#include "study.h"

#include "cli/json_out.h"

/* Returns the number of runs in a state; its name in tables. */
int study_count(const Study *study, StudyState state);
const char *study_state_name(StudyState state);
/* Returns the mean of a figure over the runs of a point, and how well it is known. */
StudySample study_sample(const Study *study, int point, int figure);
/* Writes runs.csv, table.csv and sweep.json. */
TalusStatus study_write_results(const Study *study);
/* Writes the value of sweep.json. */
void study_write_json(const Study *study, JsonOut *json);

/* ---- page.c ---- */

/* Writes report.html. */
TalusStatus study_write_page(const Study *study);
/* Prints the table of points, unless it is longer than STUDY_SHOWN. */
void study_print_table(const Study *study, FILE *out);

#endif
