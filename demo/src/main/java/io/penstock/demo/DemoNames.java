package io.penstock.demo;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.embeddeds3.SyntheticS3;
import io.penstock.fuse.MountException;
import io.penstock.metadata.PreloadState;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.mount.BucketMount;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.process.RefusedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Shows a bucket with very many objects through its mount: first its listing, then the speed of its names. For a single
 * use by one thread.
 */
public final class DemoNames {
    private static final String BUCKET = "images";
    private static final int PER_FOLDER = 10_000;

    /** Upper bound of the memory for each object's name and attributes, in bytes. */
    private static final long MEMORY_OF_ONE = 64;

    /** Memory for names that every machine has, in bytes. */
    private static final long LEAST_MEMORY = 256L << 20;

    private static final int DEEP_FILES = 5;

    /** With fewer objects, the memory in MiB is too coarse for bytes per object. */
    private static final long MANY = 100_000;

    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(10);
    private static final int MOST_LOOKS = 500;

    private final DemoShell shell;
    private final SyntheticObjects objects;
    private final SyntheticS3 server;
    private final BucketMount bucket;
    private final DemoListing listing;
    private final Random random = new Random();
    private boolean good = true;

    private DemoNames(
            DemoShell shell, SyntheticObjects objects, SyntheticS3 server, BucketMount bucket, DemoListing listing) {
        this.shell = shell;
        this.objects = objects;
        this.server = server;
        this.bucket = bucket;
        this.listing = listing;
    }

