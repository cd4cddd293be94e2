/* cli/commands/measure.h - talus measure: the parts of the command. measure.c has the options and goes through the states of
 * a run; each table of figures is made by functions that see one state after the other. */
#ifndef TALUS_CLI_MEASURE_H
#define TALUS_CLI_MEASURE_H

#include "cli/cli.h"

#include "io/file/file.h"
#include "io/formats/field_table.h"
#include "io/run/states.h"

/* Values of the options. NULL, NAN, -1: not given. */
typedef struct MeasureOptions {
    const CliCommand *command; /* for messages */
    double at, every, from, until, width;
    const char *source, *grid, *box, *cylinder, *output, *tag, *histogram, *flux, *report;
    CliList field;
    int rattlers, threads;
    bool mean;
} MeasureOptions;

/* What the options ask for. */
typedef struct MeasureRequest {
    bool has_box;     /* given by the user */
    TalusVec3 lo, hi; /* of the box; of bulk figures without one: infinite */
    int axis;         /* of the cylinder in the box; -1: the box itself */
    int cells[3];
    double width; /* of the kernel, m; NAN: three times the median radius */
    TalusFieldTable fields;
    bool histogram; /* of `distribution`, in place of bulk figures */
    TalusDistribution distribution;
    bool flux; /* through the plane across flux_axis at flux_at, in place of bulk figures */
    int flux_axis;
    double flux_at;
    bool mean, series; /* series: of images, as there are several states and no mean */
    int rattlers, tag;
    const char *output; /* NULL: standard output or, with `report`, nothing */
    const char *report; /* page, or directory of a page report.html; NULL: none */
} MeasureRequest;

enum { MEASURE_HISTOGRAM_COLUMNS = 5 };

/* ---- measure_request.c ---- */

/* Fills the request from the options. Returns the exit code, after a message if they are wrong. */
int measure_read_request(const MeasureOptions *options, MeasureRequest *request);

/* ---- measure_states.c: the states to measure, and what they lack ---- */

typedef struct MeasureStates {
    const char *dir;
    TalusStateSource source;
    TalusStates *states;
    int *chosen, count; /* indices of the states to measure */
    /* What the states read so far had; data: TALUS_ASSEMBLY_... bits of all of them. */
    bool rounded;   /* some of them were, as frames are by default */
    double quantum; /* largest grid of positions of such states, m */
    unsigned data;
    int bodies, assumed_masses; /* of the last one */
    TalusAssembly before;       /* numbers and dissipated energies of the last one taken */
    bool has_before;
} MeasureStates;

/* Sets s->source from --source or, without it, the best that the run in s->dir has for these options. Returns the exit
 * code. */
int measure_choose_source(MeasureStates *s, const MeasureOptions *options);
/* Opens the states and chooses those of the options; measure_states_close also after a failure. */
TalusStatus measure_states_open(MeasureStates *s, const MeasureOptions *options);
void measure_states_close(MeasureStates *s);
/* Sets box and width of a request for fields, where the options leave them open, from the chosen states. */
TalusStatus measure_complete_request(MeasureStates *s, MeasureRequest *request);
/* Takes the chosen state i. Fails if it lacks what the request needs, and says how to get it. */
TalusStatus measure_take_state(MeasureStates *s, const MeasureRequest *request, int i,
                               TalusAssembly *assembly);
/* Prints which states were measured, how exact they are and what they lack. */
void measure_print_states(const MeasureStates *s, const MeasureRequest *request, FILE *out);

/* ---- measure_report.c: a page with plots ---- */

typedef struct MeasureReport MeasureReport;

/* Starts a report of the rows that the request asks for; both arguments must outlive it. */
TalusStatus measure_report_open(const MeasureRequest *request, const MeasureStates *states,
                                MeasureReport **out);
/* Adds a row of the table, its numbers in the order of the columns; NAN: an empty cell. */
TalusStatus measure_report_add(MeasureReport *report, const double *row);
/* Writes the page to a path that ends with .html, or to report.html in a directory. */
TalusStatus measure_report_write(MeasureReport *report, const char *path);
/* NULL is allowed. */
void measure_report_close(MeasureReport *report);

/* ---- measure_fields.c: continuum fields, a row per cell, or an image ---- */

typedef struct MeasureFields MeasureFields;

/* Starts with a request whose box and width are known; the rows go to `report`, too, unless it is NULL. */
TalusStatus measure_fields_open(const MeasureRequest *request, MeasureReport *report,
                                MeasureFields **out);
TalusStatus measure_fields_add(MeasureFields *fields, const TalusAssembly *assembly,
                               TalusPool *pool);
/* Writes what is left, and ends the file; frees `fields` in any case. */
TalusStatus measure_fields_close(MeasureFields *fields, TalusStatus status);

/* ---- measure_flux.c: what crosses a plane, a row per state ---- */

typedef struct MeasureFlux {
    TalusAssembly before; /* the state before, if there is any */
    bool any;
    TalusFlux total;
} MeasureFlux;

TalusStatus measure_flux_header(TalusFile *file);
/* Adds a row, and takes the assembly over. */
TalusStatus measure_flux_add(MeasureFlux *flux, TalusFile *file, const MeasureRequest *request,
                             TalusAssembly *assembly);
void measure_flux_close(MeasureFlux *flux);

/* ---- measure_bulk.c: bulk figures, a row per state ---- */

/* Of these functions `file` and `report` may be NULL. */
TalusStatus measure_bulk_header(TalusFile *file);
TalusStatus measure_bulk_add(TalusFile *file, MeasureReport *report, const MeasureRequest *request,
                             const TalusAssembly *assembly);

/* The same for the histogram of the request's distribution, a row per bin. */
TalusStatus measure_histogram_header(TalusFile *file);
TalusStatus measure_histogram_add(TalusFile *file, MeasureReport *report,
                                  const MeasureRequest *request, const TalusAssembly *assembly);

#endif
