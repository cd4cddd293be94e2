/* bench/scale_tables.c - the cost model of docs/explanation/scale.md: its tables, from constants and measured runs.
 *
 *     talus_bench_scale_tables bench/results/2026-11-19-scale.md
 *
 * Reads of the file the lines
 *
 *     constant NAME VALUE ...            the rest of the line: unit and source
 *     run ...                            as talus_bench_scale prints them; of repeated runs the least time counts
 *     gpu BODIES CONTACTS PRODUCTS SECONDS ...    a step of one GPU
 *     | RANKS | ...                      as talus_bench_ranks_sim prints them
 *
 * and prints the tables as they stand between the marks of the page; tests/scale_tables.sh compares the two.
 *
 * The model. A rank has n bodies and c n contacts. A product sends the velocities of its halo, at most kappa n^(2/3) bodies,
 * to its neighbours and receives as many, and adds exact sums over all ranks:
 *
 *     product   t0 + c n t_c  +  l + m o + kappa n^(2/3) b / w  +  2 log2(R) (l + s / w)
 *     step      P products  +  n t_b  +  kappa n^(2/3) d / w  +  2 log2(R) B R / w
 *
 * with t_c seconds per contact, l latency, o overhead of a message, m neighbours, b bytes of a velocity, s of the sums, w
 * bytes per second of a rank, t_b seconds per body for what is not products, d bytes for each body of the halo in a step,
 * B bytes for each rank in the boxes that all ranks share. Nothing overlaps. */
#include "comm/comm.h"
#include "world/ranks/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, CELLS = 23, NAME = 40, CALIBRATION = 65536 };

typedef struct Constant {
    char name[NAME];
    double value;
} Constant;

typedef struct Run {
    char precision[8];
    double ranks, width, height, bodies, contacts;
    double cpu, messages, bytes, most_bytes, reductions, reduced; /* a product */
    double step_cpu, step_messages, step_bytes, step_most, step_reductions, step_reduced;
} Run;

typedef struct Gpu {
    double bodies, contacts, products, seconds;
} Gpu;

/* Columns of a row of talus_bench_ranks_sim that are used. */
enum { RANKS, BODIES, SHARE, MIX, BITS, BALANCE, NEIGHBOURS, MOST_NEIGHBOURS, HALO, MOST_HALO };

typedef struct Results {
    Constant constant[MOST];
    Run run[MOST];
    Gpu gpu[MOST];
    double sim[MOST][CELLS];
    int constants, runs, gpus, sims;
} Results;

static void fail(const char *what, const char *text)
{
    fprintf(stderr, "talus_bench_scale_tables: %s: %s\n", what, text);
    exit(1);
}

/* ---- reading ---- */

static double get(const Results *r, const char *name)
{
    for (int k = 0; k < r->constants; k++)
        if (strcmp(r->constant[k].name, name) == 0)
            return r->constant[k].value;
    fail("no constant", name);
    return 0.0;
}

/* Seconds of a core that a step with 100 products takes by a run. */
static double measured_seconds(const Run *run)
{
    return 1e-9 * (100.0 * run->cpu * run->contacts + run->step_cpu * run->bodies);
}

/* Adds a run; of runs of the same bed the one that takes the least time is kept, since others use the machine. */
static void add_run(Results *r, const Run *run)
{
    for (int k = 0; k < r->runs; k++) {
        Run *old = &r->run[k];
        if (old->ranks != run->ranks || old->bodies != run->bodies ||
            strcmp(old->precision, run->precision) != 0)
            continue;
        if (measured_seconds(run) < measured_seconds(old))
            *old = *run;
        return;
    }
    r->run[r->runs++] = *run;
}

static void read_run(Results *r, const char *line)
{
    Run n;
    if (sscanf(line, "run %7s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf",
               n.precision, &n.ranks, &n.width, &n.height, &n.bodies, &n.contacts, &n.cpu,
               &n.messages, &n.bytes, &n.most_bytes, &n.reductions, &n.reduced, &n.step_cpu,
               &n.step_messages, &n.step_bytes, &n.step_most, &n.step_reductions,
               &n.step_reduced) != 18)
        fail("not a run", line);
    add_run(r, &n);
}

/* Reads a row of CELLS numbers; 2^n counts as 2. Other rows are none of the simulator's. */
static void read_sim(Results *r, const char *line)
{
    double *cell = r->sim[r->sims];
    int cells = 0;
    for (const char *at = line; at && *at == '|' && cells < CELLS; at = strchr(at + 1, '|')) {
        char *end;
        cell[cells] = strtod(at + 1, &end);
        if (end == at + 1)
            return;
        cells++;
    }
    r->sims += cells == CELLS;
}

