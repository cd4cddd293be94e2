/* Lines of things on several ranks (comm/line.h): the pieces are those of one rank, and of about equal weight. */
#include "comm/line.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 500, MOST_PARTS = 40 };

static int compare_items(const void *a, const void *b)
{
    const uint64_t x = ((const TalusLineItem *)a)->place, y = ((const TalusLineItem *)b)->place;
    return (x > y) - (x < y);
}

/* A line of all ranks, of which rank r has every item whose index over the number of ranks leaves r. */
typedef struct Line {
    TalusLineItem item[ITEMS];
    int parts;
    uint64_t first[8][MOST_PARTS]; /* of each rank */
} Line;

/* Items at places below 2^bits, some of them at the same place, with weights below `most`. */
static void fill_line(Line *line, int bits, int most)
{
    uint64_t x = 12345;
    for (int k = 0; k < ITEMS; k++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        line->item[k] = (TalusLineItem){x >> (64 - bits), (int64_t)(x >> 20) % most};
    }
    qsort(line->item, ITEMS, sizeof *line->item, compare_items);
}

static TalusStatus cut_rank(TalusComm *comm, void *context)
{
    Line *line = context;
    TalusLineItem own[ITEMS];
    int count = 0;
    for (int k = talus_comm_rank(comm); k < ITEMS; k += talus_comm_size(comm))
        own[count++] = line->item[k];
    return talus_line_cut(comm, own, count, line->parts, line->first[talus_comm_rank(comm)]);
}

TEST(pieces_do_not_depend_on_which_rank_thread_has_the_items)
{
    Line *line = calloc(1, sizeof *line);
    uint64_t alone[MOST_PARTS];
    const int bits[] = {63, 12, 6}, parts[] = {1, 2, 7, MOST_PARTS};
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 4; k++) {
            fill_line(line, bits[b], 100);
            line->parts = parts[k];
            CHECK_OK(talus_line_cut(NULL, line->item, ITEMS, line->parts, alone));
            CHECK_OK(talus_ranks_run(5, cut_rank, line));
            for (int r = 0; r < 5; r++)
                CHECK(memcmp(line->first[r], alone, (size_t)parts[k] * sizeof *alone) == 0);
        }
    free(line);
}

TEST(no_piece_has_much_more_than_its_share)
{
    Line *line = calloc(1, sizeof *line);
    uint64_t first[MOST_PARTS];
    int64_t weight[MOST_PARTS] = {0}, all = 0;
    fill_line(line, 63, 100);
    CHECK_OK(talus_line_cut(NULL, line->item, ITEMS, MOST_PARTS, first));
    int before = 0;
    for (int k = 0; k < ITEMS; k++) {
        const int piece = talus_line_find_piece(first, MOST_PARTS, line->item[k].place);
        CHECK(piece >= before && piece < MOST_PARTS);
        before = piece;
        weight[piece] += line->item[k].weight;
        all += line->item[k].weight;
    }
    for (int p = 0; p < MOST_PARTS; p++)
        CHECK(weight[p] < all / MOST_PARTS + 101);
    free(line);
}

TEST(a_piece_ends_where_its_share_is_reached)
{
    const TalusLineItem item[] = {{3, 5}, {4, 5}, {4, 5}, {9, 5}};
    uint64_t first[4];
    CHECK_OK(talus_line_cut(NULL, item, 4, 4, first));
    CHECK(first[0] == 0 && first[1] == 4 && first[2] == 5 && first[3] == 5);
    CHECK_INT(talus_line_find_piece(first, 4, 3), 0);
    CHECK_INT(talus_line_find_piece(first, 4, 4), 1);
    CHECK_INT(talus_line_find_piece(first, 4, 9), 3);
}

TEST(an_empty_line_and_one_without_weight_can_be_cut)
{
    const TalusLineItem light[] = {{0, 0}, {7, 0}};
    uint64_t first[3];
    CHECK_OK(talus_line_cut(NULL, NULL, 0, 3, first));
    CHECK(first[0] == 0 && first[1] == 0 && first[2] == 0);
    CHECK_OK(talus_line_cut(NULL, light, 2, 3, first));
    CHECK_INT(talus_line_find_piece(first, 3, 7), 2);
}

int main(void)
{
    RUN(pieces_do_not_depend_on_which_rank_thread_has_the_items);
    RUN(no_piece_has_much_more_than_its_share);
    RUN(a_piece_ends_where_its_share_is_reached);
    RUN(an_empty_line_and_one_without_weight_can_be_cut);
    return talus_test_result();
}
