"""webdataset: 4 tar files of samples, read in order."""

import hashlib

import shared
import webdataset


def write():
    with webdataset.ShardWriter("shard-%02d.tar", maxcount=1000, mtime=0, verbose=0) as shards:
        for i in range(4000):
            shards.write({"__key__": f"{i:06}", "bin": shared.numbers(i, 1500 + i % 700).tobytes(), "cls": str(i % 10)})


def read():
    sum = hashlib.sha256()
    count = 0
    for sample in webdataset.WebDataset("shard-{00..03}.tar", shardshuffle=False):
        sum.update(sample["__key__"].encode() + sample["bin"] + sample["cls"])
        count += 1
    print(count, sum.hexdigest()[:16])
    return shared.size(".")


shared.main(write, read)
