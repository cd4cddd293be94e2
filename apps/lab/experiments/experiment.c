/* lab/experiments/experiment.c - the table of experiments. */
#include "experiment.h"

#include "worlds.h"

#include <string.h>

static const Experiment *const table[] = {&heyn_1, &heyn_2, &heyn_3, &preclik, &petra_opt};

enum { EXPERIMENTS = sizeof table / sizeof *table };

int experiment_count(void)
{
    return EXPERIMENTS;
}

const Experiment *experiment_get(int index)
{
    return table[index];
}

/* Returns a hint at the nearest name, also among `gpu` and the experiments that run worlds, for an error message. */
static const char *suggest_name(const char *name)
{
    enum { NAMES_MAX = 32 };
    const char *names[NAMES_MAX] = {"gpu"};
    int count = 1;
    for (int i = 0; i < EXPERIMENTS && count < NAMES_MAX; i++)
        names[count++] = table[i]->name;
    for (int i = 0; worlds_get_row(i) && count < NAMES_MAX; i++)
        names[count++] = worlds_get_row(i)->name;
    return cli_did_you_mean(name, names, count, "; `talus list experiments` names them");
}

const Experiment *experiment_find(const CliCommand *command, const char *name)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    cli_fail_usage(command, "no experiment '%s'%s", name, suggest_name(name));
    return NULL;
}