    /**
     * Creates a synthetic bucket with this many objects, and shows it.
     *
     * @return whether all names existed, and the bytes read were those that the server makes up
     */
    public static boolean show(DemoMount mount, long count)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        DemoShell shell = mount.shell();
        shell.title("A synthetic bucket");
        SyntheticObjects objects = new SyntheticObjects(count, PER_FOLDER);
        try (SyntheticS3 server = new SyntheticS3(Map.of(BUCKET, objects), Duration.ZERO);
                DemoListing listing = new DemoListing()) {
            shell.say("An S3 server listens on " + server.endpoint()
                    + ", in this process. It stores nothing: on request,");
            shell.say(String.format(
                    Locale.ROOT,
                    "it generates the content of its bucket \"%s\": %,d objects in %,d folders, up to %s.",
                    BUCKET,
                    count,
                    objects.folders(),
                    objects.key(count - 1)));
            return mount.show(
                    BUCKET,
                    server.endpoint(),
                    settings(count),
                    listing::abandon,
                    bucket -> new DemoNames(shell, objects, server, bucket, listing).run());
        }
    }

    /** Runs once the bucket is mounted. */
    private boolean run() throws IOException, RefusedException, InterruptedException {
        awaitListing(System.nanoTime());
        shell.title("Names no longer cost requests");
        statDeepFiles();
        listFolder();
        findAll();
        read();
        tellRequests();
        shell.title(
                good
                        ? "All names exist, and the bytes read match the server's."
                        : "Names are missing, or the bytes read do NOT match the server's.");
        return good;
    }

    /** @param begun when it began, by {@link System#nanoTime} */
    private void awaitListing(long begun) throws RefusedException, InterruptedException {
        shell.title("It can be used immediately, while all names are being listed");
        DemoListing.Listed listed;
        while ((listed = listing.await(pauseAfter(System.nanoTime() - begun))) == null) {
            if (bucket.names() instanceof PreloadState.Listing(long come, double _, Duration since)) {
                shell.say(String.format(
                        Locale.ROOT,
                        "%,d objects, %d %%, after %d s",
                        come,
                        100 * Math.min(come, objects.count()) / objects.count(),
                        since.toSeconds()));
            }
        }
        awaitKnown();
        double seconds = seconds(Math.max(1_000_000, listed.nanoTime() - begun));
        shell.say(String.format(
                Locale.ROOT,
                "%,d objects in %.1f s: %,.0f a second, with %,d requests",
                listed.objects(),
                seconds,
                listed.objects() / seconds,
                listed.requests()));
        if (listed.objects() >= MANY) {
            shell.say(String.format(
                    Locale.ROOT,
                    "%,d MiB of memory: %.0f bytes per object",
                    listed.memoryMib(),
                    (listed.memoryMib() << 20) / (double) listed.objects()));
        }
        expect("the number of objects", Long.toString(objects.count()), Long.toString(listed.objects()));
    }

    /** The log reports the listing just before the mount uses it. */
    private void awaitKnown() throws InterruptedException {
        for (int looks = 0; looks < MOST_LOOKS && !(bucket.names() instanceof PreloadState.Known); looks++) {
            Thread.sleep(BETWEEN_LOOKS);
        }
    }

    /** In the order in which they are shown. */
    private static Map<Setting<?>, String> settings(long count) {
        Map<Setting<?>, String> settings = new LinkedHashMap<>();
        settings.put(Settings.READ_ONLY, "true");
        settings.put(Settings.PRELOAD, "on");
        settings.put(Settings.METADATA_TTL, "4h"); // listing and finding the maximum number of objects takes less
        if (count * MEMORY_OF_ONE > LEAST_MEMORY) {
            settings.put(Settings.PRELOAD_MEMORY, ((count * MEMORY_OF_ONE) >> 20) + "MiB");
        }
        return settings;
    }

    /** Grows: a listing of a minute has some twenty progress lines. */
    private static Duration pauseAfter(long nanos) {
        Duration pause = Duration.ofNanos(nanos / 8);
        return pause.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : pause;
    }

    private void statDeepFiles() throws IOException, InterruptedException {
        List<Long> numbers =
                random.longs(DEEP_FILES, 0, objects.count()).boxed().toList();
        String keys = numbers.stream().map(objects::key).collect(Collectors.joining(" "));
        String answer = counted("stat -c '%n, %s bytes' " + keys);
        expect(
                "the attributes of random files",
                numbers.stream()
                        .map(number -> objects.key(number) + ", " + objects.size(number) + " bytes\n")
                        .collect(Collectors.joining()),
                answer);
    }

    private void listFolder() throws IOException, InterruptedException {
        long first = (long) random.nextInt(objects.folders()) * PER_FOLDER;
        long last = Math.min(first + PER_FOLDER, objects.count()) - 1;
        String key = objects.key(last);
        int name = key.lastIndexOf('/') + 1;
        String lines = counted("ls -l " + key.substring(0, name - 1) + " | tail -n 3");
        expect(
                "the last file of a folder",
                "size and name",
                lines.contains(" " + objects.size(last) + " ") && lines.endsWith(" " + key.substring(name) + "\n")
                        ? "size and name"
                        : lines);
    }

    private void findAll() throws IOException, InterruptedException {
        String count = counted("find . -type f | wc -l");
        expect("the number of files", Long.toString(objects.count()), count.strip());
    }

    private void read() throws IOException, InterruptedException {
        shell.title("Files are read as usual");
        long number = random.nextLong(objects.count());
        String key = objects.key(number);
        String digest = counted("sha256sum " + key);
        byte[] content = objects.content(number, 0, objects.size(number));
        expect(key, DemoData.digest(new ByteArrayInputStream(content)), digest.split(" ", 2)[0]);
    }

    private void tellRequests() {
        SyntheticS3.Requests requests = server.requests();
        shell.title("Requests");
        shell.say(String.format(
                Locale.ROOT,
                "Requests to S3: %,d for listings, %,d for single names, %,d for content",
                requests.listings(),
                requests.heads(),
                requests.gets()));
    }

    /** Runs a command, and shows its output and its cost. */
    private String counted(String command) throws IOException, InterruptedException {
        long before = server.requests().total();
        DemoShell.Result result = shell.run(command);
        String text = result.text();
        text.lines().forEach(shell::say);
        shell.say(String.format(
                Locale.ROOT,
                "%.2f s, requests to S3: %d",
                seconds(result.time().toNanos()),
                server.requests().total() - before));
        return text;
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }

    private void expect(String what, String there, String shown) {
        if (!there.equals(shown)) {
            good = false;
            shell.say("DIFFERS from the bucket:  " + what);
        }
    }
}
