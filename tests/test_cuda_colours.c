/* Colours on the cuda backend: contacts of a colour share no body that impulses move, and the order is always the same. */

#include "cuda_sweep.h"

#include "backend/priority.h"

static bool is_heavy(const TalusOperator *op, int body)
{
    return body >= 0 && op->incidence_start[body + 1] - op->incidence_start[body] > HEAVY_CONTACTS;
}

static void check_class(const Case *c, int i, uint8_t *seen)
{
    const TalusOperator *op = c->op;
    uint32_t class_of = c->class_of[i], colour = class_of & (ITEM - 1);
    bool heavy = is_heavy(op, op->pair[i][0]) || is_heavy(op, op->pair[i][1]);
    CHECK_INT(class_of & ITEM, heavy || i >= op->sphere_sphere + op->sphere_fixed ? ITEM : 0);
    CHECK_INT(colour == HEAVY_CLASS, heavy);
    if (heavy)
        return;
    CHECK(colour < 20);
    for (int side = 0; side < 2; side++)
        if (talus_body_yields(op, op->pair[i][side])) {
            uint8_t *mine = &seen[op->pair[i][side] * ITEM + (int)colour];
            CHECK_INT(*mine, 0);
            *mine = 1;
        }
}

/* The order is by class, then ascending. */
static void check_sorted(const Case *c)
{
    for (int at = 1; at < c->op->blocks; at++) {
        uint32_t i = c->contact[at - 1], j = c->contact[at];
        uint32_t a = c->class_of[i], b = c->class_of[j];
        CHECK(a < b || (a == b && i < j));
    }
}

/* The colours are those of greedy first fit by falling priority (backend/priority.h; of an explicit matrix
 * backend/cuda/sweep/colour.cu), whatever the rounds and the threads. */
static const TalusOperator *sorted_op;

static uint64_t priority(uint32_t i)
{
    const TalusOperator *op = sorted_op;
    const TalusContactKeys keys = talus_contact_keys(op);
    if (op->pair)
        return talus_contact_priority(&keys, (int)i);
    uint64_t x = (i + UINT64_C(1)) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x >> 36 << 32 | i;
}

static int by_priority(const void *a, const void *b)
{
    uint64_t x = priority(*(const uint32_t *)a), y = priority(*(const uint32_t *)b);
    const TalusContactKeys keys = talus_contact_keys(sorted_op);
    if (x == y && keys.pair) /* as on the host */
        return talus_tie_comes_first(&keys, *(const int *)a, *(const int *)b) ? -1 : 1;
    return x < y ? 1 : x > y ? -1 : 0;
}

static bool coupled(const TalusOperator *op, uint32_t i, uint32_t j)
{
    for (int k = 0; k < 4 && op->pair; k++)
        if (op->pair[i][k / 2] == op->pair[j][k % 2] && talus_body_yields(op, op->pair[i][k / 2]))
            return true;
    if (op->pair)
        return false;
    for (int k = op->row_start[(int)i * op->rows]; k < op->row_start[(int)(i + 1) * op->rows]; k++)
        if (op->column[k] / op->rows == (int)j)
            return true;
    return false;
}

static void check_greedy(const Case *c)
{
    int count = 0;
    uint32_t *order = calloc((size_t)c->op->blocks + 1, sizeof *order);
    for (int i = 0; i < c->op->blocks; i++)
        if ((c->class_of[i] & (ITEM - 1)) != HEAVY_CLASS)
            order[count++] = (uint32_t)i;
    sorted_op = c->op;
    qsort(order, (size_t)count, sizeof *order, by_priority);
    for (int k = 0; k < count; k++) {
        bool taken[ITEM] = {false};
        uint32_t free_colour = 0;
        for (int l = 0; l < k; l++)
            if (coupled(c->op, order[k], order[l]))
                taken[c->class_of[order[l]] & (ITEM - 1)] = true;
        while (taken[free_colour])
            free_colour++;
        CHECK_INT(c->class_of[order[k]] & (ITEM - 1), free_colour);
    }
    free(order);
}

TEST(colours_share_no_body_and_are_repeatable)
{
    NEEDS_CUDA();
    for (int k = 0; k < PROBLEMS; k++) {
        Case c = open_case(make_problem(k));
        TalusSweepOptions options = coloured();
        size_t bytes = (size_t)c.op->blocks * sizeof *c.contact;
        uint32_t *first = malloc(bytes);
        uint8_t *seen = calloc((size_t)c.op->bodies, ITEM);
        if (begin(&c, &options)) {
            memcpy(first, c.contact, bytes);
            for (int i = 0; i < c.op->blocks; i++)
                check_class(&c, i, seen);
            check_sorted(&c);
            check_greedy(&c);
            cuda->sweep.destroy(c.sweep);
            c.sweep = NULL;
        }
        if (begin(&c, &options))
            CHECK(memcmp(first, c.contact, bytes) == 0);
        free(first);
        free(seen);
        close_case(&c);
    }
}

