# Finds third-party libraries, or stops with a message that says how to get them.
# need_package(NAME) wraps find_package; need_isl() defines the target "isl", as libisl-dev
# ships no CMake configuration of its own; need_onnx() the target "onnx_proto", ONNX's protobuf
# schema, as the configuration of libonnx-dev asks for much more.

macro(need_package name)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. Run scripts/setup to install what is missing.")
  endif()
endmacro()

function(need_isl)
  find_path(ISL_INCLUDE_DIR isl/cpp.h)
  find_library(ISL_LIBRARY isl)
  if(NOT ISL_INCLUDE_DIR OR NOT ISL_LIBRARY)
    message(FATAL_ERROR "isl was not found. Run scripts/setup to install what is missing.")
  endif()
  add_library(isl INTERFACE IMPORTED GLOBAL)
  target_include_directories(isl INTERFACE ${ISL_INCLUDE_DIR})
  target_link_libraries(isl INTERFACE ${ISL_LIBRARY})
endfunction()

function(need_onnx)
  find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h)
  find_library(ONNX_PROTO_LIBRARY onnx_proto)
  if(NOT ONNX_INCLUDE_DIR OR NOT ONNX_PROTO_LIBRARY)
    message(FATAL_ERROR "ONNX was not found. Run scripts/setup to install what is missing.")
  endif()
  add_library(onnx_proto INTERFACE IMPORTED GLOBAL)
  target_include_directories(onnx_proto INTERFACE ${ONNX_INCLUDE_DIR})
  target_link_libraries(onnx_proto INTERFACE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)
endfunction()
