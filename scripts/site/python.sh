#!/bin/sh
# Prints a Python that can build the site of the documentation; $PYTHON comes first. Fails with a word if there is none.
for python in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$python" -c 'import markdown_it, pygments' 2>/dev/null; then
        echo "$python"
        exit 0
    fi
done
echo "no Python with markdown-it and Pygments (Debian: python3-markdown-it python3-pygments)" >&2
exit 1
