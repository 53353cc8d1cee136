# SPDX-License-Identifier: GPL-3.0-or-later
# What `make install` puts where, and a Debian package of it (`cpack`, or
# `make package`). The program gets no capability by either: see PRIVILEGES in
# nfs-atime-test(8).
install(FILES man/nfs-atime-test.8
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(FILES man/nfs-atime-test-bench.1 man/nfs-atime-test-compare.1
              man/nfs-atime-test-pcap.1 man/nfs-atime-test-probe.1
              man/nfs-atime-test-report.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/nfs-atime-test.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME nfs-atime-test)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.json" PATTERN "*.md")
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        OPTIONAL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nfs-atime-test)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT
    "the nfs-atime-test authors <authors@nfs-atime-test.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "count the RPCs of an exec on NFS, and ask who moves the access time")
set(CPACK_PACKAGE_DESCRIPTION
    "Execs programs from an NFS mount, captures the wire, counts every RPC of
every exec (SETATTR and ACCESS first of all), correlates the counts with the
times, asks the server itself whether the access time moved, and writes a
report. Also counts the RPCs of captures taken anywhere, and compares runs.
.
Capturing needs CAP_NET_RAW: run it as root, or see PRIVILEGES in
nfs-atime-test(8). The package gives the capability to nobody.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, libcap2-bin, nfs-common")
include(CPack)
