/* io/surface/surface_text.c - splits a text into words, with continued lines. */
#include "io/surface/surface_text.h"

#include "io/text/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Skips a backslash at the end of a line, by which the line goes on in the next one. False if there is none, or without
 * stop_at_lines. */
static bool skip_continuation(TalusWords *w)
{
    const char *p = w->at;
    if (!w->stop_at_lines || p == w->end || *p != '\\')
        return false;
    for (p++; p < w->end && *p == '\r';)
        p++;
    if (p < w->end && *p != '\n')
        return false;
    w->at = p < w->end ? p + 1 : p;
    w->line++;
    return true;
}

bool talus_words_next(TalusWords *w)
{
    w->length = 0;
    for (; w->at < w->end; w->at++) {
        while (skip_continuation(w))
            ;
        if (w->at == w->end)
            break;
        if (*w->at == '\n') {
            if (w->stop_at_lines)
                return false;
            w->line++;
        } else if (!is_space(*w->at)) {
            break;
        }
    }
    w->word = w->at;
    while (w->at < w->end && *w->at != '\n' && !is_space(*w->at) &&
           !(w->stop_at_lines && *w->at == '\\'))
        w->at++;
    if (w->at == w->word && w->at < w->end) /* a backslash that continues no line */
        w->at++;
    w->length = (size_t)(w->at - w->word);
    return w->length > 0;
}

bool talus_words_next_line(TalusWords *w)
{
    w->length = 0;
    while (w->at < w->end && *w->at != '\n') {
        if (!skip_continuation(w))
            w->at++;
    }
    if (w->at == w->end)
        return false;
    w->at++;
    w->line++;
    return true;
}

bool talus_words_equal(const TalusWords *w, const char *text)
{
    if (w->length != strlen(text))
        return false;
    for (size_t i = 0; i < w->length; i++) {
        char c = w->word[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != text[i])
            return false;
    }
    return true;
}

static size_t count_digits(const TalusWords *w, size_t at)
{
    size_t n = 0;
    while (at + n < w->length && w->word[at + n] >= '0' && w->word[at + n] <= '9')
        n++;
    return n;
}

static bool has_sign(const TalusWords *w, size_t at)
{
    return at < w->length && (w->word[at] == '+' || w->word[at] == '-');
}

bool talus_words_parse_number(const TalusWords *w, double *value)
{
    size_t at = has_sign(w, 0), n = count_digits(w, at);
    at += n;
    if (at < w->length && w->word[at] == '.') {
        size_t fraction = count_digits(w, at + 1);
        n += fraction;
        at += 1 + fraction;
    }
    if (n == 0)
        return false;
    if (at < w->length && (w->word[at] == 'e' || w->word[at] == 'E')) {
        at += 1 + (size_t)has_sign(w, at + 1);
        n = count_digits(w, at);
        if (n == 0)
            return false;
        at += n;
    }
    return at == w->length && talus_number_parse(w->word, w->length, value);
}

const char *talus_words_printable(const TalusWords *w, char shown[TALUS_WORD_PRINTABLE_BYTES])
{
    size_t n = 0;
    for (; n < w->length && n + 1 < TALUS_WORD_PRINTABLE_BYTES; n++) {
        unsigned char c = (unsigned char)w->word[n];
        shown[n] = (char)(c < 32 || c > 126 ? '?' : c);
    }
    shown[n] = '\0';
    return shown;
}

TalusStatus talus_words_fail(const TalusWords *w, const char *format, ...)
{
    char text[400];
    TALUS_FORMAT(text, format);
    return talus_fail_line(w->name, w->line, TALUS_ERR_FORMAT, "%s", text);
}
