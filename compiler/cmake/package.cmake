# What others need to build against an installed fsc: a CMake package, files for pkg-config. All relocatable.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fsc)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fscConfig.cmake.in ${PROJECT_BINARY_DIR}/fscConfig.cmake
    INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fscConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fscConfig.cmake ${PROJECT_BINARY_DIR}/fscConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/fscKernels.cmake DESTINATION ${package_folder})
install(EXPORT fscTargets NAMESPACE fsc:: DESTINATION ${package_folder})

file(RELATIVE_PATH pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
function(add_pc name description)
    set(pc_name ${name})
    set(pc_description ${description})
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fsc.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
add_pc(fsc "Compiler, JIT and runtime for block-level GPU kernels")
add_pc(fsc-runtime "Loads and launches kernels compiled by fsc")

# Manual pages and completions: the tool prints them from its table of options.
# Its commands are those of the heads of --help.
set(heads ${PROJECT_SOURCE_DIR}/compiler/tool/options.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${heads})
file(READ ${heads} commands)
string(REGEX MATCHALL "{COMMAND_[A-Z]+, \"fsc [a-z]+" commands "${commands}")
list(TRANSFORM commands REPLACE ".* " "")
set(printed)
function(print_file option name folder)
    set(file ${PROJECT_BINARY_DIR}/share/${folder}/${name})
    add_custom_command(OUTPUT ${file}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/${folder}
        COMMAND fsc-tool ${option} > ${file} DEPENDS fsc-tool COMMENT "[print] ${name}" VERBATIM)
    set(printed ${printed} ${file} PARENT_SCOPE)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endfunction()
print_file(--man=fsc ${FSC_TOOL_NAME}.1 man/man1)
foreach(command IN LISTS commands)
    print_file(--man=${command} ${FSC_TOOL_NAME}-${command}.1 man/man1)
endforeach()
print_file(--completion=bash ${FSC_TOOL_NAME} bash-completion/completions)
print_file(--completion=zsh _${FSC_TOOL_NAME} zsh/site-functions)
print_file(--completion=fish ${FSC_TOOL_NAME}.fish fish/vendor_completions.d)
add_custom_target(fsc-pages ALL DEPENDS ${printed})
install(FILES ${PROJECT_SOURCE_DIR}/docs/reference/libfsc.3 DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man3)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fsc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fsc PATTERN "*.3" EXCLUDE
    PATTERN __pycache__ EXCLUDE PATTERN editors EXCLUDE PATTERN site EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/dsl_examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/fsc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/editors DESTINATION ${CMAKE_INSTALL_DATADIR}/fsc
    PATTERN __pycache__ EXCLUDE) # the grammar for editors

# cpack -G DEB, cpack -G TGZ (unpacked anywhere, it works there)
set(CPACK_PACKAGE_NAME ${FSC_TOOL_NAME})
set(CPACK_PACKAGE_VENDOR "The fsc authors")
set(CPACK_PACKAGE_CONTACT "The fsc authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES TRUE)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_VERBATIM_VARIABLES TRUE)
include(CPack)
