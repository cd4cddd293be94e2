/* bench/ranks_sim.c - what ranks exchange, for numbers of ranks that no machine at hand has. No physics.
 *
 *     talus_bench_ranks_sim RANKS WIDTH HEIGHT [MIX [CELLS [SAMPLES]]]
 *
 * A settled bed has a body in each cell of a lattice, 2^WIDTH x 2^WIDTH x 2^HEIGHT cells, and touches the six beside it.
 * Numbers of bodies follow Hilbert's curve, so that a block of 256 numbers, which one rank owns as a whole, is 4 cubes of
 * 4 x 4 x 4 bodies. With MIX above 1 the bodies of each MIX consecutive blocks have changed places, as after a flow:
 * neighbours on the curve are then of MIX blocks in turn. CELLS: the bits of the curve along which blocks are dealt (21, the
 * finest; with fewer, blocks whose centres share a cell stay together).
 *
 * Blocks are dealt by talus_curve_number and talus_line_cut, a body weighing 1 and a contact 1. For SAMPLES ranks (16),
 * spread evenly, talus_halo_create makes the halo, for the bodies that touch (the halo of a product) and for those of the
 * 26 cells around (bodies whose boxes overlap, the least that a detection needs). The other ranks of the communicator are
 * played by the lattice; it counts messages and bytes of one talus_halo_exchange of velocities. Then the contacts of a
 * quarter of the bed vanish, as when it begins to slide: balance before and after blocks are dealt anew, and what moves.
 *
 * Prints one line; without arguments the heading of the lines. */
#include "backend/host.h"
#include "base/memory.h"
#include "comm/halo.h"
#include "comm/line.h"
#include "world/ranks/curve.h"
#include "world/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bodies of a cube, and its edge, in cells. FINEST: bits of a curve whose numbers have 63 bits. */
enum { CUBE = 64, CUBE_BITS = 2, BLOCK_CUBES = BODY_GRAIN / CUBE, FINEST = 21, ALL_AROUND = 26 };

_Static_assert(BLOCK_CUBES *CUBE == BODY_GRAIN, "a block of numbers is a whole number of cubes");

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "talus_bench_ranks_sim: %s\n", talus_error());
    exit(1);
}

/* ---- the bed ---- */

/* A bed is a square of columns, each a cube of 2^height cells along each edge, in the order of the curve. */
typedef struct Bed {
    int width, height; /* bits */
    int columns;       /* along an edge */
    int64_t *place;    /* [columns^2]: of the column along the curve */
    int32_t *column;   /* [columns^2]: the column at this place */
    int64_t bodies, blocks;
    int mix;
} Bed;

/* A number along a curve and what has it. */
typedef struct Numbered {
    uint64_t number;
    int64_t item;
} Numbered;

