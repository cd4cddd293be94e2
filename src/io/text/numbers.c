/* io/text/numbers.c - splits a text into lines and their numbers. */
#include "io/text/numbers.h"

#include "base/memory.h"
#include "io/text/json.h"

#include <stdio.h>
#include <string.h>

static bool is_separator(const TalusNumberLines *l, char c)
{
    return c && strchr(l->separators, c);
}

static TalusStatus fail_at_word(const TalusNumberLines *l, const char *word, size_t length)
{
    char shown[TALUS_JSON_PRINTABLE_BYTES], copy[TALUS_JSON_PRINTABLE_BYTES];
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 40 ? length : 40), word);
    return talus_fail_line(l->path, l->line, TALUS_ERR_FORMAT, "expected %s, found '%s'",
                           l->expected, talus_json_printable(copy, shown));
}

/* Appends the numbers of the line from l->at to `stop`, up to a comment, to l->value. */
static TalusStatus read_line_numbers(TalusNumberLines *l, const char *stop)
{
    for (const char *at = l->at;;) {
        while (at < stop && is_separator(l, *at))
            at++;
        if (at == stop || *at == '#')
            return TALUS_OK;
        size_t length = 0;
        while (at + length < stop && !is_separator(l, at[length]))
            length++;
        double value;
        if ((l->limit && l->count == l->limit) || talus_number_length(at, length) != length ||
            !talus_number_parse(at, length, &value))
            return fail_at_word(l, at, length);
        TALUS_TRY(TALUS_GROW(l->value, l->count + 1, l->count, "numbers of a line"));
        l->value[l->count++] = value;
        at += length;
    }
}

TalusStatus talus_number_lines_read(TalusNumberLines *l)
{
    l->count = 0;
    while (l->count == 0 && l->at < l->end) {
        const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
        l->line++;
        TALUS_TRY(read_line_numbers(l, stop ? stop : l->end));
        l->at = stop ? stop + 1 : l->end;
    }
    return TALUS_OK;
}
