/* lab/experiments/defaults/defaults.h - `talus bench default`: settings of contact side by side, the default among them.
 *
 * A case is one run, or a few of one state, under one setting. It is named by a path, PART/WHAT/.../SETTING, by which
 * the user selects it, and gives figures, numbers with names. Independent cases run at the same time, each on one
 * thread; cases whose time is a figure run alone. Figures are stored in DIR/cases.csv after each case (defaults_store.c):
 * a later call takes them from there, and makes the tables from all cases that the file has. */
#ifndef TALUS_LAB_DEFAULTS_H
#define TALUS_LAB_DEFAULTS_H

#include "lab/experiments/worlds.h"

enum { DEFAULTS_FIGURES = 24, DEFAULTS_NAME = 96, DEFAULTS_SETTINGS = 6, DEFAULTS_SEEDS = 3 };

/* What a user sets for contacts. */
typedef struct Setting {
    const char *name;
    bool as_is; /* nothing is set: the default of worlds, whatever it is */
    TalusFrictionLaw law;
    double compliance, elastic_overlap;
    bool only_if_shifted; /* runs only where overlap shifts a figure */
} Setting;

extern const Setting defaults_settings[DEFAULTS_SETTINGS];
/* Index of the settings that verdicts are about and compare with. */
enum { SETTING_DEFAULT, SETTING_RIGID_CCP, SETTING_RIGID_COULOMB, SETTINGS_COMPARED };

/* Writes the setting's values in words, by which stored figures are recognised. */
void defaults_setting_text(const Setting *setting, char text[LAB_TEXT]);
/* Adds the setting's assignments. */
void defaults_assign(const Setting *setting, WorldsAssignments *sets);

typedef struct Figure {
    char name[32];
    double value;
} Figure;

typedef struct Part Part;

typedef struct Case {
    char name[DEFAULTS_NAME];
    const Part *part;
    const Setting *setting;
    /* Terms of the case, those that its part uses. */
    int kind, bodies, seed, budget;
    double h, tolerance, mu;
    bool overlap_shifts; /* also under the settings only_if_shifted */
    double cost;         /* rough guess, s on one core: longer cases start first */
    char backend[32];
    Figure figure[DEFAULTS_FIGURES];
    int figures;
    bool on_request;     /* runs only if named */
    bool selected, done; /* done: has figures, of this call or stored */
    char error[LAB_TEXT];
} Case;

typedef struct Cases {
    Case *item;
    int count;
} Cases;

struct Part {
    const char *name;
    int revision; /* raised when what its cases run or measure changes: older figures are dropped */
    bool alone;   /* times are figures: its cases run one at a time, on all threads */
    TalusStatus (*list)(const Worlds *w, const Part *part, Cases *cases);
    TalusStatus (*run)(const Worlds *w, Case *c);
    /* Adds tables and verdicts to the set, from the cases that are done. */
    void (*tabulate)(Worlds *w, const Cases *cases);
};

/* defaults_lift.c, defaults_shear.c, defaults_settle.c, defaults_bulk.c */
extern const Part defaults_lift, defaults_shear, defaults_settle, defaults_bulk;

/* ---- for the parts (defaults_cases.c) ---- */

/* Adds a copy of `c` for each setting that is compared and, if c->overlap_shifts, for the others, with the formatted path and the setting's name as its name. */
TalusStatus defaults_add_cases(Cases *cases, const Case *c, const char *format, ...)
    CLI_PRINTF(3, 4);
/* Adds a figure to the case. */
void defaults_add_figure(Case *c, const char *name, double value);
/* Returns the figure of a case; NAN if there is no such case, it is not done or it has no such figure. */
double defaults_get_figure(const Case *c, const char *name);
/* Returns the case of the formatted path and setting; NULL: none. */
const Case *defaults_find_case(const Cases *cases, int setting, const char *format, ...)
    CLI_PRINTF(3, 4);

/* ---- stored figures (defaults_store.c) ---- */

#define DEFAULTS_STORE "cases.csv"
/* Reads DIR/cases.csv, if it exists: cases of the list with the stored setting, bodies and revision are done then. */
TalusStatus defaults_store_read(const char *dir, Cases *cases);
TalusStatus defaults_store_write(const char *dir, const Cases *cases);
/* Writes all tables and verdicts to DIR/tables.md, for the docs. */
TalusStatus defaults_write_markdown(const Worlds *w);

#endif
