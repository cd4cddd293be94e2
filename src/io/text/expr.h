/* io/text/expr.h - arithmetic in scene files: "=2*radius*cbrt(bodies)".
 *
 * sum     = term {(+|-) term}          power  = atom [^ signed]     (whole exponents)
 * term    = signed {(*|/) signed}      atom   = number | name | function(sum, ...) | (sum)
 * signed  = [-|+] signed | power
 * Functions: sqrt cbrt min max ceil floor round abs; pi is a name. Only + - * / sqrt and floor are
 * used, so a scene means the same numbers on every IEEE platform. */
#ifndef TALUS_IO_TEXT_EXPR_H
#define TALUS_IO_TEXT_EXPR_H

#include <talus/base.h>

typedef struct TalusExprScope {
    const char *const *names;
    const double *values;
    int count;
} TalusExprScope;

typedef struct TalusExprError {
    int offset; /* byte in the text */
    char message[160];
} TalusExprError;

/* False with the error filled in when the text is no expression or its value is not finite. */
bool talus_expr_eval(const char *text, const TalusExprScope *scope, double *value,
                     TalusExprError *error);

/* Whether a name can be used in an expression: a letter or _, then letters, digits or _. */
bool talus_expr_is_name(const char *text);

/* Cube root by Newton's iteration; exact for cubes of whole numbers. */
double talus_cbrt(double x);

#endif
