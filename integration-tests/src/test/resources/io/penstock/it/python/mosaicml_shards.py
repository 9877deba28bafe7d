"""mosaicml-streaming: shards of samples, read in order and shuffled."""

import hashlib

import shared
from streaming import MDSWriter
from streaming import StreamingDataset


def write():
    with MDSWriter(out="shards", columns={"id": "int", "x": "bytes"}, size_limit=4 * shared.MIB) as shards:
        for i in range(4000):
            shards.write({"id": i, "x": shared.numbers(i, 1500 + i % 700).tobytes()})


def read():
    for shuffle in False, True:
        sum = hashlib.sha256()
        for sample in StreamingDataset(local="shards", shuffle=shuffle, batch_size=10, shuffle_seed=3):
            sum.update(b"%d" % sample["id"] + sample["x"])
        print(shuffle, sum.hexdigest()[:16])
    return shared.size("shards")


shared.main(write, read)
