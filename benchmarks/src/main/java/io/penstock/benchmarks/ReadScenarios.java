package io.penstock.benchmarks;

import io.penstock.benchmarks.ReportRow.Ceiling;
import io.penstock.tools.measure.Measurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Rows of {@code bin/bench read} about files that are read for the first time; {@link WarmReads} has the others. */
final class ReadScenarios {
    /** 16 and 64 are the default GETs in flight of a mount with up to 8 processors, for one stream and for four. */
    private static final List<Integer> CONCURRENCIES = List.of(8, 16, 32, 64);

    /** Bytes per read of loaders that queue reads. */
    private static final int QUEUED = 16 << 20;

    private static final int STREAMS = 8;
    private static final int MIB = 1 << 20;
    private static final List<Integer> BLOCKS = List.of(4 << 10, 256 << 10);

    private ReadScenarios() {}

    static String files(int count) {
        return count == 1 ? "1 file" : count + " files";
    }

    static String rawName(int files, int concurrency) {
        return "raw GETs of 8 MiB × " + concurrency + ", " + files(files);
    }

    private static Ceiling bestRaw(int files) {
        return new Ceiling(CONCURRENCIES.stream()
                .map(concurrency -> rawName(files, concurrency))
                .toList());
    }

    private static void rawGets(ReadRig rig, int files, List<Integer> concurrencies) throws Exception {
        for (int concurrency : concurrencies) {
            rig.raw(
                    rawName(files, concurrency),
                    rig.wholes(rig.data().shards().subList(0, files), ReadRig.RANGE),
                    concurrency);
        }
    }

    /**
     * One file, and four at the same time, read sequentially, against the minimum GETs for that.
     *
     * @param withCurl whether to measure curl too, with another TLS library; needs a server whose keys it can have
     */
    static Scenario<ReadRig> sequential(boolean withCurl) {
        List<Integer> counts = List.of(1, DataSet.SHARDS);
        List<ReportRow> rows = counts.stream()
                .map(files -> new ReportRow(
                        "cold sequential, " + files(files),
                        Stream.of(
                                        new Ceiling(rawName(files, files == 1 ? 16 : 64)),
                                        bestRaw(files),
                                        new Ceiling(curlName(files)))
                                .limit(withCurl ? 3 : 2)
                                .toList()))
                .toList();
        return new Scenario<>(rows, rig -> {
            for (int files : counts) {
                // Half of the ceilings run before, half after: a change of the machine's speed then affects both.
                rawGets(rig, files, CONCURRENCIES.subList(0, 2));
                readShards(rig, "cold sequential, " + files(files), Fio.Shape.sequential(ReadRig.CALL), files);
                if (withCurl) {
                    rig.curl(curlName(files), rig.wholes(rig.data().shards().subList(0, files), ReadRig.RANGE), 16);
                }
                rawGets(rig, files, CONCURRENCIES.subList(2, 4));
            }
        });
    }

    private static String curlName(int files) {
        return "GETs of 8 MiB by curl × 16, " + files(files);
    }

    private static void readShards(ReadRig rig, String name, Fio.Shape shape, int files) throws Exception {
        MountProcess mount = rig.mount();
        rig.served(name, mount, () -> rig.fio().run(shape, rig.data().wholeShards(mount.path(), files)));
        rig.unmount(mount);
    }

    /**
     * A file of weights loaded as programs do: mapped and touched in order, like safetensors and GGUF, and with O_DIRECT
     * reads in a deep queue; against the minimum GETs for that.
     */
    static Scenario<ReadRig> models() {
        String mapped = "cold, mapped and touched in order, 1 file";
        String queued = "cold, O_DIRECT, 16 reads of 16 MiB at once, 1 file";
        List<ReportRow> rows = Stream.of(mapped, queued)
                .map(name -> ReportRow.of(name, new Ceiling(rawName(1, 16)), bestRaw(1)))
                .toList();
        return new Scenario<>(rows, rig -> {
            rawGets(rig, 1, List.of(16));
            readShards(rig, mapped, Fio.Shape.sequential(ReadRig.CALL).by(Fio.Calls.MAPPED), 1);
            readShards(rig, queued, Fio.Shape.sequential(QUEUED).by(Fio.Calls.QUEUED), 1);
            rawGets(rig, 1, List.of(64));
        });
    }

