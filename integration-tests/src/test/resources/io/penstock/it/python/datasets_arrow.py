"""datasets: generated, kept in a cache of its own, saved and loaded; shuffled, mapped and filtered."""

import os
import sys

import shared

IS_WRITING = sys.argv[1] == "write"
os.environ["HF_HOME"] = os.path.join(sys.argv[2], "hf") if IS_WRITING else "/nonexistent"  # read when it is imported
os.environ["HF_DATASETS_OFFLINE"] = "0" if IS_WRITING else "1"

from datasets import Dataset, disable_progress_bars, load_from_disk  # noqa: E402

ROWS = 40_000


def rows():
    for i in range(ROWS):
        yield {"id": i, "text": f"row {i} " * (i % 60), "label": i % 7}


def write():
    disable_progress_bars()
    data = Dataset.from_generator(rows, cache_dir="cache")
    data = data.map(lambda row: {"length": len(row["text"])}, num_proc=2)
    data.train_test_split(test_size=0.25, seed=1).save_to_disk("saved", num_shards={"train": 3, "test": 1})


def read():
    data = load_from_disk("saved")
    for part in "train", "test":
        text = "".join(f"{row['id']} {row['text']} {row['length']}" for row in data[part])
        shared.show(part, text.encode())
    some = data["train"].shuffle(seed=3).select(range(2000))
    shared.show("shuffled", repr(some["id"][:]).encode())
    return shared.size("saved")


shared.main(write, read)