static void read_line(Results *r, const char *line)
{
    Constant *c = &r->constant[r->constants];
    Gpu *g = &r->gpu[r->gpus];
    if (r->runs >= MOST || r->constants >= MOST || r->gpus >= MOST || r->sims >= MOST)
        fail("too many lines", line);
    if (sscanf(line, "constant %39s %lf", c->name, &c->value) == 2)
        r->constants++;
    else if (sscanf(line, "gpu %lf %lf %lf %lf", &g->bodies, &g->contacts, &g->products,
                    &g->seconds) == 4)
        r->gpus++;
    else if (strncmp(line, "run ", 4) == 0)
        read_run(r, line);
    else if (line[0] == '|')
        read_sim(r, line);
}

static void read_results(Results *r, const char *path)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    if (!file)
        fail("cannot read", path);
    while (fgets(line, sizeof line, file))
        read_line(r, line);
    fclose(file);
}

/* ---- check: bytes, messages and contacts of ranks ---- */

/* Returns the row of the simulator for this bed; NULL: none. */
static const double *find_sim(const Results *r, const Run *run)
{
    for (int k = 0; k < r->sims; k++)
        if (r->sim[k][RANKS] == run->ranks && r->sim[k][MIX] == 1.0 &&
            fabs(r->sim[k][BODIES] / run->bodies - 1.0) < 0.01)
            return r->sim[k];
    return NULL;
}

/* Contacts of the lattice on its floor. */
static double count_contacts(const Run *run)
{
    const double wide = exp2(run->width), high = exp2(run->height);
    return 2.0 * wide * (wide - 1.0) * high + wide * wide * high;
}

static double velocity_bytes(const Results *r, const Run *run)
{
    return get(r, strcmp(run->precision, "double") == 0 ? "velocity_double" : "velocity_single");
}

/* Prints forecast, measured value and their ratio; returns the distance of the ratio from 1. */
static double print_ratio(double forecast, double measured)
{
    printf(" | %.4g | %.4g | %.2f", forecast, measured, measured / forecast);
    return fabs(measured / forecast - 1.0);
}

static void print_counts(const Results *r)
{
    double worst = 0.0;
    puts(
        "| precision | ranks | bodies | contacts: model | counted | ratio | messages a product: model | counted | ratio"
        " | bytes a product: model | counted | ratio | bytes of sums a product: model | counted | ratio |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (int k = 0; k < r->runs; k++) {
        const Run *run = &r->run[k];
        const double *sim = find_sim(r, run);
        if (run->ranks == 1.0)
            continue;
        if (!sim)
            fail("no row of the simulator for a run", run->precision);
        const double sums = get(r, "sums_single") * sizeof(TalusSum) + 2.0 * sizeof(double);
        printf("| %s | %.0f | %.0f", run->precision, run->ranks, run->bodies);
        worst = fmax(worst, print_ratio(count_contacts(run), run->contacts));
        worst = fmax(worst, print_ratio(sim[NEIGHBOURS], run->messages));
        worst = fmax(worst, print_ratio(sim[HALO] * velocity_bytes(r, run), run->bytes));
        worst = fmax(worst, print_ratio(sums, run->reduced));
        puts(" |");
    }
    printf("\nThe largest difference between model and count is %.1f %%.\n", 100.0 * worst);
}

/* ---- check: seconds ---- */

/* Returns the run that the model's seconds of a core are taken from: CALIBRATION bodies on one rank. */
static const Run *find_calibration(const Results *r, const char *precision)
{
    for (int k = 0; k < r->runs; k++)
        if (r->run[k].ranks == 1.0 && r->run[k].bodies == CALIBRATION &&
            strcmp(r->run[k].precision, precision) == 0)
            return &r->run[k];
    fail("no run of the calibration", precision);
    return NULL;
}

/* Returns the seconds of a core that the model gives a step with 100 products. */
static double model_seconds(const Results *r, const Run *run)
{
    const Run *by = find_calibration(r, run->precision);
    return 1e-9 * (100.0 * by->cpu * count_contacts(run) + by->step_cpu * run->bodies);
}

