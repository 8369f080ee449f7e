// Where an op lies on measured curves (hardware/hardware.h): the curve's name and dtype, and the op's size on
// it. Calibration measures by these, the simulator looks up by them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace trireme {

// {rows, in, out} of products, {sequences x heads of one rank, positions, head dim} of attention (with a
// window: as many shorter sequences as give the same pairs), {rows, width, vocabulary} of the head,
// {experts of one rank, rows of each, width, hidden} of experts; {bytes read and written} of the rest.
std::vector<int64_t> size_of_op(const OpSig& sig);

// The op's kind, with the attribute that picks another kernel: "linear", "activation_gelu". An op that joins
// compute with communication lies on the curve of what it computes: "gather_linear" on "linear".
std::string curve_of_op(const OpSig& sig);

// Name of its first input's dtype: "bf16".
std::string_view dtype_of_op(const OpSig& sig);

int64_t rows_of(const TensorType& type);  // its elements over its last dim

// What time is proportional to beyond a curve's ends: the FLOPs or bytes of a size up to a constant factor.
double work_of_size(std::string_view curve, const std::vector<int64_t>& size);

}  // namespace trireme
