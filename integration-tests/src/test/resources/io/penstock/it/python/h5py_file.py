"""h5py: chunked and contiguous data sets, written in several opens and grown; all of one, rows of the other."""

import h5py
import shared


def write():
    with h5py.File("t.h5", "w") as file:
        file.create_dataset("plain", data=shared.numbers(1, 6 * shared.MIB).reshape(-1, 1024))
        file.create_dataset("grown", (0, 1024), "f4", maxshape=(None, 1024), chunks=(64, 1024), compression="gzip")
    for i in range(4):
        with h5py.File("t.h5", "a") as file:
            grown = file["grown"]
            grown.resize((i + 1) * 256, axis=0)
            grown[i * 256 :] = shared.numbers(i, 256 * 1024).reshape(256, 1024)
            file["plain"][i * 100] = i


def read():
    with h5py.File("t.h5", "r") as file:
        shared.show("grown", file["grown"][:])
        for i in shared.picked(1, 6144, 200):
            shared.show(str(i), file["plain"][i])
        return file["grown"].id.get_storage_size() + 200 * 4096


shared.main(write, read)
