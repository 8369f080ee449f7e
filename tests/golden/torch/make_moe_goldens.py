#!/usr/bin/env python3
"""Makes the goldens of models with experts: one pass forward and back through small stacks of transformers'
own Mixtral, Qwen3-MoE and DeepSeek-V3.

    python tests/golden/torch/make_moe_goldens.py tests/golden/torch   # needs numpy, torch (CPU), transformers 5

Weights and tokens are drawn as make_model_goldens.py says, under the names that this project gives parameters
(a choosing bias, row 0 of layers.N.moe.balance, as all else). They are put into transformers' modules by maps that
torch differentiates, so gradients come back under our names and in our layouts. The batch is two sequences of
T = 64 tokens, as one micro-batch: the first two in a row whose every choice is clear enough that f32's rounding does
not decide it.

CASE.json, f32 on one thread:
    model, moe       the keys of [model] and [moe]
    first            the number of the first sequence
    loss             sum of token losses
    terms            what is added to it, below
    router.PREFIX    of a layer by the prefix of its parameters: ids, a token's experts as digits, best first; the weights of every eighth token; the
                     least gap between neighbours in a token's order of experts, of groups
    tensors.NAME     the gradient of (sum of token losses + the terms below): sum_squares in f64, and samples: the
                     elements n * floor(size / 16), n = 0, 1, ..., of which there are at most 16

Transformers' own auxiliary loss is another one (all layers' tokens together), so the terms are written here from its
router's logits, per layer: with p the scores divided by their sum, f_e = count_e / (tokens k) without a gradient,
aux_loss * E * sum_e f_e sum_t p_te (Switch Transformer, eq. 4-6, times tokens), and z_loss * sum_t logsumexp^2
(ST-MoE, eq. 5).

The case deepseek_mtp also predicts the token after the next (DeepSeek-V3, section 2.2), of which transformers has
nothing: its layer is transformers', the rest is written here. mtp_weight times the sum of those tokens' losses is
added too.
"""
import math
import sys

import torch
import torch.nn.functional as F
import transformers

from make_model_goldens import T, V, f32, sequence, uniform, write

SHAPE = dict(width=64, heads=4, vocab=V, context=T, norm_eps=1e-6, rope_theta=10000.0, layers=2)
CASES = {
    "mixtral": dict(
        model=SHAPE | dict(family="llama", kv_heads=2, head_dim=16, ffn=48),
        moe=dict(experts=4, top_k=2, softmax_order="after", aux_loss=0.02, z_loss=0.001)),
    "qwen3_moe": dict(
        model=SHAPE | dict(family="llama", kv_heads=2, head_dim=16, ffn=96, qk_norm=True),
        moe=dict(experts=8, top_k=3, expert_ffn=24, first_dense=1, normalize=False, aux_loss=0.0)),
    "deepseek": dict(
        model=SHAPE | dict(
            family="deepseek", ffn=96, layers=3, rope_layout="interleaved",
            mla=dict(q_rank=24, kv_rank=16, nope_dim=16, rope_dim=8, v_dim=12,
                     score_scale=(0.1 * math.log(4.0) + 1) ** 2),
            rope_scaling=dict(kind="yarn", factor=4.0, original_context=16, attention_factor=1.0)),
        moe=dict(experts=8, top_k=3, expert_ffn=24, shared_ffn=48, first_dense=1, score="sigmoid", groups=4,
                 top_groups=2, scale=2.5, aux_loss=0.01, balance_rate=0.001)),
}
CASES["deepseek_mtp"] = dict(model=CASES["deepseek"]["model"] | dict(layers=2, mtp=1, mtp_weight=0.3),
                             moe=CASES["deepseek"]["moe"])


def has_experts(case, layer):
    return layer >= case["moe"].get("first_dense", 0)


# ---- Parameters under our names.

def attention_shapes(m):
    c, h = m["width"], m["heads"]
    if m["family"] == "llama":
        d, k = m["head_dim"], m["kv_heads"]
        shapes = {"qkv.weight": ((h + 2 * k) * d, c), "out.weight": (c, h * d)}
        return shapes | ({"q_norm.weight": (d,), "k_norm.weight": (d,)} if m.get("qk_norm") else {})
    a = m["mla"]
    return {"q_down.weight": (a["q_rank"], c), "q_norm.weight": (a["q_rank"],),
            "q_up.weight": (h * (a["nope_dim"] + a["rope_dim"]), a["q_rank"]),
            "kv_down.weight": (a["kv_rank"], c), "kv_norm.weight": (a["kv_rank"],),
            "kv_up.weight": (h * (a["nope_dim"] + a["v_dim"]), a["kv_rank"]), "k_rope.weight": (a["rope_dim"], c),
            "out.weight": (c, h * a["v_dim"])}


