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
