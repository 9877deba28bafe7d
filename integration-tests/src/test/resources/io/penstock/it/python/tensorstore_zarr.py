"""tensorstore: an array written by several at once in a transaction, and read back with a slice."""

import os

import shared
import tensorstore


def opened(**more):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.getcwd() + "/t.zarr/"}}
    return tensorstore.open(spec, **more).result()


def write():
    data = shared.numbers(1, 6 * shared.MIB).reshape(3072, 2048)
    layout = tensorstore.ChunkLayout(chunk_shape=[256, 256])
    array = opened(create=True, dtype=tensorstore.float32, shape=data.shape, chunk_layout=layout)
    writes = [array[i : i + 512].write(data[i : i + 512]) for i in range(0, 3072, 512)]
    for done in writes:
        done.result()
    with tensorstore.Transaction() as transaction:
        array.with_transaction(transaction)[100:300, 100:300] = 3


def read():
    array = opened(read=True)
    shared.show("all", array.read().result())
    shared.show("part", array[50:350, 200:300].read().result().copy())
    return shared.size("t.zarr")


shared.main(write, read)
