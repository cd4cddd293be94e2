/* base/crc.c - CRC-32, eight bytes at a time: polynomial 0xedb88320, bits reflected. */
#include "base/crc.h"

#include <pthread.h>

/* ahead[k][byte]: the contribution of a byte to the CRC register after k further bytes, so that eight bytes take eight
 * independent lookups. ahead[0][byte] is the remainder of the byte times x^32. The first thread that needs the table
 * fills it. */
static uint32_t ahead[8][256];

/* Fills `ahead`. */
static void fill_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t rest = b;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? UINT32_C(0xedb88320) : 0);
        ahead[0][b] = rest;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            ahead[k][b] = ahead[0][ahead[k - 1][b] & 0xff] ^ ahead[k - 1][b] >> 8;
}

/* Returns the CRC register after the eight bytes at p. */
static uint32_t add_eight_bytes(uint32_t crc, const unsigned char *p)
{
    uint32_t low =
        crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    return ahead[7][low & 0xff] ^ ahead[6][low >> 8 & 0xff] ^ ahead[5][low >> 16 & 0xff] ^
           ahead[4][low >> 24] ^ ahead[3][p[4]] ^ ahead[2][p[5]] ^ ahead[1][p[6]] ^ ahead[0][p[7]];
}

uint32_t talus_crc32(uint32_t crc, const void *bytes, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const unsigned char *p = bytes;
    pthread_once(&once, fill_tables);
    crc = ~crc;
    for (; size >= 8; size -= 8, p += 8)
        crc = add_eight_bytes(crc, p);
    for (; size > 0; size--, p++)
        crc = ahead[0][(crc ^ *p) & 0xff] ^ crc >> 8;
    return ~crc;
}
