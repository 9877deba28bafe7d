package io.penstock.demo;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.embeddeds3.FreePorts;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.serve.control.ShareStatus;
import io.penstock.serve.mount.BucketMount;
import io.penstock.serve.mount.MountPlan;
import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.StartTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Mounts one bucket several times, each mount like a node with its own loopback address, and has all read the same
 * file. A signal interrupts the thread that runs it, which ends everything. For a single use by one thread.
 */
public final class DemoShare {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PAUSE_MILLIS = 200;
    private final Path folder;
    private final int count;
    private final DemoShell shell;
    private final List<BucketMount> nodes = new ArrayList<>();

    private DemoShare(Path folder, int count) {
        this.folder = folder;
        this.count = count;
        this.shell = new DemoShell(folder, System.out);
    }

    /**
     * @param folder an empty folder, which the caller removes
     * @param count the number of nodes
     * @return whether all bytes read were those stored
     */
    public static boolean show(Path folder, int count)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        return new DemoShare(folder, count).run();
    }

    private boolean run()
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        shell.title("A bucket, and " + count + " nodes that share their caches");
        try (EmbeddedS3 server =
                new EmbeddedS3(Files.createDirectory(folder.resolve("s3")), DemoMount.KEY, DemoMount.SECRET)) {
            server.createBucket(DemoData.BUCKET);
            server.put(
                    DemoData.BUCKET,
                    DemoData.MODEL,
                    DemoData.stream(DemoData.MODEL, DemoData.MODEL_SIZE),
                    DemoData.MODEL_SIZE);
            shell.say("An S3 server listens on " + server.endpoint() + ", with a model of "
                    + (DemoData.MODEL_SIZE >> 20)
                    + " MiB. All nodes are on this machine, so they share without encryption.");
            try {
                mount(server);
                awaitGroup();
                return read(DemoData.digest(DemoData.stream(DemoData.MODEL, DemoData.MODEL_SIZE)));
            } finally {
                nodes.reversed().forEach(BucketMount::close);
            }
        }
    }

    private void mount(EmbeddedS3 server)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        List<String> addresses = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            String host = "127.0.0." + number;
            addresses.add(host + ":" + FreePorts.first(2, host));
        }
        for (int number = 1; number <= count; number++) {
            Path mountPoint = Files.createDirectory(folder.resolve("node" + number));
            Configuration configuration = DemoMount.configuration(
                    DemoData.BUCKET,
                    server.endpoint(),
                    folder.resolve("cache" + number),
                    Map.of(
                            ShareSettings.PEERS,
                            String.join(",", addresses),
                            ShareSettings.LISTEN,
                            addresses.get(number - 1),
                            ShareSettings.INSECURE,
                            "true",
                            Settings.MEMORY,
                            "128MiB",
                            Settings.READ_ONLY,
                            "true"));
            MountPlan plan = MountPlan.of(
                    Target.parse(DemoData.BUCKET),
                    mountPoint,
                    configuration,
                    new Credentials.Static(DemoMount.KEY, DemoMount.SECRET));
            shell.command("penstock mount " + DemoData.BUCKET + " " + mountPoint + " --share-listen "
                    + addresses.get(number - 1) + " --share-peers " + String.join(",", addresses)
                    + " --share-insecure");
            nodes.add(BucketMount.open(plan, new StartTimes(), null, null, null));
        }
    }

    private void awaitGroup() throws RefusedException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!nodes.stream().allMatch(node -> status(node).members().size() == count)) {
            if (System.nanoTime() - deadline > 0) {
                throw new RefusedException("the nodes did not find each other within " + PATIENCE.toSeconds() + " s: "
                        + nodes.stream()
                                .map(node -> String.valueOf(status(node).error()))
                                .collect(Collectors.joining("; ")));
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        shell.say("They have found each other:");
        for (ShareStatus.Member member : status(nodes.getFirst()).members()) {
            shell.say(String.format(
                    Locale.ROOT, "%-18s owns %2.0f %% of the data", member.address(), 100 * member.share()));
        }
    }

    private static ShareStatus status(BucketMount node) {
        ShareStatus status = node.shareStatus();
        if (status == null) {
            throw new IllegalStateException("the mount does not share its cache although it is configured to");
        }
        return status;
    }

    private boolean read(String digest) throws IOException, InterruptedException {
        shell.title("All nodes read the same file at the same time");
        String numbers =
                IntStream.rangeClosed(1, count).mapToObj(Integer::toString).collect(Collectors.joining(" "));
        String read = shell.run("for i in " + numbers + "; do sha256sum node$i/" + DemoData.MODEL + " & done; wait")
                .text();
        read.lines().sorted().forEach(shell::say);
        boolean good = read.lines().filter(line -> line.startsWith(digest)).count() == count;
        shell.title("Where the bytes came from");
        long fetched = 0;
        long gets = 0;
        for (int number = 1; number <= count; number++) {
            BucketMount node = nodes.get(number - 1);
            fetched += node.readaheadStatistics().bytesFetched();
            gets += node.readaheadStatistics().allGets();
            shell.say(String.format(
                    Locale.ROOT,
                    "node%d: %d MiB from the store in %d GETs, %d MiB from other nodes",
                    number,
                    node.readaheadStatistics().bytesFetched() >> 20,
                    node.readaheadStatistics().allGets(),
                    status(node).bytesFromPeers() >> 20));
        }
        double copies = (double) fetched / DemoData.MODEL_SIZE;
        shell.say(String.format(
                Locale.ROOT,
                "The store sent %.2f copies in %d GETs; without sharing it would have sent %d.",
                copies,
                gets,
                count));
        shell.title(good ? "All bytes read match the bucket." : "Some bytes read do NOT match the bucket.");
        return good;
    }
}
