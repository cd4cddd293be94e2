/* io/text/text.c - growing text in memory. */
#include "io/text/text.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *talus_text_reserve(TalusText *text, size_t size)
{
    if (text->status == TALUS_OK)
        text->status = TALUS_GROW(text->bytes, text->size + size + 1, text->size, "text");
    if (text->status != TALUS_OK)
        return NULL;
    text->size += size;
    return text->bytes + text->size - size;
}

void talus_text_put(TalusText *text, const char *bytes, size_t size)
{
    char *reserved = talus_text_reserve(text, size);
    if (reserved)
        memcpy(reserved, bytes, size);
}

void talus_text_print(TalusText *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *reserved = talus_text_reserve(text, (size_t)n);
    if (!reserved)
        return;
    va_start(args, format);
    vsnprintf(reserved, (size_t)n + 1, format, args);
    va_end(args);
}

void talus_text_quote(TalusText *text, const char *string)
{
    talus_text_put(text, "\"", 1);
    for (; *string; string++) {
        if ((unsigned char)*string < 0x20)
            talus_text_print(text, "\\u%04x", (unsigned)*string);
        else if (*string == '"' || *string == '\\')
            talus_text_print(text, "\\%c", *string);
        else
            talus_text_put(text, string, 1);
    }
    talus_text_put(text, "\"", 1);
}
