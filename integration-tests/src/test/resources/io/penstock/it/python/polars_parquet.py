"""polars: Parquet, Arrow and CSV, written and scanned, with a filter that skips row groups."""

import polars
import shared


def write():
    data = polars.DataFrame({"id": range(600_000)}).with_columns(
        [polars.Series(f"c{i}", shared.numbers(i, 600_000)) for i in range(12)]
    )
    data.write_parquet("t.parquet", row_group_size=60_000, compression="zstd")
    data.head(100_000).write_ipc("t.arrow")
    data.head(20_000).write_csv("t.csv")
    data.lazy().filter(polars.col("id") < 100_000).sink_parquet("sunk.parquet")


def read():
    some = polars.scan_parquet("t.parquet").filter(polars.col("id") >= 560_000).select("id", "c5").collect()
    shared.show("filtered", some["c5"].to_numpy())
    for name, scan in ("t.arrow", polars.scan_ipc), ("sunk.parquet", polars.scan_parquet), ("t.csv", polars.scan_csv):
        shared.show(name, scan(name).sort("id").collect()["c11"].to_numpy())
    return some.estimated_size() + shared.size("t.arrow") + shared.size("sunk.parquet") + shared.size("t.csv")


shared.main(write, read)
