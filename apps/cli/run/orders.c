/* cli/run/orders.c - what rank 0 of a run orders, and the part of other ranks in it. */
#include "run.h"

#include "comm/comm.h"
#include "io/run/positions.h"

/* Orders what all ranks do if the world is in parts. */
static void order_parts(const Run *run, RunOrder order)
{
    if (run_has_parts(run))
        run_order(run, order);
}

/* run_agree, if the world is in parts. */
static TalusStatus agree_parts(const Run *run, TalusStatus status)
{
    return run_has_parts(run) ? run_agree(run, status) : status;
}

TalusStatus run_write_rows(Run *run, TalusOutput *output, const TalusStepInfo *info)
{
    order_parts(run, RUN_ROWS);
    return talus_output_step(output, run->world, info);
}

TalusStatus run_write_frame(Run *run, TalusOutput *output)
{
    order_parts(run, RUN_FRAME);
    return agree_parts(run, talus_output_frame(output, run->world));
}

TalusStatus run_save(Run *run, TalusOutput *output, const char *note)
{
    order_parts(run, RUN_SAVE);
    return agree_parts(run, talus_output_checkpoint(output, run->world, note));
}

TalusStatus run_rescue(Run *run, TalusOutput *output, const char *note, char *path, size_t size)
{
    /* After shortened steps the world is not saved: the last checkpoint is from before them. */
    if (run->shortened)
        return talus_output_rescue(output, NULL, note, path, size);
    order_parts(run, RUN_SAVE); /* others do the same for both */
    return agree_parts(run, talus_output_rescue(output, run->world, note, path, size));
}

/* All ranks call this. */
static TalusStatus add_hashes(Run *run)
{
    run->hash = talus_world_hash(run->world);
    return agree_parts(run, TALUS_OK);
}

TalusStatus run_hash(Run *run)
{
    order_parts(run, RUN_HASH);
    return add_hashes(run);
}

TalusStatus run_write_positions(Run *run, const char *path)
{
    order_parts(run, RUN_POSITIONS);
    return agree_parts(run, talus_positions_write(path, run->world));
}

/* ---- other ranks ---- */

/* Waits for an order; RUN_END if a rank has failed. */
static RunOrder await_order(const Run *run)
{
    const double order = talus_comm_share(run->comm, RUN_END);
    return order > RUN_END ? (RunOrder)order : RUN_END; /* NaN: a rank has failed */
}

/* Does this rank's part of what rank 0 has ordered. */
static void obey(Run *run, RunOrder order, const RunMakers *make)
{
    TalusStepInfo info;
    switch (order) {
    case RUN_BUILD: (void)make->build(make->context); break;
    case RUN_SUPPORT: (void)make->try_solver(make->context); break;
    case RUN_LOAD: (void)make->load(make->context); break;
    case RUN_STEP: (void)run_make_step(run, &info); break;
    case RUN_ROWS: (void)talus_output_step(NULL, run->world, NULL); break;
    case RUN_SAVE: (void)run_agree(run, talus_output_checkpoint(NULL, run->world, NULL)); break;
    case RUN_FRAME: (void)run_agree(run, talus_output_frame(NULL, run->world)); break;
    case RUN_HASH: (void)add_hashes(run); break;
    case RUN_POSITIONS: (void)run_agree(run, talus_positions_write(NULL, run->world)); break;
    case RUN_SHARES: (void)run_gather_shares(run); break;
    case RUN_END: break;
    }
}

void run_follow(Run *run, const RunMakers *make)
{
    for (RunOrder order; (order = await_order(run)) != RUN_END;)
        obey(run, order, make);
}
