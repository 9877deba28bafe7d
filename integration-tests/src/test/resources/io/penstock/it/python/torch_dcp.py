"""torch: a distributed checkpoint of one rank, saved twice in one folder, and loaded."""

import os

import shared
import torch
import torch.distributed
import torch.distributed.checkpoint as dcp


def state(fill):
    return {
        "model": {f"w{i}": torch.from_numpy(shared.numbers(i, 256 * 1024)) if fill else torch.zeros(256 * 1024) for i in range(32)},
        "step": 7 if fill else 0,
    }


def started():
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)


def write():
    started()
    for _ in range(2):
        dcp.save(state(True), checkpoint_id="checkpoint")


def read():
    started()
    into = state(False)
    dcp.load(into, checkpoint_id="checkpoint")
    print(into["step"])
    for name, tensor in into["model"].items():
        shared.show(name, tensor.numpy())
    return shared.size("checkpoint")


shared.main(write, read)
