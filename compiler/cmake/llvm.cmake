# fsc-llvm: the parts of LLVM 22 that codegen/ uses.
#
# Static by default: one file starts in 3 ms, and no symbol of LLVM leaves it, so libfsc fits a
# process that holds another LLVM. The archives bring what LLVM was built with (zlib, zstd).

if(EXISTS /usr/lib/llvm-22)
    list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22) # Debian's place for llvm-22-dev
endif()
find_package(LLVM 22.1 CONFIG QUIET) # every release of 22 is a 22.1.x
if(NOT LLVM_FOUND)
    message(FATAL_ERROR "LLVM 22 is not here: install llvm-22-dev (and libzstd-dev zlib1g-dev), "
        "or give -DLLVM_DIR=<folder of LLVMConfig.cmake>.")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")

add_library(fsc-llvm INTERFACE)
target_include_directories(fsc-llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
set(fsc_cpus) # the kinds of processors that --cpu takes, this machine's and others
foreach(kind X86 AArch64)
    if(kind IN_LIST LLVM_TARGETS_TO_BUILD)
        list(APPEND fsc_cpus ${kind}CodeGen ${kind}Desc ${kind}Info)
        string(TOUPPER ${kind} name)
        target_compile_definitions(fsc-llvm INTERFACE FSC_LLVM_${name})
    endif()
endforeach()
if(FSC_LLVM_SHARED)
    target_link_libraries(fsc-llvm INTERFACE LLVM)
else()
    llvm_map_components_to_libnames(llvm_libraries
        analysis bitreader bitwriter core irreader linker native ${fsc_cpus} NVPTX orcjit passes support target)
    target_link_libraries(fsc-llvm INTERFACE ${llvm_libraries})
    # zstd: its archive, where there is one. What is linked then needs libraries that every Linux has (wheel.py).
    find_library(FSC_ZSTD_ARCHIVE libzstd.a)
    if(FSC_ZSTD_ARCHIVE AND TARGET zstd::libzstd_shared)
        set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${FSC_ZSTD_ARCHIVE})
    endif()
    target_link_options(fsc-llvm INTERFACE
        # LLVM is C++: its runtime goes in too, except under sanitizers, which need the shared one.
        $<$<NOT:$<OR:$<BOOL:${FSC_SANITIZE}>,$<BOOL:${FSC_TSAN}>>>:-static-libstdc++;-static-libgcc>)
endif()
