"""safetensors: a file of 48 tensors, all of it loaded, then some of it by its map."""

import shared
from safetensors import safe_open
from safetensors.numpy import save_file
from safetensors.numpy import load_file


def write():
    save_file({f"layer.{i}": shared.numbers(i, 256 * 1024).reshape(512, 512) for i in range(48)}, "m.safetensors")


def read():
    for name, tensor in sorted(load_file("m.safetensors").items()):
        shared.show(name, tensor)
    with safe_open("m.safetensors", framework="numpy") as file:
        for name in "layer.40", "layer.3":
            shared.show(name, file.get_tensor(name))
            shared.show(name, file.get_slice(name)[100:110].copy())
    return shared.size("m.safetensors")


shared.main(write, read)
