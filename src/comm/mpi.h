/* comm/mpi.h - what a program tells about MPI, which carries ranks that are processes (talus_ranks_run_mpi). */
#ifndef TALUS_COMM_MPI_H
#define TALUS_COMM_MPI_H

/* Returns NULL if MPI can be loaded, else how to get it; valid until the thread's next call. */
const char *talus_mpi_missing(void);
/* Returns the MPI of this build, such as "Open MPI 4.1.4", or "". */
const char *talus_mpi_package(void);

#endif
