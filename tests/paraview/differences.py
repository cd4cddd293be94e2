# What checks of written files find: the first differences are printed, all are counted.
import sys

failures = 0


def fail(text):
    global failures
    failures += 1
    if failures <= 20:
        print("FAILED: " + text)


def expect(what, value, wanted):
    if value != wanted:
        fail("%s: %r, expected %r" % (what, value, wanted))


def finish():
    """Ends the program, with 1 if something differs."""
    print("%d failures" % failures if failures else "ok")
    sys.exit(1 if failures else 0)
