/* world/step/ledger.c - the energy ledger of a step, closed; engines sum up its parts (engine/cpu/ledger.c). */
#include "world/internal.h"

void talus_sum_partials(const TalusWorld *world, int64_t count, int columns, double *sum)
{
    for (int j = 0; j < columns; j++)
        sum[j] = 0.0;
    for (int64_t i = 0; i < talus_chunks(count, TALUS_GRAIN); i++)
        for (int j = 0; j < columns; j++)
            sum[j] += world->partial[i][j];
}

void talus_ledger_close(TalusWorld *world)
{
    TalusLedger *l = &world->info.ledger;
    /* before arrivals join: next to the energy of bodies that came, rounding says nothing */
    l->imbalance = l->kinetic_change + l->potential_change -
                   (l->friction + l->impact + l->stabilisation + l->cohesion + l->gravity_error +
                    l->spin + l->joints + l->driven + l->applied + l->projection + l->exchange);
    l->kinetic_change += world->exchange_kinetic;
    l->potential_change += world->exchange_potential;
    l->exchange += world->exchange_kinetic + world->exchange_potential;
    world->exchange_kinetic = world->exchange_potential = 0.0;
}
