# SPDX-License-Identifier: GPL-3.0-or-later
# The engine as an installed library: find_package(Tenure), Tenure::core. No Qt. Included by
# packaging.cmake, when every room is known.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(core_rooms tenure_base tenure_lease tenure_election tenure_observe tenure_churn tenure_journal tenure_net
    tenure_backend_api tenure_backend_memory tenure_backend_sqlite tenure_backend_redis
    tenure_backend_postgres tenure_backend_kubernetes tenure_backend_etcd tenure_backend tenure_work
    tenure_runtime)
set(core_modules "")
foreach(module hiredis libpqxx libpq yaml-cpp)
    if(TARGET PkgConfig::${module})
        list(APPEND core_modules ${module})
    endif()
endforeach()

# All rooms in one archive, so that a service links one thing.
add_library(tenure_core STATIC)
set_target_properties(tenure_core PROPERTIES OUTPUT_NAME tenure-core EXPORT_NAME core LINKER_LANGUAGE CXX)
foreach(room ${core_rooms})
    if(TARGET ${room})
        target_sources(tenure_core PRIVATE $<TARGET_OBJECTS:${room}>)
    endif()
endforeach()
target_compile_features(tenure_core INTERFACE cxx_std_20)
target_include_directories(tenure_core INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tenure>)
target_link_libraries(tenure_core INTERFACE tl::expected Threads::Threads CURL::libcurl SQLite::SQLite3)
foreach(module ${core_modules})
    target_link_libraries(tenure_core INTERFACE PkgConfig::${module})
endforeach()
if(TENURE_SANITIZE)
    target_link_options(tenure_core INTERFACE -fsanitize=${TENURE_SANITIZE})
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tenure)
install(TARGETS tenure_core EXPORT TenureTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT TenureTargets NAMESPACE Tenure:: DESTINATION ${config_dir} COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TenureConfig.cmake.in
    ${PROJECT_BINARY_DIR}/TenureConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenureConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TenureConfig.cmake ${PROJECT_BINARY_DIR}/TenureConfigVersion.cmake
    DESTINATION ${config_dir} COMPONENT library)

# The public headers: small on purpose.
set(public_headers base/clock.h base/random.h base/result.h base/text.h base/time_text.h
    lease/identity.h lease/record.h lease/timing.h election/election.h
    backend/backend.h backend/feed.h backend/lease_aside.h backend/store.h backend/uri.h runtime/elector.h
    work/work_queue.h work/open_work_queue.h work/queue_names.h)
set(reference_sources "")
foreach(header ${public_headers})
    get_filename_component(room ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/core/${header}
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenure/core/${room} COMPONENT library)
    list(APPEND reference_sources ${PROJECT_SOURCE_DIR}/core/${header})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/installer/example ${PROJECT_SOURCE_DIR}/resources/examples
    DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

# `cmake --build ... --target reference`: pages from the headers' own words, where doxygen is installed.
find_package(Doxygen QUIET)
if(DOXYGEN_FOUND)
    set(DOXYGEN_PROJECT_NAME Tenure)
    set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR})
    set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/reference)
    set(DOXYGEN_EXTRACT_ALL YES)
    set(DOXYGEN_QUIET YES)
    set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
    set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${CMAKE_CURRENT_LIST_DIR}/reference.md)
    doxygen_add_docs(reference ${reference_sources} ${CMAKE_CURRENT_LIST_DIR}/reference.md)
endif()
