package io.penstock.benchmarks;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the read benchmarks: how much data to use, and where in the bucket. */
final class DataOptions {
    @Option(
            names = "--prefix",
            paramLabel = "<prefix>",
            description = "The folder of the objects in the bucket; missing ones are uploaded and stay there."
                    + " Default: penstock-bench, with --quick penstock-bench-quick.")
    private @Nullable String prefix;

    @Option(
            names = "--shard-mib",
            paramLabel = "<n>",
            description = "MiB of each of five shards. Default: 1024, with --quick 128.")
    private @Nullable Integer shardMib;

    @Option(
            names = "--small-files",
            paramLabel = "<n>",
            description = "Files of 100 KiB. Default: 10000, with --quick 1000.")
    private @Nullable Integer smallFiles;

    DataSet dataSet(boolean quick) throws BenchException {
        long mib = shardMib != null ? shardMib : quick ? 128 : 1024;
        int files = smallFiles != null ? smallFiles : quick ? 1000 : 10_000;
        try {
            return new DataSet(mib << 20, files);
        } catch (IllegalArgumentException e) {
            throw new BenchException("--shard-mib " + mib + ", --small-files " + files + ": " + e.getMessage());
        }
    }

    BenchFolder folder(BenchRun run, S3Target server, String bucket, boolean quick) throws Exception {
        return new BenchFolder(
                run, server, bucket, prefix != null ? prefix : quick ? "penstock-bench-quick" : "penstock-bench");
    }
}
