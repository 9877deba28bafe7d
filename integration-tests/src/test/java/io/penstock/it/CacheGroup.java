package io.penstock.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Mounts of one bucket that share their caches, and their group's certificates, created as in docs/SHARING.md. */
final class CacheGroup implements AutoCloseable {
    /** Lost members are noticed after seconds, and contacted again after a minute. A busy machine may take longer. */
    static final Duration PATIENCE = Duration.ofMinutes(3);

    /** The maximum of the store's bytes for each byte that all nodes read. */
    private static final double ONCE = 1.05;

    /** The same for a file that is large compared to everything else in progress. */
    private static final double ONCE_OF_A_LARGE_FILE = 1.02;

    /** Bytes that have one owner, and the maximum size of one request. */
    private static final long SLAB = 8 << 20;

    private final S3Server server;
    private final String bucket;
    private final Path scratch;
    private final Map<Integer, MountedBucket> nodes = new TreeMap<>();

    /** @param server as seen by the nodes */
    CacheGroup(S3Server server, String bucket, Path scratch) {
        this.server = server;
        this.bucket = bucket;
        this.scratch = scratch;
    }

    /** In the order of their numbers. */
    Collection<MountedBucket> nodes() {
        return nodes.values();
    }

    MountedBucket node(int number) {
        return requireNonNull(nodes.get(number));
    }

    /** The node has ended. */
    void ended(int number) {
        nodes.remove(number);
    }

    // ---- certificates

    void authority(String name) {
        openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out %s.key".formatted(name));
        openssl("req -x509 -new -key %1$s.key -days 3650 -subj /CN=%1$s -out %1$s.crt".formatted(name));
    }

    void certificate(String authority, String node) {
        request(node);
        openssl("x509 -req -in %1$s.csr -CA %2$s.crt -CAkey %2$s.key -CAcreateserial -days 365 -out %1$s.crt"
                .formatted(node, authority));
    }

    /**
     * A certificate valid for a day from a given time: openssl signs for whole days from now, keytool from any moment.
     *
     * @param from in keytool's form, relative to now: {@code -10d}, {@code -1d+60S}
     */
    void certificateOfADay(String authority, String node, String from) {
        request(node);
        openssl("pkcs12 -export -in %1$s.crt -inkey %1$s.key -name %1$s -passout pass:changeit -out %1$s.p12"
                .formatted(authority));
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Program.shell(
                        scratch,
                        "\"$1\" -gencert -keystore $2.p12 -storepass changeit -alias $2 -infile $3.csr -outfile $3.crt"
                                + " -rfc -startdate \"$4\" -validity 1 2>&1",
                        keytool,
                        authority,
                        node,
                        from)
                .orThrow();
    }

    private void request(String node) {
        openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out %s.key".formatted(node));
        openssl("req -new -key %1$s.key -subj /CN=%1$s -out %1$s.csr".formatted(node));
    }

    private void openssl(String arguments) {
        Program.shell(scratch, "openssl " + arguments + " 2>&1").orThrow();
    }

    /** The settings of a node with this certificate. */
    List<String> tls(String authority, String node) {
        return List.of(
                "--share-tls-ca",
                scratch.resolve(authority + ".crt").toString(),
                "--share-tls-certificate",
                scratch.resolve(node + ".crt").toString(),
                "--share-tls-key",
                scratch.resolve(node + ".key").toString());
    }

    // ---- nodes

    /**
     * Mounts the bucket, in the same folder again when the node is restarted.
     *
     * @param launch how it is started
     * @param peers as {@code --share-peers}
     * @param listen as {@code --share-listen}
     */
    MountedBucket start(int number, MountedBucket.Launch launch, String peers, String listen, List<String> options)
            throws Exception {
        MountedBucket node =
                MountedBucket.mount(launch, server, bucket, folder(number), options(peers, listen, options));
        nodes.put(number, node);
        return node;
    }

    /** The folder of a node, with its mount point, cache and log. */
    Path folder(int number) throws IOException {
        return Files.createDirectories(scratch.resolve("node" + number + ".d"));
    }

