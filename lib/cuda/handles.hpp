#pragma once

// The names of the CUDA runtime for its queues and marks, so that headers of this room need no
// header of the toolkit, which not every machine has.
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
