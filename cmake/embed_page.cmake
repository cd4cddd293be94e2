# Run at build time: cmake -DPAGE=report.html -DOUTPUT=page_template.c -P embed_page.cmake
#
# Writes the report's template as two C arrays, what stands before and after its data. Needs CMake
# alone, so that every build has the page.

file(READ ${PAGE} hex HEX)
string(HEX "@TALUS_DATA@" mark)
string(LENGTH ${mark} mark_length)

string(FIND "${hex}" ${mark} at)
string(FIND "${hex}" ${mark} last REVERSE)
math(EXPR odd "${at} % 2")
if(at LESS 0 OR odd OR NOT at EQUAL last)
  message(FATAL_ERROR "${PAGE}: the place of the data, @TALUS_DATA@, must be there exactly once")
endif()
math(EXPR rest "${at} + ${mark_length}")
string(SUBSTRING "${hex}" 0 ${at} head)
string(SUBSTRING "${hex}" ${rest} -1 tail)

# array(NAME HEX): the bytes, 24 to a line.
function(array name hex)
  string(REGEX REPLACE "(................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(text "extern const unsigned char ${name}[];\nextern const size_t ${name}_size;\n")
  string(APPEND text "const unsigned char ${name}[] = {\n${hex}\n};\n")
  string(APPEND text "const size_t ${name}_size = sizeof ${name};\n")
  file(APPEND ${OUTPUT} "${text}")
endfunction()

file(WRITE ${OUTPUT} "/* Made from apps/report/dist/report.html. */\n#include <stddef.h>\n")
array(page_head "${head}")
array(page_tail "${tail}")
