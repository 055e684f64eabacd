#include "ingest/log/kinds.h"

#include <algorithm>

namespace oomdb::ingest {
namespace {

constexpr KindOfForm kKinds[] = {
    {"T1", "tpu_memory_exceeded"},
    {"T8", "tpu_memory_exceeded"},
    {"E1000", "tpu_memory_exceeded"},
    {"T5", "tpu_cores_exceeded"},
    {"T6", "tpu_compile_aborted"},
    {"T7", "tpu_allocation_exceeded"},
    {"T9", "tpu_plan_unverified"},
    {"D4", "memory_usage_rows"},
    {"T2", "tpu_memory_report"},
    {"T3", "tpu_memory_report"},
    {"T4", "tpu_memory_report"},
    {"V1", "tpu_memory_report"},
    {"V2", "tpu_scoped_vmem_exceeded"},
    {"E1001", "tpu_scoped_vmem_exceeded"},
    {"SC1", "tpu_sparse_core_exceeded"},
    {"E3000", "tpu_sparse_core_exceeded"},
    {"R1", "tpu_buffer_request_failed"},
    {"E0100", "tpu_buffer_request_failed"},
    {"R2", "tpu_program_load_failed"},
    {"E0101", "tpu_program_load_failed"},
    {"R3", "tpu_driver_request_failed"},
    {"A2", "bfc_request_failed"},
    {"A1", "bfc_request_advice"},
    {"A6", "bfc_dump"},
    {"A8", "bfc_dump"},
    {"A9", "cuda_async_request_failed"},
    {"G1", "gpu_request_failed"},
    {"G1n", "gpu_request_failed"},
    {"G3", "gpu_request_failed"},
    {"G2", "gpu_platform_request_failed"},
    {"G4", "gpu_constant_failed"},
    {"B1", "buffer_assignment_report"},
    {"B2", "buffer_assignment_report"},
    {"N1", "gpu_autotuning_failed"},
    {"D1", "cuda_driver_backed_off"},
    {"D2", "rocm_driver_backed_off"},
    {"D4x", "gpu_driver_out_of_memory"},
    {"G5", "tensorflow_request_failed"},
    {"O1", "pytorch_request_failed"},
    {"X1", "metal_memory_insufficient"},
    {"S1", "gpu_shared_memory_exceeded"},
    {"H1", "pinned_host_request_failed"},
    {"C1", "host_allocation_failed"},
    {"C2", "host_process_killed"},
    {"C3", "numpy_allocation_failed"},
    {"M1", "rematerialization_stopped"},
    {"M2", "arguments_above_limit"},
    {"K1", "compiled_memory_stats"},
    {"K3", "allocator_stats"},
    {"K7", "allocator_stats"},
    {"K5", "program_sizes"},
    {"K6", "program_sizes"},
};

}  // namespace

std::span<const KindOfForm> KindsOfForms() { return kKinds; }

std::string_view KindOf(std::string_view form) {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [&](const KindOfForm& one) { return one.form == form; });
  return found == std::end(kKinds) ? std::string_view() : found->kind;
}

}  // namespace oomdb::ingest
