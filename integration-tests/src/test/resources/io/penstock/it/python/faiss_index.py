"""faiss: an inverted index, loaded whole, and by its map with a search."""

import faiss
import shared


def write():
    faiss.omp_set_num_threads(1)
    vectors = shared.numbers(1, 40_000 * 128).reshape(-1, 128)
    index = faiss.index_factory(128, "IVF64,Flat")
    index.train(vectors[:4000])
    index.add(vectors)
    faiss.write_index(index, "t.index")


def read():
    faiss.omp_set_num_threads(1)
    queries = shared.numbers(2, 20 * 128).reshape(-1, 128)
    for flags in 0, faiss.IO_FLAG_MMAP:
        distances, found = faiss.read_index("t.index", flags).search(queries, 5)
        shared.show("distances", distances)
        shared.show("found", found)
    return shared.size("t.index")


shared.main(write, read)