static void print_times(const Results *r)
{
    int outside = 0, all = 0;
    const Run *single = find_calibration(r, "single"), *wide = find_calibration(r, "double");
    printf(
        "The model's seconds of a core are those of %d bodies on one rank: %.1f ns a contact and product in single "
        "precision, %.1f in double, and besides products %.0f and %.0f ns a body and step.\n\n",
        CALIBRATION, single->cpu, wide->cpu, single->step_cpu, wide->step_cpu);
    puts(
        "| precision | ranks | bodies | ns a contact and product | ns a body besides | 100 products, s: model | measured"
        " | ratio |\n|---|---|---|---|---|---|---|---|");
    for (int k = 0; k < r->runs; k++) {
        const Run *run = &r->run[k];
        if (run->ranks > 2.0 || run == find_calibration(r, run->precision))
            continue;
        printf("| %s | %.0f | %.0f | %.1f | %.0f", run->precision, run->ranks, run->bodies,
               run->cpu, run->step_cpu);
        outside += print_ratio(model_seconds(r, run), measured_seconds(run)) > 0.2;
        all++;
        puts(" |");
    }
    printf("\n%d of %d runs are within 20 %% of the model.\n", all - outside, all);
}

/* ---- machines ---- */

typedef struct Machine {
    const char *name;
    double start, contact, body; /* s: of a product, per contact and product, per body and step */
    double bandwidth;            /* bytes/s */
    double memory, body_bytes;   /* bytes, and per body */
} Machine;

static Machine h200(const Results *r)
{
    const double contact = 1e-9 * get(r, "h200_contact_ns");
    return (Machine){.name = "H200",
                     .start = fmax(0.0, 1e-6 * get(r, "h200_small_us") -
                                            contact * get(r, "h200_small_contacts")),
                     .contact = contact,
                     .body = 1e-9 * get(r, "h200_body_ns"),
                     .bandwidth = 1e9 * get(r, "gpu_network_gb_s"),
                     .memory = 0x1p30 * get(r, "h200_memory_gib"),
                     .body_bytes = get(r, "h200_body_bytes")};
}

static Machine node(const Results *r)
{
    const double speedup = get(r, "node_speedup");
    return (Machine){.name = "node",
                     .contact = 1e-9 * find_calibration(r, "single")->cpu / speedup,
                     .body = 1e-9 * find_calibration(r, "single")->step_cpu / speedup,
                     .bandwidth = 1e9 * get(r, "node_network_gb_s"),
                     .memory = 0x1p30 * get(r, "node_memory_gib"),
                     .body_bytes = get(r, "node_body_bytes")};
}

static void print_gpus(const Results *r)
{
    const Machine m = h200(r);
    puts(
        "| bodies | contacts | products | a step, s: model | measured | ratio |\n|---|---|---|---|---|---|");
    for (int k = 0; k < r->gpus; k++) {
        const Gpu *g = &r->gpu[k];
        printf("| %.0e | %.3g | %.0f", g->bodies, g->contacts, g->products);
        print_ratio(g->products * (m.start + m.contact * g->contacts) + m.body * g->bodies,
                    g->seconds);
        puts(" |");
    }
}

/* The largest halo of a rank over n^(2/3), and number of neighbours, among the simulated ranks of the series. */
static void find_worst_halo(const Results *r, double *kappa, double *neighbours)
{
    *kappa = *neighbours = 0.0;
    for (int k = 0; k < r->sims; k++) {
        const double *sim = r->sim[k];
        if (sim[MIX] != 1.0 || sim[RANKS] < 100.0)
            continue;
        *kappa = fmax(*kappa, sim[MOST_HALO] / pow(sim[SHARE], 2.0 / 3.0));
        *neighbours = fmax(*neighbours, sim[MOST_NEIGHBOURS]);
    }
}

/* The most bytes that a step sends besides products for each body of the halo, among the measured ranks. */
static double find_step_bytes(const Results *r)
{
    double most = 0.0;
    for (int k = 0; k < r->runs; k++) {
        const double *sim = find_sim(r, &r->run[k]);
        if (sim && strcmp(r->run[k].precision, "single") == 0)
            most = fmax(most, r->run[k].step_bytes / sim[HALO]);
    }
    return most;
}

