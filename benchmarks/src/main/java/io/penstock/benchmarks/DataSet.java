package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The data that the benchmarks read, as objects under a prefix and as files under a folder: {@value #SHARDS} shards,
 * another shard for the warm-up, and a folder of small files.
 *
 * @param shardSize bytes per shard; a multiple of {@link #SHARD_GRAIN}
 * @param smallFiles the number of small files
 */
record DataSet(long shardSize, int smallFiles) {
    static final int SHARDS = 4;

    /** Bytes per small file. */
    static final int SMALL_SIZE = 100 << 10;

    /** Allows a shard to be read in eight streams of whole MiBs, and by four threads in whole MiBs each. */
    static final long SHARD_GRAIN = 32L << 20;

    DataSet {
        if (shardSize < SHARD_GRAIN || shardSize % SHARD_GRAIN != 0 || smallFiles < 1) {
            throw new IllegalArgumentException(
                    "shards must be of a multiple of " + (SHARD_GRAIN >> 20) + " MiB, and there must be a small file");
        }
    }

    String shard(int index) {
        return String.format(Locale.ROOT, "shard-%02d", index);
    }

    /** A shard that no row reads: its first read compiles the code of a new process. */
    String warmUpShard() {
        return shard(SHARDS);
    }

    List<String> shards() {
        return IntStream.range(0, SHARDS).mapToObj(this::shard).toList();
    }

    List<String> small() {
        return IntStream.range(0, smallFiles)
                .mapToObj(index -> String.format(Locale.ROOT, "small/%05d", index))
                .toList();
    }

    /** All names, with sizes in bytes. */
    Map<String, Long> sizes() {
        Map<String, Long> sizes = new LinkedHashMap<>();
        shards().forEach(name -> sizes.put(name, shardSize));
        sizes.put(warmUpShard(), shardSize);
        small().forEach(name -> sizes.put(name, (long) SMALL_SIZE));
        return sizes;
    }

    long totalBytes() {
        return (SHARDS + 1) * shardSize + (long) smallFiles * SMALL_SIZE;
    }

    /** Jobs that read this many whole shards, one thread per shard. */
    List<Fio.Job> wholeShards(Path folder, int count) {
        return IntStream.range(0, count)
                .mapToObj(index -> new Fio.Job(folder.resolve(shard(index)), 0, shardSize))
                .toList();
    }

    /** Jobs that divide all shards among them in equal parts. */
    List<Fio.Job> parts(Path folder, int jobs) {
        int perShard = jobs / SHARDS;
        long part = shardSize / perShard;
        List<Fio.Job> parts = new ArrayList<>();
        for (int job = 0; job < jobs; job++) {
            parts.add(new Fio.Job(folder.resolve(shard(job / perShard)), job % perShard * part, part));
        }
        return parts;
    }
}
