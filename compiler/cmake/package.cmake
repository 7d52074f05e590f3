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