static int compare_numbered(const void *a, const void *b)
{
    const Numbered *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* talus_hilbert_number; of a single cell 0. */
static uint64_t number_cell(const int c[3], int bits)
{
    return bits > 0 ? talus_hilbert_number((uint32_t)c[0], (uint32_t)c[1], (uint32_t)c[2], bits)
                    : 0;
}

static void open_bed(Bed *b)
{
    const int bits = b->width - b->height, columns = 1 << bits, count = columns * columns;
    Numbered *order;
    b->columns = columns;
    b->bodies = INT64_C(1) << (2 * b->width + b->height);
    b->blocks = b->bodies / BODY_GRAIN;
    must(TALUS_ALLOC(order, (size_t)count, "columns"));
    must(TALUS_ALLOC(b->place, (size_t)count, "columns"));
    must(TALUS_ALLOC(b->column, (size_t)count, "columns"));
    for (int k = 0; k < count; k++)
        order[k] = (Numbered){number_cell((int[3]){k % columns, k / columns, 0}, bits), k};
    qsort(order, (size_t)count, sizeof *order, compare_numbered);
    for (int k = 0; k < count; k++) {
        b->column[k] = (int32_t)order[k].item;
        b->place[order[k].item] = k;
    }
    talus_release(order);
}

/* Returns the place along the curve, from 0, of a cube of 2^cube cells along each edge, at c in units of that edge. */
static int64_t find_place(const Bed *b, const int c[3], int cube)
{
    const int below = b->height - cube; /* bits within a column */
    const int64_t within = (INT64_C(1) << (3 * below)) - 1;
    const int64_t column = b->place[(c[0] >> below) + b->columns * (c[1] >> below)];
    return column * (within + 1) + ((int64_t)number_cell(c, b->width - cube) & within);
}

/* Sets c to the cell at a place along the curve: octant by octant, the numbers of cells in an octant begin with the
 * octant's. */
static void find_cell(const Bed *b, int64_t place, int c[3])
{
    const int32_t column = b->column[place >> (3 * b->height)];
    c[0] = column % b->columns;
    c[1] = column / b->columns;
    c[2] = 0;
    for (int bits = b->height - 1; bits >= 0; bits--) {
        const int64_t digit = place >> (3 * bits) & 7;
        const int base[3] = {2 * c[0], 2 * c[1], 2 * c[2]};
        for (int octant = 0; octant < 8; octant++) {
            for (int axis = 0; axis < 3; axis++)
                c[axis] = base[axis] + (octant >> axis & 1);
            if ((int64_t)(number_cell(c, b->width - bits) & 7) == digit)
                break;
        }
    }
}

/* Returns the number, from 0, of the body at a place along the curve, and the other way round: numbers in a window of `mix`
 * blocks go round its blocks. */
static int64_t number_at(const Bed *b, int64_t place)
{
    const int64_t window = (int64_t)b->mix * BODY_GRAIN, in = place % window;
    return place - in + in % b->mix * BODY_GRAIN + in / b->mix;
}

static int64_t place_of(const Bed *b, int64_t number)
{
    const int64_t window = (int64_t)b->mix * BODY_GRAIN, in = number % window;
    return number - in + in % BODY_GRAIN * b->mix + in / BODY_GRAIN;
}

/* ---- the deal ---- */

/* Where blocks lie on the curve along which they are dealt, and who gets them. */
typedef struct Deal {
    TalusVec3 *centre;       /* [windows] */
    uint64_t *place;         /* [blocks] */
    TalusLineItem *item;     /* [blocks], by place */
    uint64_t *first;         /* [ranks]: places */
    int32_t *owner, *before; /* [blocks] */
    int ranks;
} Deal;

/* Finds the mean place of the bodies of each window of blocks, by its cubes. */
static void find_centres(const Bed *b, Deal *d)
{
    const int cubes = 1 << (b->width - CUBE_BITS), high = 1 << (b->height - CUBE_BITS);
    const int64_t per_window = (int64_t)BLOCK_CUBES * b->mix;
    for (int z = 0; z < high; z++)
        for (int y = 0; y < cubes; y++)
            for (int x = 0; x < cubes; x++) {
                const int64_t at = find_place(b, (int[3]){x, y, z}, CUBE_BITS) / per_window;
                const TalusVec3 centre = {x + 0.5, y + 0.5, z + 0.5};
                TalusVec3 *sum = &d->centre[at];
                *sum = talus_add(*sum, talus_scale(1.0 / (double)per_window, centre));
            }
}

/* Finds the places of blocks along the curve of 2^bits cells along each edge of the bed's cube. The blocks of a window have
 * one centre here, and places one behind the other on the finest curve. */
static void place_blocks(const Bed *b, Deal *d, int bits)
{
    const double wide = (double)(1 << (b->width - CUBE_BITS));
    const TalusVec3 lo = {0.0, 0.0, 0.0}, hi = {wide, wide, wide};
    for (int64_t k = 0; k < b->blocks; k++)
        d->place[k] = talus_curve_number(d->centre[k / b->mix], lo, hi, bits) +
                      (bits == FINEST ? (uint64_t)(k % b->mix) : 0);
}

static int compare_places(const void *a, const void *b)
{
    const uint64_t x = ((const TalusLineItem *)a)->place, y = ((const TalusLineItem *)b)->place;
    return (x > y) - (x < y);
}

/* The weight of a block: bodies and contacts; without contacts in the quarter of the bed that slides. */
static int64_t weigh(const Bed *b, const Deal *d, int64_t block, bool sliding)
{
    const double quarter = 0.25 * (double)(1 << (b->width - CUBE_BITS));
    return sliding && d->centre[block / b->mix].x < quarter ? BODY_GRAIN : 4 * BODY_GRAIN;
}

/* Deals the blocks; the former owners become `before`. */
static void deal(const Bed *b, Deal *d, bool sliding)
{
    int32_t *owner = d->before;
    d->before = d->owner;
    d->owner = owner;
    for (int64_t k = 0; k < b->blocks; k++)
        d->item[k] = (TalusLineItem){d->place[k], weigh(b, d, k, sliding)};
    qsort(d->item, (size_t)b->blocks, sizeof *d->item, compare_places);
    must(talus_line_cut(NULL, d->item, b->blocks, d->ranks, d->first));
    for (int64_t k = 0; k < b->blocks; k++)
        d->owner[k] = talus_line_find_piece(d->first, d->ranks, d->place[k]);
}

/* Returns the largest weight of a rank over the mean, with these owners. */
static double measure_balance(const Bed *b, const Deal *d, const int32_t *owner, bool sliding)
{
    int64_t *sum, most = 0, all = 0;
    must(TALUS_ALLOC(sum, (size_t)d->ranks, "weights"));
    for (int64_t k = 0; k < b->blocks; k++)
        sum[owner[k]] += weigh(b, d, k, sliding);
    for (int r = 0; r < d->ranks; r++) {
        all += sum[r];
        most = sum[r] > most ? sum[r] : most;
    }
    talus_release(sum);
    return (double)most * d->ranks / (double)all;
}

static void open_deal(const Bed *b, Deal *d, int bits)
{
    const size_t blocks = (size_t)b->blocks + 1;
    must(TALUS_ALLOC(d->centre, blocks, "blocks"));
    must(TALUS_ALLOC(d->place, blocks, "blocks"));
    must(TALUS_ALLOC(d->item, blocks, "blocks"));
    must(TALUS_ALLOC(d->first, (size_t)d->ranks, "ranks"));
    must(TALUS_ALLOC(d->owner, blocks, "blocks"));
    must(TALUS_ALLOC(d->before, blocks, "blocks"));
    find_centres(b, d);
    place_blocks(b, d, bits);
    deal(b, d, false);
}

/* ---- one rank and its halo ---- */

/* A body and a rank: of the halo with its owner, or an own one with a rank that needs it. */
typedef struct Need {
    int64_t rank;
    uint64_t number;
} Need;

/* The communicator of one rank; the others are played from `sent`, by rank and number. */
typedef struct Played {
    TalusComm comm;
    Need *got, *sent; /* got: the halo, by number */
    int64_t gots, sents;
    double messages, bytes; /* of the last exchange, sent */
} Played;

static int compare_by_rank(const void *a, const void *b)
{
    const Need *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_by_number(const void *a, const void *b)
{
    const Need *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int64_t sort_once(Need *need, int64_t count, int (*compare)(const void *, const void *))
{
    int64_t kept = 0;
    qsort(need, (size_t)count, sizeof *need, compare);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || compare(&need[k], &need[k - 1]) != 0)
            need[kept++] = need[k];
    return kept;
}

static bool played_reduce(TalusComm *comm, TalusReduction kind, void *values, int count)
{
    (void)comm, (void)kind, (void)values, (void)count;
    return true; /* statuses alone are reduced, and no rank fails */
}

/* Writes what another rank sends: how many bodies it needs, which, or their velocities, which do not matter. */
static void play_message(const Played *p, const TalusMessage *message)
{
    uint64_t *number = message->data;
    int64_t count = 0, begin = 0;
    while (begin < p->sents && p->sent[begin].rank < message->rank)
        begin++;
    while (begin + count < p->sents && p->sent[begin + count].rank == message->rank)
        count++;
    if (message->bytes == sizeof count && p->bytes == 0.0)
        memcpy(message->data, &count, sizeof count);
    else if (message->bytes == (size_t)count * sizeof *number)
        for (int64_t k = 0; k < count; k++)
            number[k] = p->sent[begin + k].number;
}

static void played_begin_exchange(TalusComm *comm, const TalusMessage *send, int sends,
                                  const TalusMessage *receive, int receives)
{
    Played *p = (Played *)comm;
    for (int k = 0; k < receives; k++)
        play_message(p, &receive[k]);
    p->messages = sends;
    p->bytes = 0.0;
    for (int k = 0; k < sends; k++)
        p->bytes += (double)send[k].bytes;
}

static bool played_finish_exchange(TalusComm *comm)
{
    (void)comm;
    return true;
}

static const TalusCommOps played_ops = {.name = "played",
                                        .reduce = played_reduce,
                                        .begin_exchange = played_begin_exchange,
                                        .finish_exchange = played_finish_exchange};

/* Adds what the body at cell c, this rank's, makes ranks need: bodies beside it, or of all 26 cells around. */
static void add_needs(const Bed *b, const Deal *d, Played *p, const int c[3], uint64_t number,
                      bool around)
{
    for (int k = 0; k < 27; k++) {
        const int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        const int cell[3] = {c[0] + step[0], c[1] + step[1], c[2] + step[2]};
        const int away = abs(step[0]) + abs(step[1]) + abs(step[2]);
        if (away == 0 || (!around && away > 1) || cell[0] < 0 || cell[1] < 0 || cell[2] < 0 ||
            cell[0] >> b->width || cell[1] >> b->width || cell[2] >> b->height)
            continue;
        const int64_t other = number_at(b, find_place(b, cell, 0));
        const int rank = d->owner[other / BODY_GRAIN];
        if (rank == p->comm.rank)
            continue;
        must(TALUS_GROW(p->got, (size_t)p->gots + 1, (size_t)p->gots, "halo"));
        must(TALUS_GROW(p->sent, (size_t)p->sents + 1, (size_t)p->sents, "halo"));
        p->got[p->gots++] = (Need){rank, (uint64_t)other + 1};
        p->sent[p->sents++] = (Need){rank, number};
    }
}

/* What a rank's halo came to. */
typedef struct Halo {
    double bodies, neighbours, halo, sent, messages, bytes;
} Halo;

/* Lists the bodies of the rank and of its halo by ascending number; own: [count] of the rank, ascending. */
static int merge_bodies(const Played *p, const uint64_t *own, int count, uint64_t *number,
                        int32_t *owner)
{
    int all = 0;
    int64_t at = 0;
    for (int k = 0; k <= count; k++) {
        for (; at < p->gots && (k == count || p->got[at].number < own[k]); at++, all++) {
            number[all] = p->got[at].number;
            owner[all] = (int32_t)p->got[at].rank;
        }
        if (k < count) {
            number[all] = own[k];
            owner[all++] = p->comm.rank;
        }
    }
    return all;
}

/* Makes the halo of the bodies, by the project's own planning, and exchanges velocities once. */
static Halo plan_halo(Played *p, const uint64_t *own, int count)
{
    double(*velocity)[8];
    uint64_t *number;
    int32_t *owner;
    TalusHalo *halo;
    p->gots = sort_once(p->got, p->gots, compare_by_number);
    p->sents = sort_once(p->sent, p->sents, compare_by_rank);
    const size_t room = (size_t)count + (size_t)p->gots + 1;
    must(TALUS_ALLOC(number, room, "bodies"));
    must(TALUS_ALLOC(owner, room, "bodies"));
    must(TALUS_ALLOC(velocity, room, "velocities"));
    const int all = merge_bodies(p, own, count, number, owner);
    const TalusHaloBodies bodies = {.count = all, .number = number, .owner = owner};
    p->bytes = 0.0; /* the first exchange has counts */
    must(talus_halo_create(&p->comm, &bodies, sizeof *velocity, &halo));
    talus_halo_exchange(halo, velocity, sizeof *velocity);
    const Halo h = {.bodies = count,
                    .neighbours = halo->neighbours,
                    .halo = halo->receive_start[halo->neighbours],
                    .sent = halo->send_start[halo->neighbours],
                    .messages = p->messages,
                    .bytes = p->bytes};
    talus_halo_destroy(halo);
    TALUS_RELEASE(number, owner, velocity);
    return h;
}

/* Returns the halo of one rank. */
static Halo find_halo(const Bed *b, const Deal *d, int rank, bool around)
{
    Played p = {.comm = {.ops = &played_ops, .rank = rank, .size = d->ranks}};
    uint64_t *own = NULL;
    int count = 0;
    for (int64_t k = 0; k < b->blocks; k++) {
        if (d->owner[k] != rank)
            continue;
        must(TALUS_GROW(own, (size_t)count + BODY_GRAIN, (size_t)count, "bodies"));
        for (int i = 0; i < BODY_GRAIN; i++) {
            const int64_t number = k * BODY_GRAIN + i;
            int c[3];
            find_cell(b, place_of(b, number), c);
            own[count++] = (uint64_t)number + 1;
            add_needs(b, d, &p, c, (uint64_t)number + 1, around);
        }
    }
    const Halo h = plan_halo(&p, own, count);
    TALUS_RELEASE(own, p.got, p.sent);
    return h;
}

/* ---- the line ---- */

/* Mean and largest of numbers. */
typedef struct Spread {
    double sum, most;
    int count;
} Spread;

static void add_number(Spread *s, double x)
{
    s->sum += x;
    s->most = x > s->most ? x : s->most;
    s->count++;
}

static double mean(const Spread *s)
{
    return s->count > 0 ? s->sum / s->count : 0.0;
}

static void print_halos(const Bed *b, const Deal *d, int samples)
{
    for (int around = 0; around < 2; around++) {
        Spread neighbours = {0}, halo = {0}, share = {0}, bytes = {0};
        for (int k = 0; k < samples; k++) {
            const int rank = (int)((2 * (int64_t)k + 1) * d->ranks / (2 * samples));
            const Halo h = find_halo(b, d, rank, around);
            add_number(&neighbours, h.neighbours);
            add_number(&halo, h.halo);
            add_number(&share, h.halo / pow(h.bodies, 2.0 / 3.0));
            add_number(&bytes, h.bytes);
        }
        printf(" | %.1f | %.0f | %.0f | %.0f | %.2f", mean(&neighbours), neighbours.most,
               mean(&halo), halo.most, mean(&share));
        if (!around)
            printf(" | %.0f | %.0f", mean(&bytes) / 1024.0, bytes.most / 1024.0);
    }
}

/* Prints which share of the bodies changes ranks, and to how many ranks the blocks of one go. */
static void print_moves(const Bed *b, const Deal *d)
{
    Spread targets = {0};
    Need *move;
    int64_t moved = 0;
    must(TALUS_ALLOC(move, (size_t)b->blocks + 1, "moves"));
    for (int64_t k = 0; k < b->blocks; k++)
        if (d->before[k] != d->owner[k])
            move[moved++] = (Need){d->before[k], (uint64_t)d->owner[k]};
    const double share = (double)moved / (double)b->blocks;
    const int64_t pairs = sort_once(move, moved, compare_by_rank);
    for (int64_t k = 0, count = 0; k < pairs; k++) {
        count++;
        if (k + 1 == pairs || move[k + 1].rank != move[k].rank) {
            add_number(&targets, (double)count);
            count = 0;
        }
    }
    printf(" | %.2f | %.1f | %.0f", share, mean(&targets), targets.most);
    talus_release(move);
}

static void print_heading(void)
{
    puts("| ranks | bodies | bodies a rank | mix | cells | most/mean"
         " | neighbours | most | halo | most | halo/n^(2/3) | KiB a product | most"
         " | neighbours, 26 | most | halo, 26 | most | halo/n^(2/3)"
         " | sliding: most/mean | dealt anew | moved | to ranks | most |");
    for (int k = 0; k < 23; k++)
        printf("|---");
    puts("|");
}

static int argument(int argc, char **argv, int k, int least, int most, int none)
{
    const int value = k < argc ? atoi(argv[k]) : none;
    if (value >= least && value <= most)
        return value;
    fprintf(stderr, "talus_bench_ranks_sim: argument %d is not between %d and %d\n", k, least,
            most);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
        print_heading();
        return 0;
    }
    Deal d = {.ranks = argument(argc, argv, 1, 2, 1 << 20, 0)};
    Bed b = {.width = argument(argc, argv, 2, CUBE_BITS + 1, 13, 0)};
    b.height = argument(argc, argv, 3, CUBE_BITS + 1, b.width, 0);
    b.mix = argument(argc, argv, 4, 1, 1 << 16, 1);
    const int bits = argument(argc, argv, 5, 1, FINEST, FINEST);
    const int samples = argument(argc, argv, 6, 1, 1024, 16);
    open_bed(&b);
    open_deal(&b, &d, bits);
    printf("| %d | %.2e | %.0f | %d | 2^%d | %.3f", d.ranks, (double)b.bodies,
           (double)b.bodies / d.ranks, b.mix, bits, measure_balance(&b, &d, d.owner, false));
    fflush(stdout);
    print_halos(&b, &d, samples < d.ranks ? samples : d.ranks);
    deal(&b, &d, true);
    printf(" | %.3f | %.3f", measure_balance(&b, &d, d.before, true),
           measure_balance(&b, &d, d.owner, true));
    print_moves(&b, &d);
    puts(" |");
    TALUS_RELEASE(b.place, b.column, d.centre, d.place, d.item, d.first, d.owner, d.before);
    return 0;
}
