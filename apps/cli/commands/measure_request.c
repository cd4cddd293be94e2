/* cli/commands/measure_request.c - what the options of talus measure ask for. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

/* Reads a finite number at *text, and goes behind it and the character `end`, which may be NUL. */
static bool read_number(const char **text, char end, double *out)
{
    char *behind;
    *out = strtod(*text, &behind);
    if (behind == *text || *behind != end || !isfinite(*out))
        return false;
    *text = end ? behind + 1 : behind;
    return true;
}

/* Parses --box X0:X1,Y0:Y1,Z0:Z1. */
static bool parse_box(const char *text, MeasureRequest *request)
{
    double *lo = &request->lo.x, *hi = &request->hi.x;
    for (int k = 0; k < 3; k++)
        if (!read_number(&text, ':', &lo[k]) || !read_number(&text, k < 2 ? ',' : '\0', &hi[k]) ||
            !(lo[k] < hi[k]))
            return false;
    return true;
}

/* Parses --grid NX,NY,NZ. */
static bool parse_grid(const char *text, MeasureRequest *request)
{
    for (int k = 0; k < 3; k++) {
        double cells;
        if (!read_number(&text, k < 2 ? ',' : '\0', &cells) || cells != floor(cells) ||
            !(cells >= 1.0 && cells <= 1e6))
            return false;
        request->cells[k] = (int)cells;
    }
    return true;
}

/* Parses --tag; returns false if it is no integer. */
static bool parse_tag(const char *text, int *tag)
{
    double value;
    if (!read_number(&text, '\0', &value) || value != floor(value) || fabs(value) > INT32_MAX)
        return false;
    *tag = (int)value;
    return true;
}

/* Parses --cylinder. */
static bool parse_axis(const char *text, int *axis)
{
    *axis = text[0] - 'x';
    return text[0] >= 'x' && text[0] <= 'z' && text[1] == '\0';
}

/* Parses --flux AXIS=POS. */
static bool parse_flux(const char *text, MeasureRequest *r)
{
    const char *number = text + 2;
    r->flux_axis = text[0] - 'x';
    r->flux = text[0] >= 'x' && text[0] <= 'z' && text[1] == '=';
    return r->flux && read_number(&number, '\0', &r->flux_at);
}

/* Parses --histogram. */
static bool parse_histogram(const char *text, MeasureRequest *request)
{
    for (int d = 0; d < TALUS_DISTRIBUTIONS; d++) {
        request->distribution = (TalusDistribution)d;
        request->histogram = strcmp(text, talus_distribution_name(request->distribution)) == 0;
        if (request->histogram)
            return true;
    }
    return false;
}

/* Adds the field of a name to the request; returns the exit code. */
static int add_field(const MeasureOptions *o, const char *name, MeasureRequest *request)
{
    const char *names[TALUS_QUANTITIES];
    TalusQuantity quantity;
    for (int q = 0; q < TALUS_QUANTITIES; q++)
        names[q] = talus_quantity_row((TalusQuantity)q).name;
    if (!talus_quantity_find(name, &quantity))
        return cli_fail_usage(o->command, "--field %s: no such field%s", name,
                              cli_did_you_mean(name, names, TALUS_QUANTITIES, ""));
    if (!talus_field_table_add(&request->fields, quantity))
        return cli_fail_usage(o->command, "--field %s: given twice", name);
    return CLI_OK;
}

/* Checks options against each other; returns the exit code. */
static int check_options(const MeasureOptions *o, const MeasureRequest *request)
{
    const bool images = o->output && cli_ends_with(o->output, ".vti");
    if (!isnan(o->at) && (!isnan(o->every) || !isnan(o->from) || !isnan(o->until)))
        return cli_fail_usage(o->command, "--at: chooses one state; --every, --from and --until "
                                          "choose several");
    if (request->fields.count == 0 && (o->grid || o->mean || images))
        return cli_fail_usage(o->command, "%s: is for fields; expected --field NAME",
                              o->grid   ? "--grid"
                              : o->mean ? "--mean"
                                        : "-o FILE.vti");
    if (request->fields.count == 0 && !isnan(o->width))
        return cli_fail_usage(o->command,
                              "--width: of the kernel of fields; expected --field NAME");
    if (o->rattlers >= 0 && (request->fields.count || request->histogram || request->flux))
        return cli_fail_usage(o->command, "--rattlers: is for bulk figures; expected no --%s",
                              request->histogram ? "histogram"
                              : request->flux    ? "flux"
                                                 : "field");
    if (o->cylinder && (!o->box || request->fields.count))
        return cli_fail_usage(o->command,
                              "--cylinder: expected --box, and no --field: cells are boxes");
    if (request->histogram && request->fields.count)
        return cli_fail_usage(o->command, "--histogram: expected no --field beside it");
    if (request->flux && (request->fields.count || request->histogram || o->cylinder || o->report))
        return cli_fail_usage(o->command, "--flux: expected no %s beside it",
                              request->fields.count ? "--field"
                              : request->histogram  ? "--histogram"
                              : o->cylinder         ? "--cylinder"
                                                    : "--report");
    if (request->flux && isnan(o->every) && isnan(o->from) && isnan(o->until))
        return cli_fail_usage(o->command,
                              "--flux: compares several states; expected --every, --from "
                              "or --until");
    if (o->width == 0.0)
        return cli_fail_usage(o->command, "--width 0: expected a length above 0");
    return CLI_OK;
}

/* Parses the texts of options into the request; returns the exit code. */
static int parse_texts(const MeasureOptions *o, MeasureRequest *r)
{
    if (o->box && !parse_box(o->box, r))
        return cli_fail_usage(o->command, "--box %s: expected X0:X1,Y0:Y1,Z0:Z1, in m, ascending",
                              o->box);
    if (o->grid && !parse_grid(o->grid, r))
        return cli_fail_usage(o->command, "--grid %s: expected NX,NY,NZ, numbers of cells",
                              o->grid);
    if (o->cylinder && !parse_axis(o->cylinder, &r->axis))
        return cli_fail_usage(o->command, "--cylinder %s: expected x, y or z", o->cylinder);
    if (o->tag && !parse_tag(o->tag, &r->tag))
        return cli_fail_usage(o->command, "--tag %s: expected a whole number", o->tag);
    if (o->flux && !parse_flux(o->flux, r))
        return cli_fail_usage(o->command, "--flux %s: expected AXIS=POS, such as z=0.5, in m",
                              o->flux);
    if (o->histogram && !parse_histogram(o->histogram, r))
        return cli_fail_usage(o->command, "--histogram %s: expected force or gap", o->histogram);
    return CLI_OK;
}

int measure_read_request(const MeasureOptions *o, MeasureRequest *r)
{
    *r = (MeasureRequest){.lo = {-INFINITY, -INFINITY, -INFINITY},
                          .hi = {INFINITY, INFINITY, INFINITY},
                          .axis = -1,
                          .cells = {1, 1, 1},
                          .width = o->width,
                          .has_box = o->box,
                          .mean = o->mean,
                          .rattlers = o->rattlers < 0 ? 2 : o->rattlers,
                          .tag = TALUS_ANY_TAG,
                          .output = o->output,
                          .report = o->report};
    for (int i = 0; i < o->field.count; i++) {
        const int code = add_field(o, o->field.item[i], r);
        if (code != CLI_OK)
            return code;
    }
    const int code = parse_texts(o, r);
    return code == CLI_OK ? check_options(o, r) : code;
}