    /**
     * Eight sequential streams that take turns on one descriptor, as tensor and column loaders read, against one stream
     * with the same thread and the same calls.
     */
    static Scenario<ReadRig> streams() {
        String one = "cold, one stream, reads of 128 KiB";
        String eight = "cold, 8 streams on one descriptor, 1 MiB in turn";
        List<ReportRow> rows = List.of(ReportRow.of(one, rawName(1, 16)), ReportRow.of(eight, one, rawName(1, 16)));
        return new Scenario<>(rows, rig -> {
            MountProcess mount = rig.mount();
            rig.served(one, mount, () -> interleaved(rig, mount, 0, 1));
            rig.served(eight, mount, () -> interleaved(rig, mount, 1, STREAMS));
            rig.unmount(mount);
        });
    }

    private static Measurement interleaved(ReadRig rig, MountProcess mount, int shard, int streams) throws Exception {
        Path file = mount.path().resolve(rig.data().shard(shard));
        return FileReads.interleaved(file, rig.data().shardSize(), streams, MIB, ReadRig.FUSE_REQUEST);
    }

    /**
     * Blocks of 4 KiB and of 256 KiB, read in random order by 16 threads, against GETs of exactly these blocks. No MiB
     * is read twice, so none is in the cache already.
     */
    static Scenario<ReadRig> random() {
        List<ReportRow> rows = BLOCKS.stream()
                .map(length -> ReportRow.of(randomName(length), rawRandomName(length)))
                .toList();
        return new Scenario<>(rows, rig -> {
            for (int length : BLOCKS) {
                List<Block> blocks = blocks(rig.data(), length);
                rig.raw(
                        rawRandomName(length),
                        blocks.stream()
                                .map(block -> rig.block(block.shard(), block.offset(), length))
                                .toList(),
                        ReadRig.THREADS);
                MountProcess mount = rig.mount();
                rig.served(
                        randomName(length),
                        mount,
                        () -> FileReads.blocks(
                                blocks.stream()
                                        .map(block -> new FileReads.Block(
                                                mount.path().resolve(block.shard()), block.offset()))
                                        .toList(),
                                length,
                                ReadRig.THREADS));
                rig.unmount(mount);
            }
        });
    }

    private static String randomName(int length) {
        return "cold random " + (length >> 10) + " KiB, " + ReadRig.THREADS + " threads";
    }

    private static String rawRandomName(int length) {
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

    /** Many small files, opened, read and closed in random order by 16 threads: an epoch of training. */
    static Scenario<ReadRig> small() {
        String cold = "small files of 100 KiB, cold";
        String nvme = "small files of 100 KiB, from NVMe";
        String pageCache = "small files of 100 KiB, from the page cache";
        String raw = "raw GETs of 100 KiB objects × " + ReadRig.THREADS;
        String bareDisk = "bare disk, small files";
        String barePageCache = "bare page cache, small files";
        List<ReportRow> rows =
                List.of(ReportRow.of(cold, raw), ReportRow.of(nvme, bareDisk), ReportRow.of(pageCache, barePageCache));
        Random random = new Random(1); // a different order in each round, the same in every run
        return new Scenario<>(rows, rig -> {
            List<String> names = new ArrayList<>(rig.data().small());
            Collections.shuffle(names, random);
            Path bare = rig.bareFiles();
            rig.raw(raw, rig.wholes(names, DataSet.SMALL_SIZE), ReadRig.THREADS);
            MountProcess mount = rig.mount();
            rig.served(cold, mount, () -> wholes(mount.path(), names));
            Measurement _ = rig.readWarmUpShard(mount);
            KernelCaches.drop();
            rig.served(nvme, mount, () -> wholes(mount.path(), names));
            rig.served(pageCache, mount, () -> wholes(mount.path(), names));
            KernelCaches.drop();
            rig.bare(bareDisk, () -> wholes(bare, names));
            rig.bare(barePageCache, () -> wholes(bare, names));
            rig.unmount(mount);
        });
    }

    private static Measurement wholes(Path folder, List<String> names) throws Exception {
        List<Path> files = names.stream().map(folder::resolve).toList();
        return FileReads.whole(files, DataSet.SMALL_SIZE, ReadRig.THREADS);
    }
}
