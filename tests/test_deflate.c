/* Checksums against known values; streams there and back, and streams that lie. */
#include "support/test.h"

#include "base/crc.h"
#include "base/deflate.h"
#include "base/memory.h"
#include "base/rng.h"

#include <string.h>

enum { SIZE = 100000 };

static unsigned char plain[SIZE], stream[SIZE * 2], back[SIZE + 1];

TEST(crc_of_known_bytes)
{
    CHECK(talus_crc32(0, "", 0) == 0);
    CHECK(talus_crc32(0, "123456789", 9) == 0xcbf43926); /* the check value of CRC-32 */
    CHECK(talus_crc32(0, "IEND", 4) == 0xae426082);      /* the last bytes of every PNG */
    CHECK(talus_crc32(talus_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926);
}

static void fill(int kind)
{
    TalusRng rng = talus_rng_from_seed(3);
    for (int i = 0; i < SIZE; i++)
        plain[i] = kind == 0   ? 0
                   : kind == 1 ? (unsigned char)talus_rng_next(&rng)
                               : (unsigned char)(i / 100 % 7);
}

static void round_trip(int level, TalusDeflateMatch match, size_t size)
{
    size_t used = 0;
    CHECK(talus_deflate_bound(size) <= sizeof stream);
    REQUIRE_OK(talus_deflate(level, match, plain, size, stream, talus_deflate_bound(size), &used));
    memset(back, 0xaa, sizeof back);
    CHECK_OK(talus_inflate(stream, used, back, size));
    CHECK(memcmp(plain, back, size) == 0 && back[size] == 0xaa);
    CHECK(talus_inflate(stream, used, back, size + 1) == TALUS_ERR_FORMAT);
    if (size > 0)
        CHECK(talus_inflate(stream, used, back, size - 1) == TALUS_ERR_FORMAT);
    CHECK(talus_inflate(stream, used - 1, back, size) == TALUS_ERR_FORMAT);
}

TEST(streams_come_back)
{
    if (!talus_deflate_available())
        SKIP("no zlib in this build");
    for (int kind = 0; kind < 3; kind++) {
        fill(kind);
        for (int match = TALUS_DEFLATE_ANY; match <= TALUS_DEFLATE_ENTROPY; match++) {
            round_trip(1, (TalusDeflateMatch)match, SIZE);
            round_trip(6, (TalusDeflateMatch)match, 1);
            round_trip(9, (TalusDeflateMatch)match, 0);
        }
    }
}

TEST(bad_streams_are_refused)
{
    size_t used;
    if (!talus_deflate_available())
        SKIP("no zlib in this build");
    fill(2);
    REQUIRE_OK(talus_deflate(6, TALUS_DEFLATE_ANY, plain, SIZE, stream, sizeof stream, &used));
    CHECK(talus_deflate(6, TALUS_DEFLATE_ANY, plain, SIZE, back, 10, &used) == TALUS_ERR_ARGUMENT);
    CHECK(talus_inflate("no stream", 9, back, 5) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "the compressed data are damaged: ") == talus_error());
    CHECK(talus_inflate("", 0, back, 5) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "0 bytes inflated; expected 5");
}

TEST(memory_may_be_short)
{
    size_t used;
    if (!talus_deflate_available())
        SKIP("no zlib in this build");
    fill(2);
    for (long n = 1; n < 20; n++) {
        talus_fail_allocation_in(n);
        TalusStatus status =
            talus_deflate(6, TALUS_DEFLATE_ANY, plain, SIZE, stream, sizeof stream, &used);
        if (status == TALUS_OK)
            status = talus_inflate(stream, used, back, SIZE);
        talus_fail_allocation_in(0);
        if (status == TALUS_OK)
            return;
        CHECK(status == TALUS_ERR_MEMORY);
    }
    CHECK(!"it never succeeds");
}

TEST(without_zlib_it_is_said)
{
    size_t used;
    if (talus_deflate_available())
        SKIP("zlib is there");
    CHECK(talus_deflate(1, TALUS_DEFLATE_ANY, plain, 10, stream, 100, &used) ==
          TALUS_ERR_UNSUPPORTED);
    CHECK(talus_inflate(stream, 10, back, 10) == TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "this build has no zlib") != NULL);
}

int main(void)
{
    RUN(crc_of_known_bytes);
    RUN(streams_come_back);
    RUN(bad_streams_are_refused);
    RUN(memory_may_be_short);
    RUN(without_zlib_it_is_said);
    return talus_test_result();
}