static void print_machine(const Results *r, const Machine *m, double ranks, double bodies)
{
    double kappa, neighbours;
    find_worst_halo(r, &kappa, &neighbours);
    const double n = bodies / ranks, halo = kappa * pow(n, 2.0 / 3.0), levels = ceil(log2(ranks));
    const double latency = 1e-6 * get(r, "latency_us"), products = get(r, "products");
    const double sums = get(r, "sums_single") * sizeof(TalusSum) + 2.0 * sizeof(double);
    const double own = m->start + m->contact * n * get(r, "contacts_per_body");
    const double halo_s = latency + neighbours * 1e-6 * get(r, "message_us") +
                          halo * get(r, "velocity_single") / m->bandwidth;
    const double sums_s = 2.0 * levels * (latency + sums / m->bandwidth);
    const double boxes = 2.0 * sizeof(TalusReachBox) * ranks;
    const double detection = halo * find_step_bytes(r) / m->bandwidth + 2.0 * levels * latency +
                             2.0 * boxes / m->bandwidth;
    const double step = products * (own + halo_s + sums_s) + m->body * n + detection;
    const double alone = products * own + m->body * n;
    const double memory = n * m->body_bytes;
    printf(
        "| %.0f %s | %.0e | %.1e | %.1f%s | %.2e | %.1f | %.0f | %.0f | %.0f | %.2f | %.3g | %.0f %% |\n",
        ranks, m->name, bodies, n, memory / 0x1p30, memory > m->memory ? ", too much" : "", halo,
        halo * get(r, "velocity_single") / 0x1p20, 1e6 * own, 1e6 * halo_s, 1e6 * sums_s,
        1e3 * detection, step, 100.0 * alone / step);
}

static void print_machines(const Results *r)
{
    const Machine gpu = h200(r), cpu = node(r);
    puts(
        "| ranks | bodies | bodies a rank | GiB a rank | halo | MiB a product | a product: own, us | halo, us | sums, us"
        " | halo of a step, ms | a step, s | of it own work |\n|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (double bodies = 1e8; bodies <= 1e10; bodies *= 10.0) {
        print_machine(r, &gpu, 100.0, bodies);
        print_machine(r, &gpu, 1000.0, bodies);
        print_machine(r, &cpu, 1e4, bodies);
    }
}

/* ---- sizes ---- */

static void print_records(const Results *r)
{
    const struct {
        const char *what;
        double bytes;
    } row[] = {{"a cell in which a rank asks for bodies", sizeof(uint64_t)},
               {"a velocity in a product, single precision", get(r, "velocity_single")},
               {"a velocity in a product, double precision", get(r, "velocity_double")},
               {"an exact sum", sizeof(TalusSum)},
               {"all that a step sends besides products, for each body of a product's halo",
                find_step_bytes(r)}};
    puts("| record | bytes |\n|---|---|");
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        printf("| %s | %.0f |\n", row[k].what, row[k].bytes);
}

/* What a rank has or reduces for each rank that there is. */
static void print_growth(void)
{
    const struct {
        const char *what, *where, *often;
        size_t bytes;
    } row[] = {
        {"boxes of all ranks", "world/ranks/halo.c, `share_bounds`",
         "each search for a halo, in memory and in one reduction", 2 * sizeof(TalusReachBox)},
        {"messages of a search", "world/ranks/halo.c, `open_search`", "each search, in memory",
         sizeof(TalusMessage)},
        {"lists of what goes to and comes from each rank",
         "world/ranks/ranks.c, `talus_ranks_init`", "always, in memory", 2 * sizeof(TalusSlotList)},
        {"ends of the pieces of the curve, and messages of a deal", "world/ranks/deal.c",
         "each deal, in memory", sizeof(int64_t) + sizeof(TalusMessage)},
        {"ends of shares, counts and messages of a part", "problem/part.c",
         "`talus_part_create`, `talus_part_collect`, in memory",
         2 * sizeof(int64_t) + sizeof(TalusMessage)}};
    puts("| what | where | when | bytes for each rank | MB at 1e5 ranks |\n|---|---|---|---|---|");
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        printf("| %s | %s | %s | %zu | %.1f |\n", row[k].what, row[k].where, row[k].often,
               row[k].bytes, 0.1 * (double)row[k].bytes);
}

int main(int argc, char **argv)
{
    static Results results;
    if (argc != 2)
        fail("usage", "talus_bench_scale_tables RESULTS");
    read_results(&results, argv[1]);
    puts("### Counts: model and ranks\n");
    print_counts(&results);
    puts("\n### Seconds: model and ranks\n");
    print_times(&results);
    puts("\n### Seconds: model and one H200\n");
    print_gpus(&results);
    puts("\n### A step on large machines\n");
    print_machines(&results);
    puts("\n### Records\n");
    print_records(&results);
    puts("\n### What a rank has for each rank that there is\n");
    print_growth();
    return 0;
}