    static String[] options(String peers, String listen, List<String> more) {
        List<String> options = new ArrayList<>(List.of("--share-peers", peers, "--share-listen", listen));
        options.addAll(more);
        return options.toArray(String[]::new);
    }

    static void awaitMembers(MountedBucket node, int count) throws Exception {
        Await.until(count + " members", PATIENCE, Duration.ofMillis(500), () -> members(node) == count);
    }

    static int members(MountedBucket node) {
        return (int)
                Pattern.compile("\"address\"").matcher(status(node)).results().count();
    }

    /** In JSON. */
    static String status(MountedBucket node) {
        return penstock(node, "share status", "--json").orThrow();
    }

    static Program.Result penstock(MountedBucket mount, String command, String... arguments) {
        List<String> line = new ArrayList<>(MountedBucket.penstock());
        line.addAll(List.of(command.split(" ", -1)));
        line.add(mount.path().toString());
        line.addAll(List.of(arguments));
        return Program.run(Path.of("/"), line);
    }

    static long statistic(MountedBucket mount, String field) {
        String json = penstock(mount, "stats", "--once", "--json").orThrow();
        Matcher matcher = Pattern.compile("\"" + field + "\":(\\d+)").matcher(json);
        assertThat(matcher.find()).as(json).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    long sum(String field) {
        return nodes().stream().mapToLong(node -> statistic(node, field)).sum();
    }

    /** Each node's status of the group. */
    String groups() {
        return nodes().stream()
                .map(node -> penstock(node, "share status").orThrow())
                .collect(Collectors.joining("\n"));
    }

    /** Allows for requests to the store because an owner missed a deadline on a busy machine. */
    void assertFetchedOnce(List<TestData> data) {
        String groups = groups();
        assertThat(sum("bytesFetched"))
                .as(groups)
                .isLessThanOrEqualTo((long) (ONCE * size(data)) + fellBack(groups) * SLAB)
                .isLessThan(nodes.size() * size(data));
    }

    /** The same for one file, and for the bytes that the store has sent. */
    void assertSentOnce(RepeatedData file, long sent) {
        String groups = groups();
        assertThat(sent)
                .as(groups)
                .isGreaterThanOrEqualTo(file.size())
                .isLessThanOrEqualTo((long) (ONCE_OF_A_LARGE_FILE * file.size()) + fellBack(groups) * SLAB)
                .isLessThan(nodes.size() * file.size());
    }

    /** The same for files of at most a slab, and for the GETs that the store has received. */
    void assertAskedOnce(List<TestData> files, int gets) {
        String groups = groups();
        assertThat((long) gets)
                .as(groups)
                .isBetween((long) files.size(), files.size() + fellBack(groups))
                .isLessThan((long) nodes.size() * files.size());
    }

    /** How often nodes have asked the store for bytes that another node owns. */
    private static long fellBack(String groups) {
        return Pattern.compile("fell back: +([0-9,]+)")
                .matcher(groups)
                .results()
                .mapToLong(found -> Long.parseLong(found.group(1).replace(",", "")))
                .sum();
    }

    // ---- readers

    static long size(List<TestData> data) {
        return data.stream().mapToLong(TestData::size).sum();
    }

    static Void verify(MountedBucket mount, List<TestData> data) throws Exception {
        for (TestData each : data) {
            try (InputStream in = Files.newInputStream(mount.path().resolve(each.name()))) {
                TestBucket.verify(each, in);
            }
        }
        return null;
    }

    /** One reader for each node. */
    List<Callable<Void>> readers(List<TestData> data) {
        List<Callable<Void>> readers = new ArrayList<>();
        nodes().forEach(node -> readers.add(() -> verify(node, data)));
        return readers;
    }

    /** Runs all at the same time; fails if any of them fails. */
    static void atOnce(List<Callable<Void>> readers) throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            for (Future<Void> reader : threads.invokeAll(readers)) {
                reader.get();
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (MountedBucket node : nodes()) {
            node.close();
        }
    }
}
