/* lab/experiments/defaults/defaults.h - `talus bench default`: compares the default settings of contacts with others.
 *
 * A case is one run, or several runs from one state, under one setting. The user selects cases by their names, which
 * are paths PART/WHAT/.../SETTING. A case gives figures, which are numbers with names. Independent cases run at the
 * same time, each on one thread; on a device, and where times are figures, cases run one by one. After each case that
 * has not failed the figures of all cases are stored in DIR/cases.csv (defaults_store.c). A later call takes figures
 * from that file and makes tables of all its cases. */
#ifndef TALUS_LAB_EXPERIMENTS_DEFAULTS_DEFAULTS_H
#define TALUS_LAB_EXPERIMENTS_DEFAULTS_DEFAULTS_H

#include "lab/experiments/worlds.h"

/* Maximum number of figures of a case; bytes of its name; number of settings; usual number of seeds of part bulk. */
enum { DEFAULTS_FIGURES = 24, DEFAULTS_NAME = 96, DEFAULTS_SETTINGS = 6, DEFAULTS_SEEDS = 3 };

/* A choice of friction law and stiffness of contacts. */
typedef struct Setting {
    const char *name;
    bool all_defaults; /* the default of worlds; the fields below are not used */
    TalusFrictionLaw law;
    double compliance;      /* relative compliance; 0: rigid */
    double elastic_overlap; /* limit of the elastic overlap, over the size; not used if rigid */
    bool only_if_overlap_shifts; /* used only for cases with overlap_shifts */
} Setting;

extern const Setting defaults_settings[DEFAULTS_SETTINGS];
/* Indices of the settings that every experiment is run under: the default and those with which it is compared. */
enum { SETTING_DEFAULT, SETTING_RIGID_CCP, SETTING_RIGID_COULOMB, SETTINGS_COMPARED };

/* Writes the setting's values in words; stored figures are reused only if these words are equal. */
void defaults_describe_setting(const Setting *setting, char text[LAB_TEXT]);
/* Adds the assignments that give a scene this setting. */
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
    /* Terms of the case; a part uses only some of them. */
    int kind;         /* index of the experiment within the part; -1: the hopper of part lift */
    int bodies;       /* number that move, or of one kind or batch; 0: by the scene */
    int seed;         /* from 1; 0: that of the scene */
    int budget;       /* maximum iterations of a step */
    bool quick;       /* runs in the short version of --quick */
    int steps;        /* maximum number of --steps, for parts that obey it; 0: all */
    double h;         /* step length, s */
    double tolerance; /* relative to g h */
    double mu;        /* friction coefficient */
    /* True if overlap may shift the figures, so that the case runs also under settings only_if_overlap_shifts. */
    bool overlap_shifts;
    double cost; /* estimated seconds on one core; longer cases start first */
    char backend[32];
    Figure figure[DEFAULTS_FIGURES];
    int figures;
    bool on_request;      /* runs only if the user names it */
    bool selected;        /* to be run by this call, unless done */
    bool done;            /* has figures, of this call or stored */
    char error[LAB_TEXT]; /* of its run in this call; "": none */
} Case;

typedef struct Cases {
    Case *item;
    int count;
} Cases;

/* A group of cases with tables of their own. */
struct Part {
    const char *name;
    /* Increased when its cases run or measure something else; stored figures of another revision are not used. */
    int revision;
    bool alone; /* its cases run one at a time, on all threads, because times are figures */
    /* Adds the cases of the part to the list. */
    TalusStatus (*list)(const Worlds *w, const Part *part, Cases *cases);
    /* Runs a case and adds its figures. */
    TalusStatus (*run)(const Worlds *w, Case *c);
    /* Adds tables and verdicts to the set of results, from the cases that are done. */
    void (*tabulate)(Worlds *w, const Cases *cases);
};

/* defaults_lift.c, defaults_shear.c, defaults_settle.c, defaults_bulk.c */
extern const Part defaults_lift, defaults_shear, defaults_settle, defaults_bulk;

/* ---- for the parts (defaults_cases.c) ---- */

/* Adds a copy of `c` for each setting, those only_if_overlap_shifts only if c->overlap_shifts. Its name is
 * PART/PATH/SETTING with the formatted path. */
TalusStatus defaults_add_cases(Cases *cases, const Case *c, const char *format, ...)
    CLI_PRINTF(3, 4);
/* Adds a figure to the case; its name is cut to 31 bytes. Ignores figures beyond DEFAULTS_FIGURES. */
void defaults_add_figure(Case *c, const char *name, double value);
/* Returns the figure of a case; NAN if `c` is NULL or not done, or has no such figure. */
double defaults_get_figure(const Case *c, const char *name);
/* Returns the case PATH/SETTING: the formatted path begins with the part's name, and SETTING is the name of
 * defaults_settings[setting]. NULL: none. */
const Case *defaults_find_case(const Cases *cases, int setting, const char *format, ...)
    CLI_PRINTF(3, 4);

/* ---- stored figures (defaults_store.c) ---- */

#define DEFAULTS_STORE "cases.csv"
/* Reads DIR/cases.csv, if it exists. A case of the list gets its stored figures, and is done, if setting, bodies,
 * revision, quick and steps are the stored ones. */
TalusStatus defaults_store_read(const char *dir, Cases *cases);
/* Writes the figures of all cases that are done to DIR/cases.csv. */
TalusStatus defaults_store_write(const char *dir, const Cases *cases);
/* Writes all tables and verdicts to DIR/tables.md, for the docs. */
TalusStatus defaults_write_markdown(const Worlds *w);

#endif
