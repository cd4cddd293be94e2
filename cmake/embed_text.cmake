# Run at build time: cmake -DNAME=talus_script -DTEXT=script.py -DOUTPUT=script.c -P embed_text.cmake
#
# Writes a text as the C array NAME, which ends with a NUL. Needs CMake alone.

file(READ ${TEXT} hex HEX)
string(REGEX REPLACE "(................................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
get_filename_component(file ${TEXT} NAME)
file(WRITE ${OUTPUT} "/* Made from ${file}. */\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n${hex}\n0};\n")
