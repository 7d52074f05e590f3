# fsc-flags: what every C file of the project is compiled with, and the linker.

include(CheckLinkerFlag)

add_library(fsc-flags INTERFACE)
target_compile_options(fsc-flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion
    $<$<BOOL:${FSC_WERROR}>:-Werror>
    -ffunction-sections -fdata-sections # so that --gc-sections can drop what a tool does not use
    -fno-semantic-interposition)
target_compile_definitions(fsc-flags INTERFACE
    _POSIX_C_SOURCE=200809L # ISO C17 and POSIX, nothing of GNU unless a file asks for it
    FSC_VERSION="${PROJECT_VERSION}"
    FSC_TOOL_NAME="${FSC_TOOL_NAME}"
    $<$<BOOL:${FSC_VERIFY_EACH}>:FSC_VERIFY_EACH=1>
    $<$<BOOL:${FSC_PLANTS}>:FSC_PLANTS=1>)
target_link_options(fsc-flags INTERFACE -Wl,--gc-sections -Wl,--as-needed)

if(FSC_SANITIZE)
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_compile_options(fsc-flags INTERFACE ${sanitize})
    target_link_options(fsc-flags INTERFACE ${sanitize})
endif()

if(FSC_TSAN)
    target_compile_options(fsc-flags INTERFACE -fsanitize=thread)
    target_link_options(fsc-flags INTERFACE -fsanitize=thread)
endif()

if(FSC_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "FSC_FUZZ needs clang and its libFuzzer: cmake --preset fuzz")
    endif()
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # No tracing of comparisons: it halves the speed, and tests/fuzz/mutate.c knows the words that it would find.
    target_compile_options(fsc-flags INTERFACE ${sanitize} -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
    target_link_options(fsc-flags INTERFACE ${sanitize})
endif()

# A static link against LLVM takes GNU ld over 3 s, mold and lld under 1 s: take the first one there is.
foreach(linker IN ITEMS mold lld)
    check_linker_flag(CXX -fuse-ld=${linker} FSC_HAVE_${linker})
    if(FSC_HAVE_${linker})
        target_link_options(fsc-flags INTERFACE -fuse-ld=${linker})
        break()
    endif()
endforeach()
