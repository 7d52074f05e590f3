# fsc_add_kernels(TARGET SOURCES FILE... ARCHS ARCH...
# [VARIANTS NAME=LO..HI...] [DEFINES NAME=VALUE...] [OPTIONS OPTION...]
#                 [LIBRARY TARGET])
#
# Adds kernels to a target: each FILE.dsl becomes an object that is linked in and a header FILE.h that can be included.
# ARCHS are those of --arch (sm_80, cpu, ...), VARIANTS of --variants, DEFINES of -D (dtype parameters, too: T=fp16),
# OPTIONS any others. The target, and what links it, gets LIBRARY: fsc::runtime, unless it is fsc::runtime_static, or
# fsc::fsc for programs with the JIT.
function(fsc_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY" "SOURCES;ARCHS;VARIANTS;DEFINES;OPTIONS")
    if(NOT TARGET ${target})
        message(FATAL_ERROR
            "fsc_add_kernels: there is no target '${target}'; add_executable or add_library comes first")
    endif()
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR
            "fsc_add_kernels: '${arg_UNPARSED_ARGUMENTS}' belongs to no word; "
            "they are SOURCES, ARCHS, VARIANTS, DEFINES, OPTIONS, LIBRARY")
    endif()
    foreach(word IN ITEMS SOURCES ARCHS)
        if(NOT arg_${word})
            message(FATAL_ERROR
                "fsc_add_kernels: ${word} is missing: fsc_add_kernels(TARGET SOURCES FILE... ARCHS ARCH...)")
        endif()
    endforeach()
    if(NOT arg_LIBRARY)
        set(arg_LIBRARY fsc::runtime)
    endif()
    list(JOIN arg_ARCHS "," archs)
    set(options --arch=${archs} ${arg_OPTIONS})
    foreach(variant IN LISTS arg_VARIANTS)
        list(APPEND options --variants=${variant})
    endforeach()
    foreach(define IN LISTS arg_DEFINES)
        list(APPEND options -D ${define})
    endforeach()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
    file(MAKE_DIRECTORY ${folder})
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
        get_filename_component(name ${source} NAME_WE)
        set(made ${folder}/${name})
        add_custom_command(
            OUTPUT ${made}.o ${made}.h
            COMMAND fsc::tool --emit=object ${options} -o ${made}.o --header=${made}.h -MD -MF ${made}.d ${path}
            DEPENDS ${path} $<TARGET_FILE:fsc::tool> DEPFILE ${made}.d
            COMMENT "Compiling kernels of ${source}" VERBATIM)
        set_source_files_properties(${made}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        target_sources(${target} PRIVATE ${made}.o ${made}.h)
    endforeach()
    # As properties: target_link_libraries would ask the caller to write PRIVATE or PUBLIC, or not to.
    set_property(TARGET ${target} APPEND PROPERTY INCLUDE_DIRECTORIES ${folder})
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES $<BUILD_INTERFACE:${folder}>)
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${arg_LIBRARY})
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${arg_LIBRARY})
    get_target_property(language ${target} LINKER_LANGUAGE)
    get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT language AND C IN_LIST enabled)
        get_target_property(sources ${target} SOURCES)
        if(NOT "${sources}" MATCHES "\\.(c|cc|cpp|cxx|C|cu)(;|$)") # of kernels alone: somebody must say who links it
            set_property(TARGET ${target} PROPERTY LINKER_LANGUAGE C)
        endif()
    endif()
endfunction()
