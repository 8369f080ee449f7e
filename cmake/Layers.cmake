# Reads src/layers.txt, the table of what each folder may include, so that the build links exactly
# what the layer check allows.
#
# trireme_layers(OUT)            the folders, in the order of the table; of those the ones in TRIREME_LAYERS, when set
# trireme_layer_needs(NAME OUT)  the folders that NAME may include
set(TRIREME_LAYER_TABLE ${CMAKE_CURRENT_LIST_DIR}/../src/layers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TRIREME_LAYER_TABLE})

function(trireme_layers out)
  file(STRINGS ${TRIREME_LAYER_TABLE} lines REGEX "^[a-z]+:")
  set(names "")
  foreach(line ${lines})
    string(REGEX REPLACE ":.*" "" name "${line}")
    if(NOT TRIREME_LAYERS OR name IN_LIST TRIREME_LAYERS)
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

function(trireme_layer_needs layer out)
  file(STRINGS ${TRIREME_LAYER_TABLE} line REGEX "^${layer}:")
  string(REGEX REPLACE "^[a-z]+:" "" needs "${line}")
  separate_arguments(needs UNIX_COMMAND "${needs}")
  set(${out} ${needs} PARENT_SCOPE)
endfunction()

# Flags of every target of the project. g++ 12 sees overlapping copies in std::string's operator+ where there are none.
add_library(trireme_flags INTERFACE)
target_compile_options(trireme_flags INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -fno-math-errno $<$<BOOL:${TRIREME_WERROR}>:-Werror>)
if(TRIREME_SANITIZE)
  target_compile_options(trireme_flags INTERFACE -fsanitize=${TRIREME_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(trireme_flags INTERFACE -fsanitize=${TRIREME_SANITIZE})
endif()
