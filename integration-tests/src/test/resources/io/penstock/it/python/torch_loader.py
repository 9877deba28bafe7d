"""torch: a DataLoader with two workers over 2,000 files in folders of their classes, shuffled, twice."""

import os

import shared
import torch
from torch.utils.data import DataLoader, Dataset


def write():
    for i in range(2000):
        os.makedirs(f"class-{i % 10}", exist_ok=True)
        with open(f"class-{i % 10}/{i:05}.bin", "wb") as file:
            file.write(shared.numbers(i, 4096).tobytes())


def read():
    class Folders(Dataset):
        def __init__(self):
            self.files = sorted(os.path.join(at, file) for at, _, files in os.walk(".") for file in files)

        def __len__(self):
            return len(self.files)

        def __getitem__(self, i):
            with open(self.files[i], "rb") as file:
                return torch.frombuffer(bytearray(file.read()), dtype=torch.float32)

    torch.manual_seed(1)
    for epoch in range(2):
        batches = [batch for batch in DataLoader(Folders(), batch_size=50, shuffle=True, num_workers=2)]
        shared.show(f"epoch {epoch}", torch.cat(batches).numpy())
    return shared.size(".")


shared.main(write, read)
