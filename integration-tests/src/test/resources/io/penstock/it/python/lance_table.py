"""lance: a table of three versions, an index, a scan of one column and 200 rows taken at random."""

import lance
import pyarrow
import shared

ROWS = 20_000


def write():
    def table(first, count):
        vectors = pyarrow.FixedSizeListArray.from_arrays(shared.numbers(first, count * 256), 256)
        return pyarrow.table({"id": range(first, first + count), "vector": vectors})

    data = lance.write_dataset(table(0, ROWS), "t.lance", max_rows_per_file=ROWS // 2)
    lance.write_dataset(table(ROWS, 1000), "t.lance", mode="append")
    data = lance.dataset("t.lance")
    data.delete("id % 100 = 7")
    data.create_scalar_index("id", "BTREE")


def read():
    data = lance.dataset("t.lance")
    print(len(data.versions()), data.count_rows())
    ids = data.to_table(columns=["id"])
    shared.show("ids", ids["id"].to_numpy())
    rows = data.take(shared.picked(1, ROWS, 200))
    shared.show("taken", rows["vector"].combine_chunks().flatten().to_numpy())
    found = data.to_table(filter="id = 12345")
    shared.show("found", found["vector"].combine_chunks().flatten().to_numpy())
    return ids.nbytes + rows.nbytes + found.nbytes


shared.main(write, read)
