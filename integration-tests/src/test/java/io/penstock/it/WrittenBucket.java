package io.penstock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A mount that tests write through, each in its own folder. The written files are compared with the expected ones three
 * times: in the mount, in the bucket, and, after all tests of a class, in another mount with an empty cache folder.
 */
final class WrittenBucket implements AutoCloseable {
    /** Empty files and deletions reach the bucket shortly after close(2); a staged close may take longer. */
    private static final long SETTLED_SECONDS = 60;

    private static final String DIRECTORY = "a directory";

    private final S3Server server;
    private final TestBucket bucket = new TestBucket(S3Server.shared());
    private final Path scratch;
    private final Path disk;
    private final String[] options;
    private MountedBucket mount;

    /** The expected state of each path, by folder. */
    private final Map<String, Map<String, String>> expected = new TreeMap<>();

    /** @param scratch the folder for files on the test's own disk */
    WrittenBucket(Path scratch, String... options) throws Exception {
        this(S3Server.shared(), scratch, options);
    }

    /** @param server the mount's server */
    WrittenBucket(S3Server server, Path scratch, String... options) throws Exception {
        this.server = server;
        this.scratch = scratch;
        this.options = options.clone();
        disk = Files.createDirectories(scratch.resolve("disk"));
        try {
            mount = MountedBucket.mount(server, bucket.name(), scratch, options);
        } catch (Throwable e) {
            bucket.close();
            throw e;
        }
    }

    MountedBucket mount() {
        return mount;
    }

    TestBucket bucket() {
        return bucket;
    }

    /** A folder in the mount. */
    Path folder(String name) throws IOException {
        return Files.createDirectories(mount.path().resolve(name));
    }

    /** A folder of the same name on disk. */
    Path onDisk(String name) throws IOException {
        return Files.createDirectories(disk.resolve(name));
    }

    /** Runs a shell script in the folder, and returns its output. If a command in it fails, the test fails. */
    static String sh(Path dir, String script, Object... arguments) {
        return Program.shell(dir, "set -euo pipefail\n" + script, arguments).orThrow();
    }

    /** A script has the same effects and output in the mount as on disk. */
    void assertSameAsOnDisk(String folder, String script, Object... arguments) throws Exception {
        String onDisk = sh(onDisk(folder), script, arguments);
        assertThat(sh(folder(folder), script, arguments)).isEqualTo(onDisk);
        assertHolds(folder, onDisk(folder));
    }

    /** The folder has the same content as one on disk. */
    void assertHolds(String folder, Path reference) throws Exception {
        assertHolds(folder, snapshot(reference));
    }

    /** The folder has exactly one file. */
    void assertHolds(String folder, String file, byte[] content) throws Exception {
        assertHolds(folder, Map.of(file, digest(content)));
    }

    /** The bucket has the same files in the folder as the mount. */
    void assertStored(String folder) throws Exception {
        assertHolds(folder, snapshot(folder(folder)));
    }

    private void assertHolds(String folder, Map<String, String> content) throws Exception {
        assertThat(snapshot(folder(folder))).as("as the mount shows it").isEqualTo(content);
        awaitStored(folder, content);
        expected.put(folder, content);
    }

    private void awaitStored(String folder, Map<String, String> content) throws Exception {
        Map<String, String> files = new TreeMap<>(content);
        files.values().removeIf(DIRECTORY::equals);
        long deadline = System.nanoTime() + SECONDS.toNanos(SETTLED_SECONDS);
        while (!stored(folder).equals(files) && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
        assertThat(stored(folder)).as("as the bucket has it").isEqualTo(files);
    }

    /** Objects below the folder except markers of directories. */
    private Map<String, String> stored(String folder) {
        Map<String, String> stored = new TreeMap<>();
        for (String key : bucket.keys(folder + "/")) {
            if (!key.endsWith("/")) {
                bucket.find(key).ifPresent(content -> stored.put(key.substring(folder.length() + 1), digest(content)));
            }
        }
        return stored;
    }

    /** Unmounts, removes the cache folder, mounts again, and repeats all comparisons. */
    void assertSameWithAnEmptyCache() throws Exception {
        remountWithAnEmptyCache();
        for (String folder : expected.keySet()) {
            assertThat(snapshot(mount.path().resolve(folder)))
                    .as(folder + ", mounted again")
                    .isEqualTo(expected.get(folder));
        }
    }

    void remountWithAnEmptyCache() throws Exception {
        mount.terminate();
        assertThat(mount.log()).doesNotContain("Exiting with uploads left", "could not be uploaded");
        Path cache = scratch.resolve("cache");
        try (Stream<Path> files = Files.walk(cache)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
        mount = MountedBucket.mount(server, bucket.name(), scratch, options);
    }

    /** The state of each path below the folder: a directory, or a file with its size and sum. */
    private static Map<String, String> snapshot(Path folder) throws IOException {
        List<Path> all;
        try (Stream<Path> paths = Files.walk(folder)) {
            all = paths.filter(path -> !path.equals(folder)).toList();
        }
        Map<String, String> content = new TreeMap<>();
        for (Path path : all) {
            content.put(folder.relativize(path).toString(), state(path));
        }
        return content;
    }

    /** A symbolic link's state is that of its object, which is empty. */
    private static String state(Path path) throws IOException {
        if (Files.isSymbolicLink(path)) {
            return digest(new byte[0]);
        }
        return Files.isDirectory(path) ? DIRECTORY : digest(Files.readAllBytes(path));
    }

    private static String digest(byte[] content) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(content);
            return content.length + " bytes " + HexFormat.of().formatHex(sum, 0, 8)
                    + (content.length < 100 ? " " + printable(content) : "");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static String printable(byte[] content) {
        return new String(content, StandardCharsets.ISO_8859_1)
                .chars()
                .mapToObj(c -> c >= ' ' && c < 127 ? Character.toString(c) : "\\%03o".formatted(c))
                .reduce("", String::concat);
    }

    @Override
    public void close() throws IOException {
        try {
            mount.close();
        } finally {
            bucket.close();
        }
    }
}
