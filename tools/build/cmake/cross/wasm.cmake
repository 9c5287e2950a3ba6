# WebAssembly by emscripten; programs run in node. MWL_WASM_LINK are the options of programs for node: files of the
# machine, memory that grows, and no fetch(), which emscripten 3.1.6 would use for its own file where node has it.
# A page or a package links its own program with its own options.
set(MWL_CROSS wasm)
find_program(MWL_EMCC emcc REQUIRED NO_CMAKE_FIND_ROOT_PATH)
get_filename_component(MWL_EMSCRIPTEN ${MWL_EMCC} REALPATH)
get_filename_component(MWL_EMSCRIPTEN ${MWL_EMSCRIPTEN} DIRECTORY)
foreach(folder ${MWL_EMSCRIPTEN} ${MWL_EMSCRIPTEN}/.. /usr/share/emscripten)
  if(EXISTS ${folder}/cmake/Modules/Platform/Emscripten.cmake)
    set(EMSCRIPTEN_ROOT_PATH ${folder})
    break()
  endif()
endforeach()
include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/root.cmake)
set(CMAKE_CROSSCOMPILING_EMULATOR "node;--stack-size=4000")
set(MWL_WASM_LINK -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sWASM_ASYNC_COMPILATION=0 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=4MB)
list(APPEND MWL_WASM_LINK -O1) # more would optimise the whole program again, for each of a hundred tests
string(REPLACE ";" " " CMAKE_EXE_LINKER_FLAGS_INIT "${MWL_WASM_LINK}")
# Debian's acorn, which emscripten runs from -O2 on, for a node that is not Debian's
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
