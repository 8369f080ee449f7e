// A device that does nothing: Programs of any size walk on it, for tests and for checking a plan without the
// machine.
#pragma once
#include <memory>

#include "device/device.h"

namespace trireme {

// No memory is touched: the arena's addresses are never read or written, what is read back is 0.
std::unique_ptr<Device> make_null_device();

}  // namespace trireme
