"""Qwen2 in PyTorch, from the quantized GGUF weights that the benchmark serves.

The adapter is trained on these weights, dequantized, and not on the publisher's
float weights: it then corrects the model that it will sit beside. A batch is one
row of tokens. Examples that share a rule share its tokens (a tree of one prefix
and several branches), so nothing is padded and no rule is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import torch
from torch.nn.functional import linear, scaled_dot_product_attention, silu

MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_BIASES = ("attn_q", "attn_k", "attn_v")
_NORMS = ("attn_norm", "ffn_norm")

# Layer -> matrix -> the two factors, (rank, inputs) and (outputs, rank).
Factors = dict[int, dict[str, tuple[torch.Tensor, torch.Tensor]]]


@dataclass(frozen=True)
class Shape:
    """The sizes in the GGUF header."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    rope_base: float
    epsilon: float

    @property
    def head(self) -> int:
        """Width of one attention head."""
        return self.width // self.heads


@dataclass(frozen=True)
class Packed:
    """A batch as one row of tokens.

    Attributes:
        tokens: Token ids, shape (T,).
        positions: Position of each token in its own example, shape (T,).
        mask: Which tokens each token attends to, shape (T, T).
        readout: Index of the last token of each example, shape (examples,).
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    readout: torch.Tensor


def pack(groups: Sequence[Sequence[list[int]]]) -> Packed:
    """Pack groups of token sequences; the sequences of a group share their common prefix."""
    tokens: list[int] = []
    positions: list[int] = []
    owner: list[tuple[int, int]] = []
    readout: list[int] = []
    for group, sequences in enumerate(groups):
        shared = _common(sequences)
        parts = [(-1, 0, sequences[0][:shared])]
        parts += [(branch, shared, ids[shared:]) for branch, ids in enumerate(sequences)]
        for branch, start, ids in parts:
            tokens += ids
            positions += range(start, start + len(ids))
            owner += [(group, branch)] * len(ids)
            if branch >= 0:
                readout.append(len(tokens) - 1)
    groups_of, branches = torch.tensor(owner).T
    same = groups_of[:, None] == groups_of[None, :]
    visible = (branches[None, :] == -1) | (branches[:, None] == branches[None, :])
    order = torch.arange(len(tokens))
    mask = same & visible & (order[None, :] <= order[:, None])
    return Packed(torch.tensor(tokens), torch.tensor(positions), mask, torch.tensor(readout))


def _common(sequences: Sequence[list[int]]) -> int:
    # At least the last token stays in the branch: it is where the answer is read.
    longest = min(map(len, sequences)) - 1
    first = sequences[0]
    for at in range(longest):
        if any(ids[at] != first[at] for ids in sequences):
            return at
    return longest


class BaseModel:
    """The frozen weights, and the forward pass with an optional LoRA.

    Args:
        path: The GGUF file.
        dtype: What the matrices are multiplied in; the state between layers is float32. On a CPU
            with AVX512-BF16 bfloat16 is four to five times as fast as float32.
    """

    def __init__(self, path: Path, dtype: torch.dtype = torch.float32) -> None:
        reader = gguf.GGUFReader(path)
        self.shape = _shape(reader)
        self._dtype = dtype
        tensors = {tensor.name: tensor for tensor in reader.tensors}

        def load(name: str) -> torch.Tensor:
            tensor = tensors[name]
            return torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())

        self.embedding = load("token_embd.weight").to(torch.float16)
        output = "output.weight" if "output.weight" in tensors else "token_embd.weight"
        self.output = load(output).to(torch.float16)
        self.last_norm = load("output_norm.weight")
        self.layers = [
            {
                **{name: load(f"blk.{layer}.{name}.weight").to(dtype) for name in MATRICES},
                **{name: load(f"blk.{layer}.{name}.weight") for name in _NORMS},
                **{f"{name}.bias": load(f"blk.{layer}.{name}.bias") for name in _BIASES},
            }
            for layer in range(self.shape.layers)
        ]

    def logits(
        self, batch: Packed, words: Sequence[int], factors: Factors | None = None, scale: float = 1
    ) -> torch.Tensor:
        """Logits of some words after each example, shape (examples, words).

        Layers below the first one with factors run without gradients.
        """
        factors = factors or {}
        first = min(factors, default=0)
        rope = self._rope(batch.positions)
        with torch.no_grad():
            state = self.embedding[batch.tokens].float()
            for layer in range(first):
                state = self._layer(layer, state, batch, rope, {}, scale)
        for layer in range(first, self.shape.layers):
            state = self._layer(layer, state, batch, rope, factors.get(layer, {}), scale)
        rows = self.output[list(words)].float()
        return linear(_norm(state, self.last_norm, self.shape.epsilon), rows)

    def _layer(
        self,
        layer: int,
        state: torch.Tensor,
        batch: Packed,
        rope: tuple[torch.Tensor, torch.Tensor],
        factors: dict[str, tuple[torch.Tensor, torch.Tensor]],
        scale: float,
    ) -> torch.Tensor:
        weights, shape = self.layers[layer], self.shape

        def apply(name: str, inputs: torch.Tensor) -> torch.Tensor:
            # Casts between equal types are none, so float32 is computed as ever.
            given = inputs.to(self._dtype)
            result = linear(given, weights[name]).float()
            if (bias := weights.get(f"{name}.bias")) is not None:
                result = result + bias
            if name not in factors:
                return result
            down, up = (factor.to(self._dtype) for factor in factors[name])
            return result + scale * linear(linear(given, down), up).float()

        # After the last layer only the answers' positions are read.
        last = layer == shape.layers - 1
        rows = batch.readout if last else slice(None)
        normed = _norm(state, weights["attn_norm"], shape.epsilon)
        query = _rotate(_heads(apply("attn_q", normed[rows]), shape.heads), rope, rows)
        key = _rotate(_heads(apply("attn_k", normed), shape.kv_heads), rope, slice(None))
        value = _heads(apply("attn_v", normed), shape.kv_heads)
        repeat = shape.heads // shape.kv_heads
        mixed = scaled_dot_product_attention(
            query[None],
            key.repeat_interleave(repeat, 0)[None],
            value.repeat_interleave(repeat, 0)[None],
            attn_mask=batch.mask[rows],
        )[0]
        state = state[rows] + apply("attn_output", mixed.transpose(0, 1).flatten(1))
        normed = _norm(state, weights["ffn_norm"], shape.epsilon)
        gated = silu(apply("ffn_gate", normed)) * apply("ffn_up", normed)
        return state + apply("ffn_down", gated)

    def _rope(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        half = self.shape.head // 2
        speeds = self.shape.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = (positions[:, None] * speeds[None, :]).float()
        return angles.cos(), angles.sin()


def _shape(reader: gguf.GGUFReader) -> Shape:
    def value(name: str) -> float:
        return float(reader.fields[f"qwen2.{name}"].contents())

    return Shape(
        layers=int(value("block_count")),
        width=int(value("embedding_length")),
        heads=int(value("attention.head_count")),
        kv_heads=int(value("attention.head_count_kv")),
        rope_base=value("rope.freq_base"),
        epsilon=value("attention.layer_norm_rms_epsilon"),
    )


def _norm(state: torch.Tensor, weight: torch.Tensor, epsilon: float) -> torch.Tensor:
    return state * torch.rsqrt(state.square().mean(-1, keepdim=True) + epsilon) * weight


def _heads(state: torch.Tensor, count: int) -> torch.Tensor:
    return state.unflatten(-1, (count, -1)).transpose(0, 1)


def _rotate(
    state: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor], rows: torch.Tensor | slice
) -> torch.Tensor:
    cos, sin = rope[0][rows], rope[1][rows]
    left, right = state.chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)
