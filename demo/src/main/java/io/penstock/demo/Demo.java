package io.penstock.demo;

import io.penstock.cache.CacheStatistics;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.embeddeds3.OwnCertificate;
import io.penstock.fuse.MountException;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.mount.BucketMount;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Settings;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Reads and writes the demo's bucket through its mount, and compares the bytes. For a single use by one thread. */
public final class Demo {
    /** The disk space needed, in bytes. */
    private static final long SPACE = 1800L << 20;

    /** A block of the model; the random read begins after its start. */
    private static final long RANDOM_BLOCK = 37;

    private static final int RANDOM_READ = 4096;

    private final DemoShell shell;
    private final DemoData data;
    private final BucketMount bucket;
    private final EmbeddedS3 server;
    private boolean good = true;

    private Demo(DemoShell shell, DemoData data, BucketMount bucket, EmbeddedS3 server) {
        this.shell = shell;
        this.data = data;
        this.bucket = bucket;
        this.server = server;
    }

    /**
     * Fills a bucket and shows it.
     *
     * @return whether all checks passed
     */
    public static boolean show(DemoMount mount)
            throws IOException, RefusedException, ConfigurationException, MountException, ObjectStoreException,
                    InterruptedException {
        Path folder = mount.folder();
        if (folder.toFile().getUsableSpace() < SPACE) {
            throw new RefusedException("the demo needs " + (SPACE >> 20) + " MiB in " + folder.getParent()
                    + ", but less is free; set TMPDIR to another folder");
        }
        DemoShell shell = mount.shell();
        shell.title("A bucket");
        Path store = Files.createDirectory(folder.resolve("s3"));
        OwnCertificate certificate = OwnCertificate.make(folder);
        try (EmbeddedS3 server = new EmbeddedS3(store, DemoMount.KEY, DemoMount.SECRET, certificate)) {
            shell.say("An S3 server listens on " + server.endpoint() + ", in this process. Filling its bucket \""
                    + DemoData.BUCKET + "\" ...");
            DemoData data = DemoData.store(server);
            shell.say(DemoData.SAMPLES + " small samples in " + DemoData.CLASSES + " folders, a shard of "
                    + (DemoData.SHARD_SIZE >> 20) + " MiB and a model of " + (DemoData.MODEL_SIZE >> 20) + " MiB.");
            boolean good = mount.show(
                    DemoData.BUCKET,
                    server.endpoint(),
                    Map.of(Settings.CA_FILE, certificate.caFile().toString()),
                    () -> {},
                    bucket -> new Demo(shell, data, bucket, server).run());
            if (good && !mount.isKept()) {
                good = new DemoKill(folder, shell, server, certificate.caFile()).run();
            }
            if (good) {
                sayWhatIsNext(shell);
            }
            return good;
        }
    }

    /** @return whether the bytes read, the objects written and the attributes of a copy are as expected */
    private boolean run() throws IOException, InterruptedException {
        look();
        readShard();
        readRandomly();
        DemoWrites.Written writes = new DemoWrites(shell, data, bucket).run();
        expect("the attributes of the copied tree", writes.tree(), writes.copy());
        Map<String, String> written = writes.digests();
        operate();
        compareEverything(written);
        compareBucket(written);
        tellStatistics();
        shell.title(
                good
                        ? "All bytes read match the bucket, and all bytes written are in it."
                        : "Some bytes read or written do NOT match the bucket.");
        return good;
    }

    private static void sayWhatIsNext(DemoShell shell) {
        shell.say("Next, try your own bucket:");
        shell.command(Launcher.command() + " doctor BUCKET");
        shell.command(Launcher.command() + " mount BUCKET FOLDER");
        shell.say("For a server other than AWS, add --endpoint URL. " + Launcher.command()
                + " stats shows what a mount does, and README.md has the first steps.");
    }

    private void look() throws IOException, InterruptedException {
        shell.run("ls -l . samples | head -20").text().lines().forEach(shell::say);
        String count = shell.run("find samples -type f | wc -l").text().strip();
        shell.say(count);
        expect("the number of samples", Integer.toString(DemoData.SAMPLES), count);
        String sample = shell.run("cat " + DemoData.sampleKey(42)).text();
        shell.say(sample.strip());
        expect(DemoData.sampleKey(42), DemoData.sample(42), sample);
    }

    private void readShard() throws IOException, InterruptedException {
        shell.title("The first read comes from S3, the next ones from this machine");
        String read = "dd if=" + DemoData.SHARD + " of=/dev/null bs=1M status=none";
        timed("cold: ", read);
        // The kernel caches pages too. It drops those of one file on request, without root.
        shell.quietly("dd if=" + DemoData.SHARD + " iflag=nocache count=0 status=none");
        timed("warm, without the kernel's own cache: ", read);
        timed("warm, with it: ", read);
    }

