package io.penstock.benchmarks;

import io.penstock.core.ByteRange;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Blocks of 4 KiB and of 256 KiB, read in random order by 16 threads, against GETs of exactly these blocks. No MiB is
 * read twice, so none is in the cache already.
 */
final class ColdRandom implements Scenario<ReadRig> {
    private static final List<Integer> LENGTHS = List.of(4 << 10, 256 << 10);
    private static final int MIB = 1 << 20;

    @Override
    public List<ReportRow> rows() {
        return LENGTHS.stream()
                .map(length -> new ReportRow(name(length), new ReportRow.Ceiling(rawName(length))))
                .toList();
    }

    private static String name(int length) {
        return "cold random " + (length >> 10) + " KiB, " + ReadRig.THREADS + " threads";
    }

    private static String rawName(int length) {
        return "raw GETs of " + (length >> 10) + " KiB × " + ReadRig.THREADS + ", random";
    }

    /** A block of a shard. */
    record Block(String shard, long offset) {}

    /** One block per MiB, anywhere in it, in random order; always the same. */
    static List<Block> blocks(DataSet data, int length) {
        Random random = new Random(length);
        List<Block> blocks = new ArrayList<>();
        for (String shard : data.shards()) {
            for (long mib = 0; mib < data.shardSize(); mib += MIB) {
                blocks.add(new Block(shard, mib + random.nextInt(MIB / length) * (long) length));
            }
        }
        Collections.shuffle(blocks, random);
        return blocks;
    }

    @Override
    public void round(ReadRig rig) throws Exception {
        for (int length : LENGTHS) {
            List<Block> blocks = blocks(rig.data(), length);
            rig.raw(rawName(length), requests(rig, blocks, length), ReadRig.THREADS);
            MountProcess mount = rig.mount();
            rig.served(name(length), mount, () -> read(mount.path(), blocks, length));
            rig.unmount(mount);
        }
    }

    private static List<RawGets.Request> requests(ReadRig rig, List<Block> blocks, int length) {
        return blocks.stream()
                .map(block -> new RawGets.Request(rig.version(block.shard()), new ByteRange(block.offset(), length)))
                .toList();
    }

    private static Measurement read(Path folder, List<Block> blocks, int length) throws Exception {
        List<FileReads.Block> places = blocks.stream()
                .map(block -> new FileReads.Block(folder.resolve(block.shard()), block.offset()))
                .toList();
        return FileReads.blocks(places, length, ReadRig.THREADS);
    }
}
