/* client.h - a client of talus view that also says what no good client would. */
#ifndef TALUS_TESTS_VIEW_CLIENT_H
#define TALUS_TESTS_VIEW_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLIENT_SECONDS = 60 }; /* longest wait for anything that must come */

typedef struct Reply {
    int status;  /* 0: no answer came */
    char *text;  /* all that came, with a NUL after it */
    size_t size; /* of it */
    const char *body;
    size_t body_size;
    double seconds;
} Reply;

extern int client_port;
extern int client_failures;

/* Counts and prints. */
void client_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

double client_now(void);
/* A connected socket; -1 with errno. */
int client_dial(const char *address, int port);
/* False once the other side has closed. */
bool client_send(int fd, const void *bytes, size_t size);
/* Reads to the end and closes. */
Reply client_read(int fd);
/* Sends these bytes as they are and reads the answer. */
Reply client_say(const void *bytes, size_t size);
/* A request with the right Host; `more` are whole header lines, `body` may be NULL. */
Reply client_ask(const char *method, const char *target, const char *more, const char *body);
void client_free(Reply *reply);

/* The value of a header; NULL: it is not there. Good until the next call. */
const char *client_header(const Reply *reply, const char *name);
/* Whether the body has the text. */
bool client_has(const Reply *reply, const char *text);
/* The number after "key": in the body; -1 without one. */
double client_number(const Reply *reply, const char *key);
/* The token in the page. */
bool client_token(char token[64]);

/* The status of an answer is one of those given, 0 ends them; 1 stands for no answer at all. Frees it. */
void client_expect(const char *what, Reply reply, const int *statuses);
#define EXPECT(what, reply, ...) client_expect(what, reply, (const int[]){__VA_ARGS__, 0})

/* Groups of checks; each is one word of the command line. */
void check_routes(const char *dir);
void check_ranges(const char *dir);
void check_refusals(void);
void check_bodies(void);
void check_slow(void);
void check_crowd(void);
void check_greedy(void);
void check_loopback(void);

/* Throws requests with something wrong in them; stops at the first that is answered wrongly. */
void fuzz_server(double seconds, unsigned seed);

#endif
