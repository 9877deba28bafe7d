"""duckdb: a database file with transactions and a checkpoint, and Parquet files that it writes and reads."""

import duckdb
import shared


def write():
    with duckdb.connect("t.duckdb") as db:
        db.execute("create table t as select i, hash(i) as h, repeat('x', i::int % 40) as s from range(600000) r(i)")
        db.execute("create index by_h on t(h)")
        db.execute("checkpoint")
        db.execute("begin; update t set s = 'changed' where i % 1000 = 3; commit")
        db.execute("begin; delete from t; rollback")
        db.execute("copy (select * from t order by i) to 't.parquet' (row_group_size 100000)")


def read():
    with duckdb.connect("t.duckdb", read_only=True) as db:
        print(db.execute("select count(*), sum(i), sum(h % 1000), sum(length(s)) from t").fetchall())
        print(db.execute("select * from t where i = 77003").fetchall())
        print(db.execute("select count(*), sum(i), sum(h % 1000), sum(length(s)) from 't.parquet'").fetchall())
    return shared.size("t.duckdb") + shared.size("t.parquet")


shared.main(write, read)