def layer_shapes(case, layer):
    m, e = case["model"], case["moe"]
    c = m["width"]
    shapes = {"attn_norm.weight": (c,), "mlp_norm.weight": (c,)}
    shapes |= {"attn." + name: shape for name, shape in attention_shapes(m).items()}
    if not has_experts(case, layer):
        return shapes | {"mlp.gate_up.weight": (2 * m["ffn"], c), "mlp.down.weight": (c, m["ffn"])}
    f, shared, n = e.get("expert_ffn", m["ffn"]), e.get("shared_ffn", 0), e["experts"]
    shapes |= {"moe.router.weight": (n, c), "moe.experts.gate_up.weight": (n, 2 * f, c),
               "moe.experts.down.weight": (n, c, f)}
    if shared:
        shapes |= {"moe.shared.gate_up.weight": (2 * shared, c), "moe.shared.down.weight": (c, shared)}
    return shapes


def drawn(name, shape):
    u = (uniform("golden/" + name, math.prod(shape)) - 0.5) * 0.2
    return torch.from_numpy(u + 1 if name.endswith("norm.weight") else u).float().view(shape)


def initial_weights(case):
    m = case["model"]
    shapes = {"embed.weight": (V, m["width"]), "final_norm.weight": (m["width"],), "head.weight": (V, m["width"])}
    for n in range(m["layers"]):
        shapes |= {f"layers.{n}.{name}": shape for name, shape in layer_shapes(case, n).items()}
    if m.get("mtp"):
        shapes |= {"mtp." + name: shape for name, shape in layer_shapes(case, m["layers"]).items()}
        shapes |= {f"mtp.{part}_norm.weight": (m["width"],) for part in ("hidden", "embed", "final")}
        shapes |= {f"mtp.{part}_proj.weight": (m["width"], m["width"]) for part in ("hidden", "embed")}
    return {name: drawn(name, shape).requires_grad_(True) for name, shape in shapes.items()}


# ---- Transformers' models, and their parameters from ours.

