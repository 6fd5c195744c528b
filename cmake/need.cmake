# Finds third-party libraries, or stops with a message that says how to get them.
# need_package(NAME) wraps find_package; need_library(TARGET HEADER LIBRARY) defines a target for a
# library whose package has no CMake configuration, or one that asks for much more.

macro(need_package name)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. Run scripts/setup to install what is missing.")
  endif()
endmacro()

function(need_library target header library)
  find_path(${target}_INCLUDE_DIR ${header})
  find_library(${target}_LIBRARY ${library})
  if(NOT ${target}_INCLUDE_DIR OR NOT ${target}_LIBRARY)
    message(FATAL_ERROR "${library} was not found. Run scripts/setup to install what is missing.")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${${target}_INCLUDE_DIR})
  target_link_libraries(${target} INTERFACE ${${target}_LIBRARY})
endfunction()

# Defines the target "llvm" for one major version, with its headers as system headers. (LLVM's own
# configuration asks for the libraries that LLVM was built with.)
function(need_llvm version)
  find_path(llvm_INCLUDE_DIR llvm/IR/Module.h PATHS /usr/lib/llvm-${version}/include NO_DEFAULT_PATH)
  find_library(llvm_LIBRARY LLVM-${version} PATHS /usr/lib/llvm-${version}/lib)
  if(NOT llvm_INCLUDE_DIR OR NOT llvm_LIBRARY)
    message(FATAL_ERROR "LLVM ${version} was not found. Run scripts/setup to install what is missing.")
  endif()
  add_library(llvm INTERFACE IMPORTED GLOBAL)
  target_include_directories(llvm SYSTEM INTERFACE ${llvm_INCLUDE_DIR})
  # What has the property LATHE_HOLDS_LLVM gets the static libraries (cmake/shared.cmake).
  add_library(llvm_inside INTERFACE IMPORTED GLOBAL)
  target_link_libraries(llvm INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:LATHE_HOLDS_LLVM>>,llvm_inside,${llvm_LIBRARY}>)
endfunction()

# Defines the target "lld": the linker for ELF as a library, and LLVM.
function(need_lld version)
  find_path(lld_INCLUDE_DIR lld/Common/Driver.h PATHS /usr/lib/llvm-${version}/include
    NO_DEFAULT_PATH)
  find_library(lld_ELF_LIBRARY lldELF PATHS /usr/lib/llvm-${version}/lib NO_DEFAULT_PATH)
  find_library(lld_COMMON_LIBRARY lldCommon PATHS /usr/lib/llvm-${version}/lib NO_DEFAULT_PATH)
  if(NOT lld_INCLUDE_DIR OR NOT lld_ELF_LIBRARY OR NOT lld_COMMON_LIBRARY)
    message(FATAL_ERROR "lld ${version} was not found. Run scripts/setup to install it.")
  endif()
  need_library(zstd zstd.h zstd)  # lld can compress sections
  need_library(zlib zlib.h z)
  add_library(lld INTERFACE IMPORTED GLOBAL)
  target_include_directories(lld SYSTEM INTERFACE ${lld_INCLUDE_DIR})
  target_link_libraries(lld INTERFACE ${lld_ELF_LIBRARY} ${lld_COMMON_LIBRARY} llvm zstd zlib)
endfunction()
