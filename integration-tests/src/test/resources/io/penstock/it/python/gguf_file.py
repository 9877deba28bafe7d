"""gguf: a model of 32 tensors, read by its map."""

import gguf
import shared


def write():
    writer = gguf.GGUFWriter("m.gguf", "llama")
    writer.add_block_count(32)
    for i in range(32):
        writer.add_tensor(f"blk.{i}.weight", shared.numbers(i, 256 * 1024).reshape(512, 512))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read():
    for tensor in gguf.GGUFReader("m.gguf").tensors:
        shared.show(tensor.name, tensor.data.copy())
    return shared.size("m.gguf")


shared.main(write, read)