/* Numbers of bodies with which the contacts of paths through the heap have equal priorities: a ^ rotated b is the same for
 * (a, b) and the next contact (b, c). A body continues the path of the lowest body below it that has no successor. */
static uint64_t *tied_numbers(const TalusOperator *op)
{
    TalusRng rng = talus_rng_from_seed(21);
    size_t bodies = (size_t)op->bodies;
    uint64_t *id = calloc(bodies, sizeof *id);
    int *before = calloc(bodies, sizeof *before), *after = calloc(bodies, sizeof *after);
    for (int b = 0; b < op->bodies; b++)
        before[b] = after[b] = -1;
    for (int i = 0; i < op->blocks; i++) {
        int a = op->pair[i][0], b = op->pair[i][1];
        if (a < b && after[a] < 0 && before[b] < 0) {
            after[a] = b;
            before[b] = a;
        }
    }
    for (int b = 0; b < op->bodies; b++) { /* a body's predecessors are lower */
        int a = before[b], first = a >= 0 ? before[a] : -1;
        uint64_t turned = a >= 0 ? id[a] << 32 | id[a] >> 32 : 0;
        uint64_t same = first >= 0 ? id[first] ^ turned ^ id[a] : 0;
        id[b] = first >= 0 ? same << 32 | same >> 32 : talus_rng_below(&rng, UINT64_MAX >> 1) + 1;
    }
    free(before);
    free(after);
    return id;
}

static int count_ties(const TalusOperator *op)
{
    int ties = 0;
    sorted_op = op;
    for (int i = 0; i < op->blocks; i++)
        for (int j = 0; j < i; j++)
            ties += coupled(op, (uint32_t)i, (uint32_t)j) &&
                    priority((uint32_t)i) == priority((uint32_t)j);
    return ties;
}

/* Contacts of a body with equal priorities are ordered by the numbers of their bodies, as on the host. */
TEST(ties_are_broken_by_keys)
{
    NEEDS_CUDA();
    for (int k = 0; k < 3; k++) {
        Case c = open_case(make_problem(k));
        TalusSweepOptions options = coloured();
        TalusOperator *op = talus_problem_operator(c.problem);
        uint8_t *seen = calloc((size_t)op->bodies, ITEM);
        uint64_t *id = tied_numbers(op);
        op->numbers.id = id;
        CHECK(count_ties(op) > op->bodies / 4);
        CHECK_OK(cuda_mirror(op, &c.device));
        CHECK_OK(cuda->op.reserve_scratch(&c.device));
        if (begin(&c, &options)) {
            for (int i = 0; i < op->blocks; i++)
                check_class(&c, i, seen);
            check_sorted(&c);
            check_greedy(&c);
        }
        op->numbers.id = NULL;
        free(id);
        free(seen);
        close_case(&c);
    }
}

TEST(coupled_blocks_have_different_colours)
{
    NEEDS_CUDA();
    Case c = open_case(make_explicit(11, 90, 3));
    TalusSweepOptions options = coloured();
    if (begin(&c, &options))
        for (uint32_t i = 0; i < 90; i++)
            for (uint32_t j = 0; j < i; j++)
                CHECK(!coupled(c.op, i, j) || c.class_of[i] != c.class_of[j]);
    check_sorted(&c);
    check_greedy(&c);
    close_case(&c);
}

/* Leaves out block (i, j) of an explicit matrix wherever i < j: row i does not show what couples it to j. */
static void drop_upper_blocks(TalusProblemDef *def)
{
    int32_t *start = (int32_t *)def->row_start, *column = (int32_t *)def->column, kept = 0;
    double *values = (double *)def->values;
    for (int row = 0, k = 0; row < def->rows * def->block_count; row++) {
        for (; k < def->row_start[row + 1]; k++)
            if (column[k] / def->rows <= row / def->rows) {
                column[kept] = column[k];
                values[kept++] = values[k];
            }
        start[row + 1] = kept;
    }
}

/* Matrices with Coulomb friction are taken as they are. */
TEST(blocks_coupled_one_way_have_different_colours)
{
    NEEDS_CUDA();
    TestProblem p = make_explicit(11, 90, 3);
    drop_upper_blocks(&p.def);
    Case c = open_case(p);
    TalusSweepOptions options = coloured();
    int coloured_blocks = 0;
    if (begin(&c, &options))
        for (uint32_t i = 0; i < 90; i++) {
            coloured_blocks += c.class_of[i] < HEAVY_CLASS;
            for (uint32_t j = 0; j < i; j++)
                CHECK(!coupled(c.op, i, j) || c.class_of[i] != c.class_of[j] ||
                      c.class_of[i] == HEAVY_CLASS);
        }
    CHECK(coloured_blocks > 45);
    check_sorted(&c);
    close_case(&c);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(colours_share_no_body_and_are_repeatable);
    RUN(ties_are_broken_by_keys);
    RUN(coupled_blocks_have_different_colours);
    RUN(blocks_coupled_one_way_have_different_colours);
    return cuda_test_result();
}
