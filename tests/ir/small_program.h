// A Program in a few lines that has every kind of entry that the text form knows. It is no sound program: the
// text form does not ask that.
#pragma once
#include <string_view>

namespace trireme {

inline constexpr std::string_view kSmallProgram =
    R"(program "a run" rank=3 pp=2 dp_replicate=2 dp_shard=4 cp=1 tp=1 ep=1 etp=1 threads=2 batch_bytes=64 arena_bytes=4096 staging=-1 scalars=3 result=-1
comm dp_shard channel=1 ranks=0,1,2,3
comm dp_replicate channel=2 ranks=3,7
comm 3>11 channel=4 ranks=3,11
batch tokens i32[2,4] offset=0
group embed elements=1024 shard=512+512 copy=1/2 master=0 moment1=1 moment2=-1
param embed.weight role=column shape=8,16 own=4,8 cut=0:0+2,4+2;1:8+8 group=0 offset=0 decay=1
param scale role=whole shape= own= cut=_ group=0 offset=512 decay=0
code layer
  value x: input f32[2,4]
  value w: param f32[4,4] tp=shard(0)
  value w.grad: param_grad f32[4,4]
  value w.forward: prepared f32[2048]
  value y: saved f32[2,4] cp=partial
  value z: output f32[2,4]
  value z.grad: output_grad f32[2,4]
  value x.grad: input_grad f32[2,4]
  value t: held f32[2,4]
  prepare w.forward = pack(w) {use="forward"}
  forward y = linear(x, w.forward, _) {in=4, out=4}
  forward z = layernorm(y, _, _) {eps=1e-05, text="a, \"b\" {c} = \\"}
  backward.input t, x.grad = twice(z.grad, y) {scale=-1.0, shift=-3}
  backward.weight w.grad, _ = linear_grad_weight(x, t) {in=4, out=4, bias=0}
end
layout saved=64 held=64 offsets=-1,-1,-1,-1,0,-1,-1,-1,0
layout.prepare workspace=0 scratch=0
layout.forward workspace=128 scratch=0,64
layout.backward_input workspace=0 scratch=0
layout.backward_weight workspace=0 scratch=0
unit layers.0 code=0 w=b0+64 w.grad=b1+0 w.forward=b2+128
timeline train micro_batches=2
action load compute mb=0 batch=b4
action forward compute unit=0 mb=0 workspace=b5 saved=b6 batch=b4 in=b2+0,b2+64 out=b3+0
action backward_weight comm unit=0 mb=1 waits=0,1 held=b6 in_grad=b3+0 out_grad=b3+64
action reduce_grad comm waits=1 transfers=reduce_scatter/0/f32/b0+0/b1+512/128,all_reduce/1/f32/b1+512/b1+512/128
action send_act p2p mb=1 transfers=send/2/bf16/b3+64/_/8
timeline eval micro_batches=0
buffer embed/master master bytes=4096 offset=0 timeline=-1 first=-1 last=-1
buffer embed/moment1 moment bytes=4096 offset=4096 timeline=-1 first=-1 last=-1
buffer prepared prepared bytes=256 offset=-1 timeline=-1 first=-1 last=-1
buffer scalars scalar bytes=128 offset=-1 timeline=-1 first=-1 last=-1
buffer batch.0 batch bytes=64 offset=64 timeline=0 first=0 last=1
buffer work workspace bytes=64 offset=128 timeline=0 first=1 last=1
buffer saved saved bytes=64 offset=192 timeline=0 first=1 last=2
end
)";

}  // namespace trireme
