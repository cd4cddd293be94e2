/* lab/experiments/experiment.c - the table of experiments. */
#include "experiment.h"

#include "base/param.h"
#include "worlds.h"

#include <string.h>

static const Experiment *const table[] = {&heyn_1, &heyn_2, &heyn_3, &preclik, &petra_opt};

enum { EXPERIMENTS = sizeof table / sizeof *table };

int experiment_count(void)
{
    return EXPERIMENTS;
}

const Experiment *experiment_row(int index)
{
    return table[index];
}

/* Finds the nearest name, also among experiments that run worlds. */
static const char *nearest(const char *name)
{
    enum { MOST = 32 };
    const char *names[MOST] = {"gpu"};
    int count = 1;
    for (int i = 0; i < EXPERIMENTS && count < MOST; i++)
        names[count++] = table[i]->name;
    for (int i = 0; worlds_row(i) && count < MOST; i++)
        names[count++] = worlds_row(i)->name;
    return talus_nearest(name, names, count);
}

const Experiment *experiment_find(const CliCommand *command, const char *name)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    const char *near = nearest(name);
    if (near)
        cli_usage(command, "no experiment '%s'; did you mean '%s'?", name, near);
    else
        cli_usage(command, "no experiment '%s'; `talus list experiments` names them", name);
    return NULL;
}
