# What `trireme --version` says: the commit, the build type and the compiler.
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty OUTPUT_VARIABLE TRIREME_COMMIT
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT TRIREME_COMMIT)
  set(TRIREME_COMMIT "unknown")
endif()
