# buildid.cmake - build_id.h: a number for the content of all sources that decide what code the compiler makes.
#
# In: FILES (a list), ROOT (their names are taken from there), FACTS (versions and options), OUT. Out: the header.
list(SORT FILES)
set(all "${FACTS}\n")
foreach(file IN LISTS FILES)
    file(SHA256 ${file} sum)
    file(RELATIVE_PATH name ${ROOT} ${file})
    string(APPEND all "${sum} ${name}\n")
endforeach()
string(SHA256 id "${all}")
file(WRITE ${OUT}
    "/* build_id.h - made by compiler/cmake/buildid.cmake from the sources' content. */\n"
    "#define FSC_BUILD_ID \"${id}\"\n")