def library_model(case):
    m, e = case["model"], case["moe"]
    common = dict(vocab_size=V, hidden_size=m["width"], intermediate_size=m["ffn"], num_hidden_layers=m["layers"],
                  num_attention_heads=m["heads"], max_position_embeddings=T, rms_norm_eps=m["norm_eps"],
                  num_experts_per_tok=e["top_k"], tie_word_embeddings=False, pad_token_id=None,
                  attn_implementation="eager")
    plain_rope = {"rope_type": "default", "rope_theta": m["rope_theta"]}
    if m["family"] == "deepseek":
        a, s = m["mla"], m["rope_scaling"]
        config = transformers.DeepseekV3Config(
            **common, num_key_value_heads=m["heads"], n_routed_experts=e["experts"],
            n_shared_experts=e["shared_ffn"] // e["expert_ffn"], moe_intermediate_size=e["expert_ffn"],
            n_group=e["groups"], topk_group=e["top_groups"], first_k_dense_replace=e["first_dense"],
            norm_topk_prob=True, routed_scaling_factor=e["scale"], q_lora_rank=a["q_rank"], kv_lora_rank=a["kv_rank"],
            qk_nope_head_dim=a["nope_dim"], qk_rope_head_dim=a["rope_dim"], v_head_dim=a["v_dim"],
            rope_parameters={"rope_type": "yarn", "rope_theta": m["rope_theta"], "factor": s["factor"],
                             "original_max_position_embeddings": s["original_context"], "beta_fast": 32,
                             "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0})
        return transformers.DeepseekV3ForCausalLM(config)
    if m.get("qk_norm"):
        return transformers.Qwen3MoeForCausalLM(transformers.Qwen3MoeConfig(
            **common, num_key_value_heads=m["kv_heads"], head_dim=m["head_dim"], num_experts=e["experts"],
            moe_intermediate_size=e["expert_ffn"], norm_topk_prob=e["normalize"],
            mlp_only_layers=list(range(e["first_dense"])), rope_parameters=plain_rope))
    return transformers.MixtralForCausalLM(transformers.MixtralConfig(
        **common, num_key_value_heads=m["kv_heads"], head_dim=m["head_dim"], num_local_experts=e["experts"],
        rope_parameters=plain_rope))


def gated(ours, theirs, w):
    gate, up = w[ours + "gate_up.weight"].chunk(2)
    return {theirs + "gate_proj.weight": gate, theirs + "up_proj.weight": up,
            theirs + "down_proj.weight": w[ours + "down.weight"]}


def attention_parameters(m, ours, theirs, w):
    if m["family"] == "llama":
        rows = [m["heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"], m["kv_heads"] * m["head_dim"]]
        q, k, v = w[ours + "qkv.weight"].split(rows)
        p = {"q_proj.weight": q, "k_proj.weight": k, "v_proj.weight": v, "o_proj.weight": w[ours + "out.weight"]}
        if m.get("qk_norm"):
            p |= {"q_norm.weight": w[ours + "q_norm.weight"], "k_norm.weight": w[ours + "k_norm.weight"]}
    else:
        p = {"q_a_proj.weight": w[ours + "q_down.weight"], "q_a_layernorm.weight": w[ours + "q_norm.weight"],
             "q_b_proj.weight": w[ours + "q_up.weight"],
             "kv_a_proj_with_mqa.weight": torch.cat([w[ours + "kv_down.weight"], w[ours + "k_rope.weight"]]),
             "kv_a_layernorm.weight": w[ours + "kv_norm.weight"], "kv_b_proj.weight": w[ours + "kv_up.weight"],
             "o_proj.weight": w[ours + "out.weight"]}
    return {theirs + name: x for name, x in p.items()}


def library_parameters(case, w):
    p = {"model.embed_tokens.weight": w["embed.weight"], "model.norm.weight": w["final_norm.weight"],
         "lm_head.weight": w["head.weight"]}
    for n in range(case["model"]["layers"]):
        p |= layer_parameters(case, n, f"layers.{n}.", f"model.layers.{n}.", w)
    return p


def layer_parameters(case, n, ours, theirs, w):
    p = {theirs + "input_layernorm.weight": w[ours + "attn_norm.weight"],
         theirs + "post_attention_layernorm.weight": w[ours + "mlp_norm.weight"]}
    p |= attention_parameters(case["model"], ours + "attn.", theirs + "self_attn.", w)
    if not has_experts(case, n):
        return p | gated(ours + "mlp.", theirs + "mlp.", w)
    p |= {theirs + "mlp.gate.weight": w[ours + "moe.router.weight"],
          theirs + "mlp.experts.gate_up_proj": w[ours + "moe.experts.gate_up.weight"],
          theirs + "mlp.experts.down_proj": w[ours + "moe.experts.down.weight"]}
    if "shared_ffn" in case["moe"]:
        p |= gated(ours + "moe.shared.", theirs + "mlp.shared_experts.", w)
    if case["moe"].get("score") == "sigmoid":
        p[theirs + "mlp.gate.e_score_correction_bias"] = drawn(ours + "moe.balance", (case["moe"]["experts"],))
    return p


# ---- One pass.

def scores_of(case, logits):
    return logits.sigmoid() if case["moe"].get("score") == "sigmoid" else logits.softmax(-1)


def router_terms(case, logits, ids):
    e = case["moe"]
    scores = scores_of(case, logits)
    p = scores / scores.sum(-1, keepdim=True)
    f = torch.bincount(ids.flatten(), minlength=e["experts"]).float() / ids.numel()
    aux = e["aux_loss"] * e["experts"] * (f * p.sum(0)).sum()
    return aux + e.get("z_loss", 0.0) * logits.logsumexp(-1).square().sum()


def sorted_choice(case, block, logits, weights, ids):
    """Best first, and the least gap to what was not chosen."""
    worth = scores_of(case, logits)
    gap = math.inf
    if case["moe"].get("score") == "sigmoid":
        worth = worth + drawn(block + "moe.balance", (case["moe"]["experts"],))
        groups = worth.view(len(worth), case["moe"]["groups"], -1).topk(2, dim=-1)[0].sum(-1)
        best = groups.sort(-1, descending=True)
        kept = case["moe"]["top_groups"]
        gap = float((best.values[:, kept - 1] - best.values[:, kept]).min())
        mask = torch.zeros_like(groups).scatter_(1, best.indices[:, :kept], 1).bool()
        reach = mask.repeat_interleave(case["moe"]["experts"] // case["moe"]["groups"], dim=1)
        worth = worth.masked_fill(~reach, -math.inf)
    best = worth.sort(-1, descending=True)
    k = ids.shape[1]
    gap = min(gap, float((best.values[:, :k] - best.values[:, 1:k + 1]).min()))  # of the order among the chosen too
    order = worth.gather(1, ids).argsort(-1, descending=True)
    assert torch.equal(ids.gather(1, order), best.indices[:, :k])
    return ids.gather(1, order), weights.gather(1, order), gap


def describe(x):
    flat = x.flatten()
    stride = max(1, flat.numel() // 16)
    return {"shape": list(x.shape), "sum_squares": float(flat.double().square().sum()),
            "samples": [f32(v) for v in flat[::stride][:16]]}


def further_loss(case, model, w, x, targets, chosen):
    """x: the output of the last layer, before its norm."""
    m = case["model"]
    length = targets.shape[1]
    layer = type(model.model.layers[-1])(model.config, m["layers"] - 1).float().eval()
    layer.mlp.gate.register_forward_hook(lambda _, __, out: chosen.update({"mtp.": out}))

    def projected(part, values):
        return F.rms_norm(values, (m["width"],), w[f"mtp.{part}_norm.weight"], m["norm_eps"]) \
            @ w[f"mtp.{part}_proj.weight"].T

    x = projected("hidden", x) + projected("embed", w["embed.weight"][targets])
    positions = torch.arange(length)[None]
    mask = torch.full((length, length), -math.inf).triu(1)[None, None]
    y = torch.func.functional_call(layer, layer_parameters(case, m["layers"] - 1, "mtp.", "", w), (x,), dict(
        attention_mask=mask, position_ids=positions, position_embeddings=model.model.rotary_emb(x, positions)))
    y = F.rms_norm(y, (m["width"],), w["mtp.final_norm.weight"], m["norm_eps"])
    logits = (y @ w["head.weight"].T)[:, :-1]
    return m["mtp_weight"] * F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), reduction="sum")


def run(case, first):
    w = initial_weights(case)
    model = library_model(case).float().eval()
    chosen, before_norm = {}, []
    for n, layer in enumerate(model.model.layers):
        if has_experts(case, n):
            layer.mlp.gate.register_forward_hook(lambda _, __, out, n=n: chosen.update({f"layers.{n}.": out}))
    model.model.norm.register_forward_pre_hook(lambda _, inputs: before_norm.append(inputs[0]))
    rows = torch.tensor([sequence(k) for k in (first, first + 1)])
    out = torch.func.functional_call(model, library_parameters(case, w), (rows[:, :-1],), strict=False)
    loss = F.cross_entropy(out.logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="sum")
    total = loss
    if case["model"].get("mtp"):
        total = total + further_loss(case, model, w, before_norm[0], rows[:, 1:], chosen)
    total = total + sum(router_terms(case, logits, ids) for logits, _, ids in chosen.values())
    total.backward()
    router = {}
    for block, (logits, weights, ids) in chosen.items():
        ids, weights, gap = sorted_choice(case, block, logits.detach(), weights.detach(), ids)
        router[block] = {"gap": gap, "ids": " ".join("".join(map(str, token)) for token in ids.tolist()), "weights": [f32(v) for v in weights[::8].flatten()]}
    return {"first": first, "loss": float(loss.detach()), "terms": float(total.detach() - loss.detach()), "router": router,
            "tensors": {name: describe(x.grad) for name, x in w.items()}}


def main(folder):
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name, case in CASES.items():
        result = next(r for r in (run(case, first) for first in range(0, 100, 2))
                      if min(choice["gap"] for choice in r["router"].values()) > 1e-4)
        write(f"{folder}/{name}.json", case | {"torch": torch.__version__.split("+")[0],
                                               "transformers": transformers.__version__} | result)
        print(name, "loss", result["loss"], "terms", result["terms"],
              "gaps", [r["gap"] for r in result["router"].values()])


if __name__ == "__main__":
    main(sys.argv[1])
