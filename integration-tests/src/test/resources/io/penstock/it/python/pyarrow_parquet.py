"""pyarrow: a Parquet file and a partitioned data set; all of them, two of 20 columns, and a filter."""

import os
import sys

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import shared


def table(rows, columns):
    data = {f"c{i:02}": shared.numbers(i, rows) for i in range(columns)}
    return pyarrow.table({"part": [i * 4 // rows for i in range(rows)], **data})


def write():
    pyarrow.parquet.write_table(table(400_000, 20), "t.parquet", row_group_size=50_000)
    # Without preserve_order its threads decide on the order of the rows, and rows with the same c00 sort by that.
    pyarrow.dataset.write_dataset(
        table(200_000, 6),
        "set",
        format="parquet",
        partitioning=["part"],
        max_rows_per_group=50_000,
        preserve_order=True,
    )


def read():
    some = pyarrow.parquet.read_table("t.parquet", columns=["c03", "c17"])
    shared.show("c03", some["c03"].to_numpy())
    shared.show("c17", some["c17"].to_numpy())
    data = pyarrow.dataset.dataset("set", partitioning=["part"])
    shared.show("part", data.to_table(filter=pyarrow.dataset.field("part") == 2).sort_by("c00")["c05"].to_numpy())
    shared.show("all", data.to_table().sort_by("c00")["c05"].to_numpy())
    return some.nbytes + shared.size("set")


shared.main(write, read)

# At the interpreter's end, pyarrow 26 aborts now and then, on a local disk too: a thread of its own still runs.
sys.stdout.flush()
os._exit(0)