    private void timed(String what, String command) throws IOException, InterruptedException {
        CacheStatistics before = bucket.cacheStatistics();
        long gets = bucket.readaheadStatistics().allGets();
        Duration time = shell.run(command).time();
        CacheStatistics after = bucket.cacheStatistics();
        long fetched = bucket.readaheadStatistics().allGets() - gets;
        long memory = after.memoryHits() - before.memoryHits();
        long disk = after.diskHits() - before.diskHits();
        String from = fetched > 0
                ? fetched + " GET requests to S3"
                : memory + disk == 0
                        ? "served by the kernel, without a request to Penstock"
                        : "served by Penstock's cache, " + percent(disk, memory + disk) + " of it on disk";
        shell.say(String.format(
                Locale.ROOT,
                "%s%.0f MiB/s (%d ms), %s",
                what,
                (DemoData.SHARD_SIZE >> 20) * 1e9 / time.toNanos(),
                time.toMillis(),
                from));
    }

    private void readRandomly() throws IOException, InterruptedException {
        shell.title("A random read of a large file fetches a page, not the file");
        long gets = bucket.readaheadStatistics().allGets();
        long blocks = RANDOM_BLOCK * DemoData.blockSize() / RANDOM_READ + 1;
        DemoShell.Result result = shell.run(
                "dd if=" + DemoData.MODEL + " bs=" + RANDOM_READ + " skip=" + blocks + " count=1 status=none");
        shell.say(String.format(
                Locale.ROOT,
                "%d ms, %d GET of one page, 1 MiB",
                result.time().toMillis(),
                bucket.readaheadStatistics().allGets() - gets));
        byte[] block = DemoData.bytes(DemoData.MODEL, RANDOM_BLOCK);
        if (!Arrays.equals(result.bytes(), Arrays.copyOfRange(block, RANDOM_READ, 2 * RANDOM_READ))) {
            differs("a random read of " + DemoData.MODEL);
        }
    }

    /** Works on a running mount with an operator's commands. */
    private void operate() throws IOException, InterruptedException {
        shell.title("Inspect it, change settings, and warm the cache for a job, while it is mounted");
        say("warm \"$PWD\" samples --pin --wait");
        say("set \"$PWD\" readahead.concurrency=32 cache.size=20GiB");
        say("mounts");
    }

    /** Runs a penstock command and shows its output. */
    private void say(String command) throws IOException, InterruptedException {
        shell.command("penstock " + command.replace("\"$PWD\"", "."));
        Path home = Launcher.home();
        String penstock = home == null ? "penstock" : "'" + home.resolve("bin/penstock") + "'";
        shell.quietly(penstock + " " + command).text().lines().forEach(shell::say);
    }

    private void compareEverything(Map<String, String> written) throws IOException, InterruptedException {
        shell.title("Read everything again, and compare it with the data stored and written");
        String digests = shell.run("find . -type f -exec sha256sum {} +").text();
        Map<String, String> read = new HashMap<>();
        digests.lines().forEach(line -> read.put(line.substring(line.indexOf("./") + 2), line.split(" ", 2)[0]));
        Map<String, String> expected = new HashMap<>(data.digests());
        expected.putAll(written);
        expected.forEach((key, digest) -> expect(key, digest, read.getOrDefault(key, "missing")));
        expect("the number of files", Integer.toString(expected.size()), Integer.toString(read.size()));
        shell.say(read.size() + " files compared");
    }

    /** Reads the store directly, as another machine would. */
    private void compareBucket(Map<String, String> written) throws IOException {
        for (Map.Entry<String, String> file : written.entrySet()) {
            String stored = DemoData.digest(server.get(DemoData.BUCKET, file.getKey()));
            expect("the object " + file.getKey(), file.getValue(), stored);
        }
        shell.say(written.size() + " written files compared with their objects in the bucket");
    }

    private void tellStatistics() {
        CacheStatistics cache = bucket.cacheStatistics();
        ReadaheadStatistics readahead = bucket.readaheadStatistics();
        shell.title("Requests");
        shell.say(String.format(
                Locale.ROOT,
                "GET requests: %d (%d on demand, %d ahead), %d MiB",
                readahead.allGets(),
                readahead.demandGets(),
                readahead.readaheadGets(),
                readahead.bytesFetched() >> 20));
        shell.say(String.format(
                Locale.ROOT,
                "Page reads: %d hits (%d in memory, %d on disk), %d waited for data in flight, %d misses",
                cache.memoryHits() + cache.diskHits(),
                cache.memoryHits(),
                cache.diskHits(),
                cache.waits(),
                cache.misses()));
    }

    private void expect(String what, String stored, String read) {
        if (!stored.equals(read)) {
            differs(what);
        }
    }

    private void differs(String what) {
        good = false;
        shell.say("DIFFERS from the stored data:  " + what);
    }

    private static String percent(long part, long whole) {
        return Math.round(100.0 * part / whole) + " %";
    }
}
