// How the parameters of a plan are spread over partitions, and what its shapes hash to.
#include "ingest/plan/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/text_proto.h"

namespace oomdb::ingest {
namespace {

Sharding Read(const std::string& text) { return ReadSharding(FromText<proto::OpSharding>(text)); }

TEST(ShardingTest, PrintsAsXlaDoes) {
  EXPECT_EQ(Read("").text, "{replicated}");
  EXPECT_EQ(Read("type: MAXIMAL tile_assignment_devices: 3").text, "{maximal device=3}");
  EXPECT_EQ(Read("type: MANUAL").text, "{manual}");
  EXPECT_EQ(Read("type: UNKNOWN").text, "{unknown}");
  EXPECT_EQ(Read("type: OTHER tile_assignment_dimensions: [8, 1] iota_reshape_dims: 8 "
                 "iota_transpose_perm: 0")
                .text,
            "{devices=[8,1]<=[8]}");
  EXPECT_EQ(Read("type: OTHER tile_assignment_dimensions: [4, 2] iota_reshape_dims: [2, 4] "
                 "iota_transpose_perm: [1, 0]")
                .text,
            "{devices=[4,2]<=[2,4]T(1,0)}");
  EXPECT_EQ(
      Read("type: OTHER tile_assignment_dimensions: [1, 2] tile_assignment_devices: [1, 0]").text,
      "{devices=[1,2]1,0}");
  EXPECT_EQ(Read("type: OTHER tile_assignment_dimensions: [2, 1, 4] iota_reshape_dims: 8 "
                 "iota_transpose_perm: 0 replicate_on_last_tile_dim: true")
                .text,
            "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(Read("type: OTHER tile_assignment_dimensions: [2, 2, 2] iota_reshape_dims: 8 "
                 "iota_transpose_perm: 0 last_tile_dims: [MANUAL, REPLICATED]")
                .text,
            "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}");
}

TEST(ShardingTest, CountsTheParts) {
  EXPECT_EQ(Read("").parts, 1);
  EXPECT_EQ(Read("type: OTHER tile_assignment_dimensions: [4, 2]").parts, 8);
  EXPECT_EQ(Read("type: OTHER tile_assignment_dimensions: [2, 1, 4] replicate_on_last_tile_dim: "
                 "true")
                .parts,
            2);
  // Whole on every partition, said in another way.
  const Sharding whole =
      Read("type: OTHER tile_assignment_dimensions: [1, 1, 8] replicate_on_last_tile_dim: true");
  EXPECT_EQ(whole.parts, 1);
  EXPECT_EQ(whole.text, "{replicated}");
  // Nothing tells what a device holds.
  for (const char* text :
       {"type: MAXIMAL tile_assignment_devices: 0", "type: MANUAL", "type: UNKNOWN", "type: OTHER",
        "type: OTHER tile_assignment_dimensions: [0, 8]",
        "type: OTHER tile_assignment_dimensions: [4000000000, 4000000000]",
        "type: OTHER tile_assignment_dimensions: [1, 8] last_tile_dims: MANUAL",
        "type: OTHER tile_assignment_dimensions: 1 last_tile_dims: [MANUAL, MANUAL]"}) {
    EXPECT_EQ(Read(text).parts, std::nullopt) << text;
  }
}

constexpr char kModule[] = R"(
  hlo_module {
    computations {
      id: 1 root_id: 4
      instructions { name: "p2" opcode: "parameter" id: 3 parameter_number: 2
        shape { element_type: 11 dimensions: 4 } }
      instructions { name: "p0" opcode: "parameter" id: 1 shape { element_type: 11 dimensions: 2 }
        sharding {} }
      instructions { name: "p1" opcode: "parameter" id: 2 parameter_number: 1
        shape { element_type: 13 tuple_shapes { element_type: 4 }
                tuple_shapes { element_type: 11 dimensions: 16 } }
        sharding { type: TUPLE tuple_shardings {}
          tuple_shardings { type: OTHER tile_assignment_dimensions: 2 iota_reshape_dims: 2
                            iota_transpose_perm: 0 } } }
      instructions { name: "add" opcode: "add" id: 4 operand_ids: 1
        shape { element_type: 11 dimensions: 2 } }
    }
    entry_computation_id: 1
    spmd_parameters_shardings { type: MANUAL }
    spmd_parameters_shardings {}
    spmd_parameters_shardings { type: MANUAL }
    device_assignment { replica_count: 1 computation_count: 2 }
  }
  buffer_assignment {
    buffer_allocations { index: 1 size: 8 is_entry_computation_parameter: true }
    buffer_allocations { index: 2 size: 64 is_entry_computation_parameter: true parameter_number: 1
                         parameter_shape_index: 1 }
    buffer_allocations { index: 3 size: 16 is_entry_computation_parameter: true parameter_number: 1
                         is_tuple: true }
    buffer_allocations { index: 4 size: 16 is_entry_computation_parameter: true
                         parameter_number: 2 }
    buffer_allocations { index: 5 size: 16 maybe_live_out: true }
  }
)";

TEST(ShardingTest, OfTheInstructionElseOfTheModule) {
  const Plan plan = PlanOf(kModule);
  ASSERT_EQ(plan.allocations.size(), 5);
  EXPECT_EQ(plan.allocations[0].sharding, "{replicated}");
  EXPECT_EQ(plan.allocations[1].sharding, "{devices=[2]<=[2]}");
  EXPECT_EQ(plan.allocations[1].shard_count, 2);
  EXPECT_EQ(plan.allocations[2].sharding, "");  // The tuple's own table.
  EXPECT_EQ(plan.allocations[3].sharding, "{manual}");
  EXPECT_EQ(plan.allocations[3].shard_count, std::nullopt);
  EXPECT_EQ(plan.allocations[4].sharding, "");
  EXPECT_EQ(plan.num_partitions, 2);
  EXPECT_EQ(plan.replica_count, 1);
}

TEST(ShardingTest, TheSignatureIsOfShapesInTheOrderOfTheParameters) {
  const auto module = FromText<proto::HloProto>(kModule).hlo_module();
  EXPECT_EQ(ShapeSignatureText(Instructions(module)), "(f32[2], (s32[], f32[16]), f32[4])->f32[2]");
  EXPECT_EQ(PlanOf(kModule).shape_signature.size(), 32);
  proto::HloProto other = FromText<proto::HloProto>(kModule);
  other.mutable_hlo_module()->mutable_computations(0)->mutable_instructions(1)->set_name("x");
  EXPECT_EQ(ReadPlan(other.SerializeAsString()).shape_signature, PlanOf(kModule).shape_signature);
  other.mutable_hlo_module()
      ->mutable_computations(0)
      ->mutable_instructions(1)
      ->mutable_shape()
      ->set_dimensions(0, 3);
  EXPECT_NE(ReadPlan(other.SerializeAsString()).shape_signature, PlanOf(kModule).shape_signature);
}

}  // namespace
}  // namespace oomdb::ingest
