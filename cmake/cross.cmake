# A toolchain for the other architecture, with Debian's cross compiler and a folder of Debian's
# packages for it (scripts/setup-cross):
#
#   cmake --preset release -B build/aarch64 --toolchain cmake/cross.cmake -DLATHE_ARCH=aarch64
set(CMAKE_SYSTEM_NAME Linux)
if(NOT LATHE_ARCH)
  set(LATHE_ARCH aarch64)
endif()
set(CMAKE_SYSTEM_PROCESSOR ${LATHE_ARCH})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LATHE_ARCH)

set(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-${LATHE_ARCH})
cmake_path(NORMAL_PATH CMAKE_SYSROOT)
set(CMAKE_LIBRARY_ARCHITECTURE ${LATHE_ARCH}-linux-gnu)
set(CMAKE_C_COMPILER ${LATHE_ARCH}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${LATHE_ARCH}-linux-gnu-g++)

# Programs are this machine's; libraries and headers are the other's.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
