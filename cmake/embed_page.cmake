# Run at build time: cmake -DNAME=report -DPAGE=report.html -DMARKS=A,B -DOUTPUT=page_report.c -P embed_page.cmake
#
# Writes a page's template as the C array page_NAME (page.h): what stands before, between and after the
# places of its data, @A@ and @B@. Needs CMake alone, so that every build has the pages.

file(READ ${PAGE} rest HEX)
string(REPLACE "," ";" marks ${MARKS})

# piece(HEX): one more array of bytes, 24 to a line.
set(count 0)
set(table "")
function(piece hex)
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  # A byte after the last, which does not count: no array may be empty.
  file(APPEND ${OUTPUT} "static const unsigned char piece_${count}[] = {\n${hex}\n0};\n")
  set(table "${table}    {piece_${count}, ${size}},\n" PARENT_SCOPE)
  math(EXPR count "${count} + 1")
  set(count ${count} PARENT_SCOPE)
endfunction()

get_filename_component(file ${PAGE} NAME)
file(WRITE ${OUTPUT} "/* Made from ${file}. */\n#include \"cli/page.h\"\n")
foreach(mark IN LISTS marks)
  string(HEX "@${mark}@" hex_mark)
  string(FIND "${rest}" ${hex_mark} at)
  string(FIND "${rest}" ${hex_mark} last REVERSE)
  math(EXPR odd "${at} % 2")
  if(at LESS 0 OR odd OR NOT at EQUAL last)
    file(REMOVE ${OUTPUT})
    message(FATAL_ERROR
            "${PAGE}: the place @${mark}@ must be there exactly once, after those of ${MARKS} before it")
  endif()
  string(SUBSTRING "${rest}" 0 ${at} before)
  string(LENGTH ${hex_mark} length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${rest}" ${at} -1 rest)
  piece("${before}")
endforeach()
piece("${rest}")
file(APPEND ${OUTPUT} "const PagePiece page_${NAME}[] = {\n${table}};\n")
