package io.penstock.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.serve.mount.BucketMount;
import io.penstock.writeback.WritebackStatistics;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.SequenceInputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Writes a checkpoint and a folder of small files through the demo's mount. For a single use by one thread. */
final class DemoWrites {
    private static final String CHECKPOINT = "checkpoints/step-01000.pt";
    private static final int CHECKPOINT_MIB = 200;
    private static final String NOTE = "step 1000 is complete\n";
    private static final String RESULTS = "results";
    private static final String KEPT = "kept";

    private final DemoShell shell;
    private final DemoData data;
    private final BucketMount bucket;

    /** The SHA-256 in hexadecimal of every written file, by key. */
    private final Map<String, String> digests = new HashMap<>();

    DemoWrites(DemoShell shell, DemoData data, BucketMount bucket) {
        this.shell = shell;
        this.data = data;
        this.bucket = bucket;
    }

    /**
     * The files written.
     *
     * @param digests the SHA-256 in hexadecimal of the content that each file must have now, by key
     * @param tree the kinds, modes, times and targets in a folder, one line each
     * @param copy those in its copy
     */
    record Written(Map<String, String> digests, String tree, String copy) {}

    Written run() throws IOException, InterruptedException {
        writeCheckpoint();
        readBack();
        append();
        writeSmallFiles();
        keepAttributes();
        String tree = attributes(RESULTS);
        shell.say(String.format(
                Locale.ROOT,
                "%d kinds, modes, times and targets compared with those of the copy",
                tree.lines().count()));
        return new Written(digests, tree, attributes(KEPT));
    }

    /** Without the times of folders, which change with each name created or removed there. */
    private String attributes(String folder) throws IOException, InterruptedException {
        String shown = "-type d -printf '%P %y %m\\n' -o -printf '%P %y %m %s %T@ %l\\n'";
        return shell.quietly("find " + folder + " -mindepth 1 " + shown + " | LC_ALL=C sort")
                .text();
    }

    private void writeCheckpoint() throws IOException, InterruptedException {
        shell.title("A checkpoint is uploaded while it is written; close returns once it is in the bucket");
        shell.run("mkdir checkpoints");
        WritebackStatistics before = bucket.writebackStatistics();
        DemoShell.Result result = shell.run("dd if=" + DemoData.SHARD + " of=" + CHECKPOINT + " bs=1M count="
                + CHECKPOINT_MIB + " conv=fsync status=none");
        shell.say(String.format(
                Locale.ROOT,
                "%.0f MiB/s (%d ms), %d MiB sent",
                CHECKPOINT_MIB * 1e9 / result.time().toNanos(),
                result.time().toMillis(),
                (bucket.writebackStatistics().uploadedBytes() - before.uploadedBytes()) >> 20));
    }

    private void readBack() throws IOException, InterruptedException {
        long gets = bucket.readaheadStatistics().allGets();
        DemoShell.Result result = shell.run("dd if=" + CHECKPOINT + " of=/dev/null bs=1M status=none");
        shell.say(String.format(
                Locale.ROOT,
                "read back: %.0f MiB/s (%d ms), %d GET requests to S3",
                CHECKPOINT_MIB * 1e9 / result.time().toNanos(),
                result.time().toMillis(),
                bucket.readaheadStatistics().allGets() - gets));
    }

    private void append() throws IOException, InterruptedException {
        shell.title("Changed parts are uploaded, the rest is copied within the store");
        WritebackStatistics before = bucket.writebackStatistics();
        DemoShell.Result result = shell.run("echo '" + NOTE.strip() + "' >> " + CHECKPOINT);
        WritebackStatistics after = bucket.writebackStatistics();
        shell.say(String.format(
                Locale.ROOT,
                "%d ms, %.1f MiB sent, %d MiB copied within the store",
                result.time().toMillis(),
                (after.uploadedBytes() - before.uploadedBytes()) / (double) (1 << 20),
                (after.copiedBytes() - before.copiedBytes()) >> 20));
        digests.put(
                CHECKPOINT,
                DemoData.digest(new SequenceInputStream(
                        DemoData.stream(DemoData.SHARD, (long) CHECKPOINT_MIB << 20),
                        new ByteArrayInputStream(NOTE.getBytes(UTF_8)))));
    }

    private void writeSmallFiles() throws IOException, InterruptedException {
        shell.title("A folder of small files");
        DemoShell.Result result =
                shell.run("mkdir " + RESULTS + " && cp -r samples/class-00 samples/class-01 " + RESULTS);
        Map<String, String> copied = new HashMap<>();
        data.digests().forEach((key, digest) -> {
            if (key.startsWith("samples/class-00/") || key.startsWith("samples/class-01/")) {
                copied.put(key.replace("samples/", RESULTS + "/"), digest);
            }
        });
        digests.putAll(copied);
        shell.say(String.format(
                Locale.ROOT,
                "%d files in %d ms: one PUT each, one after another, as cp writes them",
                copied.size(),
                result.time().toMillis()));
    }

    private void keepAttributes() throws IOException, InterruptedException {
        shell.title("Modes, times and links are kept with the objects, and a folder is renamed");
        shell.quietly("chmod 640 " + RESULTS + "/class-00/*0.json; touch -d 2020-02-02 " + RESULTS + "/class-01/*;"
                + " ln -s class-01 " + RESULTS + "/latest");
        shell.run("cp -a " + RESULTS + " copied && mv copied " + KEPT);
        shell.run("ls -l " + KEPT + " && ls -l " + KEPT + "/class-00 | head -4")
                .text()
                .lines()
                .forEach(shell::say);
        Map<String, String> copied = new HashMap<>();
        digests.forEach((key, digest) -> {
            if (key.startsWith(RESULTS + "/")) {
                copied.put(KEPT + key.substring(RESULTS.length()), digest);
            }
        });
        digests.putAll(copied);
    }
}
