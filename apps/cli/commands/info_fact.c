/* cli/commands/info_fact.c - formats the lines of `talus info`. */
#include "info.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void info_print_fact(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("  %-18s", name);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

void info_print_line(const char *name, const char *text)
{
    char line[80];
    size_t n = 0;
    if (!text)
        return;
    for (text += strspn(text, "\r\n\t "); *text && *text != '\n'; text++)
        if (n + 1 < sizeof line)
            line[n++] = (unsigned char)*text < 32 || *text == 127 ? ' ' : *text;
    line[n] = '\0';
    if (n)
        info_print_fact(name, "%s", line);
}
