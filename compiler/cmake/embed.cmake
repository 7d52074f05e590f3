# cmake -DOUT=lib.def -DROW=LIB_FILE -DFILES="a.dsl;b.dsl" -P embed.cmake
#
# In: text files. Out: one row per file, ROW(name, bytes...), to be included as a table.
# Bytes, not a string literal: ISO C promises only 4,095 characters in one of those.

set(rows "/* Made by cmake/embed.cmake: ${ROW}(name, bytes...) per file. */\n")
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE ",\n?$" "" bytes "${bytes}")
    string(APPEND rows "${ROW}(${name},\n${bytes})\n")
endforeach()
file(WRITE ${OUT} "${rows}")
