// MPI's return codes as exceptions.
#pragma once
#include <mpi.h>

namespace trireme {

// EnvError with MPI's own text, when `code` is not MPI_SUCCESS: mpi_call(MPI_Send(...), "MPI_Send").
void mpi_call(int code, const char* name);

}  // namespace trireme
