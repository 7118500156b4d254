# One static library per layer. A layer shows its dependants only its own folder: the include directory is a view in
# the build tree that holds a single link to the source folder. An include of a layer that was not linked is therefore
# "No such file" (docs/contributing.md, "The layers").

set_property(GLOBAL PROPERTY GLOBAL_DEPENDS_NO_CYCLES ON)

# stoa_layer(<target> <folder> [DEPENDS targets...] [LIBRARIES external...])
function(stoa_layer target folder)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.h)
  if(target STREQUAL "storage")  # storage/base is a layer of its own
    list(FILTER sources EXCLUDE REGEX "/storage/base/")
    list(FILTER headers EXCLUDE REGEX "/storage/base/")
  endif()
  if(target STREQUAL "daemon")  # the program itself is not part of the library
    list(FILTER sources EXCLUDE REGEX "/daemon/main.cpp$")
  endif()

  set(view ${CMAKE_BINARY_DIR}/view/${target})
  get_filename_component(parent ${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${view}/${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)

  add_library(${target} STATIC ${sources} ${headers})
  add_library(stoa::${target} ALIAS ${target})
  target_include_directories(${target} PUBLIC ${view})
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES} PRIVATE stoa_warnings)

  # Each header compiles alone (target headers_alone).
  if(STOA_CHECK_HEADERS)
    foreach(header ${headers})
      file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${header})
      string(REPLACE "/" "_" flat ${name})
      set(probe ${CMAKE_BINARY_DIR}/headers_alone/${flat}.cpp)
      if(NOT EXISTS ${probe})
        file(WRITE ${probe} "#include \"${name}\"\n")
      endif()
      list(APPEND probes ${probe})
    endforeach()
    add_library(headers_alone_${target} OBJECT EXCLUDE_FROM_ALL ${probes})
    target_link_libraries(headers_alone_${target} PRIVATE ${target} stoa_warnings)
    add_dependencies(headers_alone headers_alone_${target})
  endif()
endfunction()

# stoa_unit_tests(<layer>): one program per layer from test/unit/<layer>/*_test.cpp, linked with exactly that layer.
function(stoa_unit_tests layer)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/unit/${layer}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(unit_${layer} ${sources} $<TARGET_OBJECTS:catch_main>)
  target_include_directories(unit_${layer} PRIVATE ${CMAKE_SOURCE_DIR}/test/unit)
  target_compile_definitions(unit_${layer} PRIVATE STOA_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(unit_${layer} PRIVATE ${layer} stoa_warnings)
  add_test(NAME unit_${layer} COMMAND unit_${layer})
endfunction()

# stoa_fuzzer(<name> <layer>): test/fuzz/<name>_fuzz.cpp, built by the fuzz preset only.
function(stoa_fuzzer name layer)
  if(NOT STOA_FUZZ)
    return()
  endif()
  add_executable(${name}_fuzz ${CMAKE_SOURCE_DIR}/test/fuzz/${name}_fuzz.cpp)
  target_link_libraries(${name}_fuzz PRIVATE ${layer} stoa_warnings)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()
