/* cli/commands/measure.c - talus measure: continuum fields, bulk figures and histograms of the states of a run. */
#include "measure.h"

#include "base/status.h"

#include <math.h>

static MeasureOptions options = {.command = &cli_measure,
                                 .at = NAN,
                                 .every = NAN,
                                 .from = NAN,
                                 .until = NAN,
                                 .width = NAN,
                                 .rattlers = -1,
                                 .threads = -1};

/* A run being measured. */
typedef struct Measurement {
    MeasureRequest request;
    MeasureStates states;
    TalusPool *pool;
    TalusFile *table;      /* of bulk figures or of a histogram; NULL: none */
    MeasureReport *report; /* NULL: none */
    MeasureFields *fields;
    MeasureFlux flux;
} Measurement;

static TalusStatus open_output(Measurement *m)
{
    const char *path = m->request.output ? m->request.output : "/dev/stdout";
    if (m->request.report)
        TALUS_TRY(measure_report_open(&m->request, &m->states, &m->report));
    if (m->request.fields.count)
        return measure_fields_open(&m->request, m->report, &m->fields);
    if (m->request.output || !m->request.report)
        TALUS_TRY(cli_create_file(&m->table, "%s", path));
    if (m->request.flux)
        return measure_flux_header(m->table);
    return (m->request.histogram ? measure_histogram_header : measure_bulk_header)(m->table);
}

static TalusStatus add_state(Measurement *m, TalusAssembly *assembly)
{
    if (m->request.flux)
        return measure_flux_add(&m->flux, m->table, &m->request, assembly);
    if (m->fields)
        return measure_fields_add(m->fields, assembly, m->pool);
    return (m->request.histogram ? measure_histogram_add : measure_bulk_add)(m->table, m->report,
                                                                             &m->request, assembly);
}

static TalusStatus measure_state(Measurement *m, int i)
{
    TalusAssembly assembly;
    TALUS_TRY(measure_take_state(&m->states, &m->request, i, &assembly));
    const TalusStatus status = add_state(m, &assembly);
    talus_assembly_free(&assembly);
    return status;
}

/* Commits the output or, after a failure, removes it. */
static TalusStatus close_output(Measurement *m, TalusStatus status)
{
    if (m->table && status == TALUS_OK)
        status = talus_file_commit(m->table);
    else if (m->table)
        talus_file_abandon(m->table);
    status = measure_fields_close(m->fields, status);
    return status == TALUS_OK && m->report ? measure_report_write(m->report, m->request.report)
                                           : status;
}

static TalusStatus measure_run(Measurement *m)
{
    TALUS_TRY(measure_states_open(&m->states, &options));
    TALUS_TRY(measure_complete_request(&m->states, &m->request));
    TALUS_TRY(talus_pool_create(options.threads < 0 ? 0 : options.threads, &m->pool));
    TalusStatus status = open_output(m);
    for (int i = 0; i < m->states.count; i++)
        TALUS_THEN(status, measure_state(m, i));
    return close_output(m, status);
}

static int measure_main(const CliList *operands)
{
    Measurement m = {.states = {.dir = operands->item[0]}};
    int code = measure_read_request(&options, &m.request);
    code = code == CLI_OK ? measure_choose_source(&m.states, &options) : code;
    if (code != CLI_OK)
        return code;
    if (measure_run(&m) != TALUS_OK)
        code = cli_fail_library();
    else
        measure_print_states(&m.states, &m.request, m.request.output ? stdout : stderr);
    measure_flux_close(&m.flux);
    measure_report_close(m.report);
    measure_states_close(&m.states);
    talus_pool_destroy(m.pool);
    return code;
}

static const CliOption option_table[] = {
    {"at", 0, CLI_REAL, &options.at, "T", "the last state at or before this time, s"},
    {"every", 0, CLI_REAL, &options.every, "T", "states at least this far apart, s"},
    {"from", 0, CLI_REAL, &options.from, "T", "states from this time on"},
    {"until", 0, CLI_REAL, &options.until, "T", "states up to this time"},
    {"source", 0, CLI_TEXT, &options.source, "NAME",
     "checkpoint: one state, exact; tables: frames of\n"
     "run --frames csv, exact; frames: frames.talus, rounded\n"
     "unless the run had --frames exact"},
    {"field", 'f', CLI_LIST, &options.field, "NAME", "a continuum field, below; may be repeated"},
    {"grid", 0, CLI_TEXT, &options.grid, "NX,NY,NZ", "cells of the box (default: 1,1,1)"},
    {"box", 0, CLI_TEXT, &options.box, "X0:X1,Y0:Y1,Z0:Z1",
     "where to measure, m (default: sides of periods, else\nbounds of the bodies)"},
    {"cylinder", 0, CLI_TEXT, &options.cylinder, "AXIS",
     "x, y or z: of the box the round part around this axis;\nnot for fields"},
    {"width", 0, CLI_REAL, &options.width, "W",
     "half width of the kernel, m (default: 3 median radii)"},
    {"histogram", 0, CLI_TEXT, &options.histogram, "NAME",
     "force: of normal forces over their mean; gap: of gaps, m"},
    {"flux", 0, CLI_TEXT, &options.flux, "AXIS=POS",
     "bodies and mass that cross a plane, such as z=0.5, from\nstate to state; within --box"},
    {"mean", 0, CLI_FLAG, &options.mean, NULL, "the mean over all states, not each of them"},
    {"tag", 0, CLI_TEXT, &options.tag, "N", "bodies of this tag flow, all others are boundary"},
    {"rattlers", 0, CLI_COUNT, &options.rattlers, "N",
     "bodies with fewer neighbours are rattlers (default: 2)"},
    {"threads", 0, CLI_COUNT, &options.threads, "N", "worker threads (default: one per processor)"},
    {"out", 'o', CLI_TEXT, &options.output, "FILE",
     "a table, or FILE.vti for ParaView (default: standard\noutput; with --report none)"},
    {"report", 0, CLI_TEXT, &options.report, "PAGE",
     "a page with plots: FILE.html, or report.html in a\ndirectory"},
};

const CliCommand cli_measure = {
    .name = "measure",
    .summary = "Measures continuum fields and bulk figures of a run.",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "Without --field: a row of bulk figures for each state: masses, energies, coordination,\n"
        "forces. With --field: a row for each cell, with the mean of the field over the cell. A\n"
        "profile along z is --grid 1,1,50, a region --grid 1,1,1. Without times: the last state.\n"
        "Fields: density, solid (volume fraction), momentum, velocity, spin, temperature,\n"
        "velocity_gradient, agitation, kinetic_stress, contact_stress, stress, pressure,\n"
        "divergence (of contact_stress), contact_force, boundary_force, contacts (loaded, per\n"
        "volume), fabric, dissipation (of a scene with \"dissipation\": true).\n",
    CLI_OPTIONS(option_table),
    .main = measure_main};
