# Compiles files in batches: lathe_batches(TARGET) deals the C++ files of TARGET out to batches, each
# of which is one compilation. Most of the time that a file of Lathe takes goes to the headers and
# the templates that the files beside it need, too: in batches, that is done once for all of them.
#
# A batch has files of one folder, so that a new file moves only its neighbours. Two files that
# define the same name, such as a helper in their unnamed namespaces, are never in one batch. That is
# found out when CMake runs: after "redefinition of ..." in a file that compiles alone, run
# "cmake --preset release" again. Files with flags of their own, and generated ones, stay alone.
# In a batch a local name may hide a name of another file, so -Wshadow is for builds without batches.
# LATHE_UNITY=OFF compiles every file alone: best where one file is edited and compiled repeatedly.
option(LATHE_UNITY "Compile the files of a folder in batches" OFF)
set(LATHE_BATCH_BYTES 60000 CACHE STRING "How many bytes of source a batch has at most")

# Sets VARIABLE to the names that the lines of FILE define that begin in the first column. It may
# have some too many.
function(lathe_defined_names variable file)
  file(READ ${file} text)
  string(REPLACE "[[noreturn]] " "" text "${text}")
  string(REGEX REPLACE "[][;]" " " text "${text}")  # they mean something in lists of CMake
  set(type "[A-Za-z][A-Za-z0-9_:<>,*& ]*[ *&]")
  set(name "[A-Za-z][A-Za-z0-9_]*")
  string(REGEX MATCHALL "\n${type}${name}[(]" functions "${text}")
  string(REGEX MATCHALL "\nstd::function<[^\n]*> ${name}[(]" makers "${text}")
  string(REGEX MATCHALL "\n(struct|class|enum class|enum|union) ${name}" types "${text}")
  string(REGEX MATCHALL "\n(const|constexpr|static|inline|thread_local) [^\n(]*" lines "${text}")
  string(REGEX MATCHALL "[ *&]${name} *[={]" constants "${lines}")
  set(names ${functions} ${makers} ${types} ${constants})
  list(TRANSFORM names REPLACE "^.*[ *&](${name}) *[(={]?$" "\\1")
  list(REMOVE_DUPLICATES names)
  list(REMOVE_ITEM names to_json)  # each is for a type of its own
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

function(lathe_batches target)
  if(NOT LATHE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  list(FILTER sources EXCLUDE REGEX "/generated/")
  foreach(source IN LISTS sources)
    file(REAL_PATH ${source} path)
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    file(SIZE ${path} size)
    lathe_defined_names(names ${path})
    set(batch 0)
    while(TRUE)
      set(key ${folder}_${batch})
      set(clashes ${names})
      if(DEFINED names_${key})
        list(REMOVE_ITEM clashes ${names_${key}})
        list(LENGTH clashes distinct)
        list(LENGTH names all)
        math(EXPR together "${size_${key}} + ${size}")
      else()
        set(distinct 0)
        set(all 0)
        set(together ${size})
        set(size_${key} 0)
      endif()
      if(distinct EQUAL all AND (together LESS LATHE_BATCH_BYTES OR size_${key} EQUAL 0))
        break()
      endif()
      math(EXPR batch "${batch} + 1")
    endwhile()
    list(APPEND names_${key} ${names})
    set(size_${key} ${together})
    get_filename_component(short ${path} DIRECTORY)
    get_filename_component(short ${short} NAME)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${short}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
