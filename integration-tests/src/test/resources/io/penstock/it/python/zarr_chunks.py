"""zarr: 256 chunks, a file each, and the same in shards; all of one, a slice of the other, some written anew."""

import shared
import zarr


def write():
    data = shared.numbers(1, 8 * shared.MIB).reshape(4096, 2048)
    chunks = zarr.create_array("chunks.zarr", shape=data.shape, chunks=(256, 128), dtype="f4")
    chunks[:] = data
    chunks[1000:1100, 300:500] = 7
    shards = zarr.create_array("shards.zarr", shape=data.shape, chunks=(128, 128), shards=(1024, 1024), dtype="f4")
    shards[:] = data


def read():
    chunks = zarr.open_array("chunks.zarr", mode="r")
    shared.show("all", chunks[:])
    shards = zarr.open_array("shards.zarr", mode="r")
    part = shards[2000:2300, :256]
    shared.show("part", part.copy())
    return shared.size("chunks.zarr") + part.nbytes


shared.main(write, read)
