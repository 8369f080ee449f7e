# hardware/*.toml as a source of the folder src/hardware: the table that built_in_hardware() gives.
file(GLOB hardware_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/hardware/*.toml)
list(SORT hardware_files)
set(hardware_source ${CMAKE_BINARY_DIR}/generated/built_in_hardware.cpp)
set(hardware_table "")
foreach(path ${hardware_files})
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} text)
  string(APPEND hardware_table "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${hardware_source} @ONLY CONTENT [=[
// Generated from hardware/*.toml by cmake/HardwareFiles.cmake.
#include "hardware/catalog.h"

namespace trireme {

std::span<const BuiltInHardware> built_in_hardware() {
  static constexpr BuiltInHardware kFiles[] = {
@hardware_table@  };
  return kFiles;
}

}  // namespace trireme
]=])
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${hardware_files})
target_sources(trireme_hardware PRIVATE ${hardware_source})
