package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.it.S3Front.Treatment;
import io.penstock.testing.TestData;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every command about a mount, while 16 threads read from it, and also while its store is away. */
@Timeout(600)
final class LiveCommandsIT {
    private static final int READERS = 16;

    /** The pause between two files of a reader, which leaves the machine time for the commands: milliseconds. */
    private static final int PAUSE_MILLIS = 50;

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Not one of the files that are read. */
    private static final TestData SPARE = TestData.of("spare", 3L << 20);

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private S3Front front;
    private final List<TestData> objects = IntStream.range(0, 24)
            .mapToObj(i -> TestData.of("set/" + i, 300_000L + i))
            .toList();

    /** The ways in which a store is away. */
    enum Away {
        REFUSING,
        SILENT;

        private Treatment treatment() {
            return switch (this) {
                case REFUSING -> Treatment.answer(503, "ServiceUnavailable");
                case SILENT -> Treatment.KEEP_SILENT;
            };
        }
    }

    /**
     * A command and its effect.
     *
     * @param exits the possible exit codes
     * @param says a part of its output
     */
    private record Case(List<Integer> exits, String says, List<String> command) {
        static Case of(int exit, String says, String... command) {
            return new Case(List.of(exit), says, List.of(command));
        }
    }

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(S3Server.shared());
        bucket.putAll(objects);
        bucket.put(SPARE);
        front = new S3Front(S3Server.shared());
    }

    @AfterEach
    void removeBucket() throws Exception {
        front.close();
        bucket.close();
    }

    private Program.Result penstock(List<String> arguments) {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(arguments);
        return Program.run(scratch, LIMIT, command);
    }

    /** All commands except mount, umount and those that wait for a person. */
    private List<Case> cases(String point) {
        return List.of(
                Case.of(0, "cache", "stats", point, "--once"),
                Case.of(0, "\"mountPoint\":\"" + point + "\"", "stats", point, "--once", "--json"),
                Case.of(0, "readahead.concurrency: 96 -> 40", "set", point, "readahead.concurrency=40"),
                Case.of(0, "penstock set: option 'readahead.concurrency=40'", "config", "show", "--mount", point),
                Case.of(0, "readahead.concurrency: 40 -> 96", "reload", point),
                Case.of(0, "1 cached", "warm", point, "spare", "--pin"),
                Case.of(0, "warm spare: done", "warm", point, "--status"),
                Case.of(2, "first: penstock warm " + point + " " + point + "/spare", "warm", point + "/spare"),
                Case.of(2, "first: penstock evict " + point + " " + point + "/a b", "evict", point + "/a", "b"),
                Case.of(0, "100%", "cache", "status", point, "spare"),
                Case.of(0, "1 file unpinned", "unpin", point, "spare"),
                Case.of(0, "pinned", "why", point + "/spare"),
                Case.of(0, "1 file dropped", "evict", point, "spare"),
                Case.of(0, "only in the bucket", "why", point + "/spare"),
                Case.of(0, point, "mounts"),
                Case.of(0, "There was nothing to wait for", "sync", point),
                Case.of(1, "does not share its cache: set share.peers", "share", "status", point));
    }

    private void check(MountedBucket mount, List<Case> cases) {
        for (Case each : cases) {
            Program.Result result = penstock(each.command());
            assertThat(each.exits()).as(each + ": " + result.out()).contains(result.exit());
            assertThat(result.out())
                    .as(each.toString())
                    .contains(each.says())
                    .doesNotContain("\tat ", "internal error");
        }
        assertThat(mount.process().isAlive()).isTrue();
    }

    /** Runs the commands on a mount whose files are all cached, while readers run. */
    private void besideReaders(Function<MountedBucket, List<Case>> commands, Treatment treatment) throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        try (MountedBucket mount = MountedBucket.mount(
                        front.fronted(),
                        bucket.name(),
                        scratch,
                        "-o",
                        "metadata.ttl=1h,metadata.negative-ttl=0,fuse.passthrough=off,s3.retry-deadline=5s,readahead.concurrency=96");
                ExecutorService threads = Executors.newCachedThreadPool()) {
            assertThat(penstock(List.of("warm", mount.path().toString(), ".")).exit())
                    .isZero();
            readUntil(new AtomicBoolean(true), mount, 0);
            List<Future<Integer>> readers = new ArrayList<>();
            try {
                front.treat(_ -> treatment);
                for (int i = 0; i < READERS; i++) {
                    int first = i;
                    readers.add(threads.submit(() -> readUntil(done, mount, first)));
                }
                check(mount, commands.apply(mount));
            } finally {
                done.set(true);
                front.passAll();
            }
            for (Future<Integer> each : readers) {
                assertThat(each.get()).isPositive();
            }
            assertThat(mount.log()).doesNotContain("failed unexpectedly", "The command ");
        }
    }

    /** Reads each file at least once. */
    private int readUntil(AtomicBoolean done, MountedBucket mount, int first) throws Exception {
        int read = 0;
        for (int i = first; read < objects.size() || !done.get(); i++) {
            TestData data = objects.get(i % objects.size());
            try (InputStream in = Files.newInputStream(mount.path().resolve(data.name()))) {
                TestBucket.verify(data, in);
            }
            read++;
            Thread.sleep(PAUSE_MILLIS);
        }
        return read;
    }

    @Test
    void commands_besideReaders_doWhatTheySay() throws Exception {
        besideReaders(mount -> cases(mount.path().toString()), Treatment.PASS);
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void commands_theStoreIsAway_answerFromWhatTheMountKnows(Away away) throws Exception {
        besideReaders(mount -> cases(mount.path().toString()), away.treatment());
    }

    /** It asks the store itself, with the credentials of this process, and reports the result. */
    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void doctor_theStoreIsAway_endsAndSaysSo(Away away) throws Exception {
        besideReaders(
                mount -> List.of(new Case(
                        List.of(1, 2), "mount", List.of("doctor", mount.path().toString(), "--quick"))),
                away.treatment());
    }

    /** Unknown names are requested until the deadline of requests, and then refused. */
    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void commands_ofNamesThatAreNotKnown_endWithTheReason(Away away) throws Exception {
        besideReaders(
                mount -> {
                    String point = mount.path().toString();
                    return List.of(
                            Case.of(1, "given up after 5 s", "warm", point, "unknown/name"),
                            Case.of(1, "given up after 5 s", "cache", "status", point, "unknown/name"),
                            Case.of(1, "is not known here", "why", point + "/unknown/name"));
                },
                away.treatment());
    }
}
