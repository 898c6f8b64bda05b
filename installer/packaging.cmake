# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed, and how CPack packs it (TGZ and DEB). Included at the end of the top
# CMakeLists.txt, when every target is known.
include(GNUInstallDirs)
include(${CMAKE_CURRENT_LIST_DIR}/library.cmake)

foreach(program tenure tenurectl)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()

set(desktop_dir ${PROJECT_SOURCE_DIR}/resources/desktop)
install(FILES ${desktop_dir}/${TENURE_APP_ID}.desktop
    DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${desktop_dir}/${TENURE_APP_ID}.metainfo.xml
    DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${desktop_dir}/${TENURE_APP_ID}.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_PACKAGE_NAME tenure)
set(CPACK_PACKAGE_VENDOR "Tenure project")
set(CPACK_PACKAGE_CONTACT "Tenure maintainers <tenure@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Leader election with leases, seen and run")
set(CPACK_PACKAGE_DESCRIPTION "Shows who leads, for how long, and how that came about; elects
 leaders with leases and fencing tokens. A desktop console and its terminal twin, tenurectl.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core")
include(CPack)
