/* lab/validate/report.c - tables of `talus validate`: what each case shows, and its verdicts. */
#include "validate.h"

#include <math.h>

/* Adds a row of the table of verdicts. */
static void add_row(LabTable *t, const ValidateRow *row)
{
    const ValidateQuantity *q = &row->quantity;
    const char *space = q->unit[0] ? " " : "";
    lab_table_add_cells(t, "%s\t%s\t%.4g ms\t%s\t%.6g%s%s\t%.6g\t%+.1e\t%.1e", row->of->name,
                        row->of->without_contact ? "-" : talus_law_name(row->law), 1e3 * row->step,
                        q->name, q->expected, space, q->unit, row->found, row->found - q->expected,
                        row->bound);
    if (row->of->seeds > 1)
        lab_table_add_cells(t, "%.1e of %d", row->scatter, row->of->seeds);
    else
        lab_table_add_cells(t, "-");
    lab_table_add_cell(t, "%s", validate_verdict_name(row->verdict));
}

static void add_verdicts(LabSet *set, const ValidateRow *rows, int count)
{
    LabTable *t = lab_set_add_table(
        set, "Cases",
        "case\tlaw\th\tquantity\texpected\tfound\terror\tbound\tstandard error\tverdict");
    for (int i = 0; i < count; i++)
        add_row(t, &rows[i]);
    snprintf(
        t->note, sizeof t->note,
        "Each case is judged at its step and at half of it, where the bound is that of its "
        "order. Error and bound are in the unit of the quantity. Law -: nothing touches. Standard error: of "
        "the mean over so many seeds; it must be at most half of the bound.");
}

static void add_sources(LabSet *set, const ValidateRow *rows, int count)
{
    LabTable *t = lab_set_add_table(set, "What the cases show",
                                    "case\tshows\tsource of the closed form\tbound, and why");
    for (int i = 0; i < count; i++) {
        const ValidateCase *c = rows[i].of;
        if (i > 0 && rows[i - 1].of == c)
            continue;
        lab_table_add_cell(t, "%s", c->name);
        lab_table_add_cell(t, "%s", c->shows);
        lab_table_add_cell(t, "%s", c->source);
        lab_table_add_cell(t, "%s", c->reason);
    }
}

/* Adds a note for each quantity that is expected to fail, and for each case that could not be measured. */
static void add_notes(LabSet *set, const ValidateRow *rows, int count)
{
    for (int i = 0; i < count; i++) {
        const ValidateRow *r = &rows[i];
        const char *failure = validate_expected_failure(&r->quantity, r->law);
        if (r->error[0])
            lab_set_add_note(set, "%s, %s, h %g ms: not measured: %s.", r->of->name,
                             talus_law_name(r->law), 1e3 * r->step, r->error);
        else if (failure && r->step == r->of->step)
            lab_set_add_note(set, "%s, %s, %s is expected to fail: %s.", r->of->name,
                             talus_law_name(r->law), r->quantity.name, failure);
    }
}

void validate_add_tables(LabSet *set, const ValidateRow *rows, int count)
{
    add_verdicts(set, rows, count);
    add_sources(set, rows, count);
    add_notes(set, rows, count);
}
