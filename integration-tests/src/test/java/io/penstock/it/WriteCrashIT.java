package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.testing.Seeded;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs write through a mount to a slow store, and the mount is killed at random moments, repeatedly with the same
 * cache folder. All content promised by an fsync, a close, a rename or a removal is there each time: through the mount,
 * and, once the uploads have ended, in the bucket alone.
 *
 * <p>It is killed 6 times, 50 times with {@code penstock.test.full}, and N times with
 * {@code -Dpenstock.crash.rounds=N}. The times follow from {@code -Dpenstock.seed=S}, which each run prints, as far as
 * threads and servers allow. Most of the test is the same with either binding, and starting mounts takes time: if the
 * second binding runs it, it has a fifth of the rounds, and the first the others.
 */
final class WriteCrashIT {
    private static final int WRITERS = 3;

    /** Enough rounds that some resume an upload; with only a few, by chance none might. */
    private static final int MANY_ROUNDS = 20;

    private static final int ROUNDS_AN_EPOCH = 10;

    private static final Duration ROUND_LIMIT = Duration.ofMinutes(1);

    /** Slower than programs write, even on a loaded machine: a round finds content that is staged but not uploaded. */
    private static final long BYTES_PER_SECOND = 8 << 20;

    /** How long a round waits for that, and for the commit at which it should end, before it ends without. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private S3Front front;

    /** Parts that were sent under each upload, until its last round. */
    private final Map<String, Set<String>> parts = new HashMap<>();

    private int roundsWithStaging;
    private int roundsCompleting;
    private int uploadsResumed;

    @BeforeEach
    void makeBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        front = new S3Front(SERVER);
    }

    @AfterEach
    void deleteBucket() throws Exception {
        front.close();
        bucket.close();
    }

    private static int rounds() {
        int all = TestTier.choose("penstock.crash.rounds", 6, 50);
        if (!TestTier.isAll()) {
            return all;
        }
        int second = Math.max(1, all / 5);
        return MountedBucket.BINDING.equals("jnr") ? second : Math.max(1, all - second);
    }

    @Test
    void killMinus9_whileProgramsWrite_losesNothingThatWasPromised() throws Exception {
        long seed = Long.getLong("penstock.seed", System.nanoTime() & 0xFFFF);
        int rounds = rounds();
        System.out.println("WriteCrashIT: %d rounds with -Dpenstock.seed=%d".formatted(rounds, seed));
        try {
            assertTimeoutPreemptively(ROUND_LIMIT.multipliedBy(rounds), () -> crash(rounds, Seeded.random(seed)));
        } catch (Exception | AssertionError e) {
            throw new AssertionError("fails with -Dpenstock.seed=" + seed + ": " + e.getMessage(), e);
        }
        System.out.println("%d rounds, %d with something staged, %d while a commit was under way; uploads resumed: %d"
                .formatted(rounds, roundsWithStaging, roundsCompleting, uploadsResumed));
        // Most have staged content; how many depends on chance and on the machine.
        assertThat(roundsWithStaging).isGreaterThan(rounds / 4);
        if (rounds >= MANY_ROUNDS) {
            assertThat(uploadsResumed).isPositive();
        }
        assertNoUploadIsLeft();
    }

    private void crash(int rounds, RandomGenerator random) throws Exception {
        List<CrashWriter> writers = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            writers.add(new CrashWriter("writer-" + i, Seeded.random(random.nextLong())));
        }
        for (int round = 0; round < rounds; round++) {
            crashOnce(writers, random, round);
            if ((round + 1) % ROUNDS_AN_EPOCH == 0 || round + 1 == rounds) {
                verifyFromTheBucketAlone(writers);
            }
        }
        assertThat(writers).allMatch(writer -> writer.acknowledged() > 0);
    }

    private MountedBucket mount(boolean staged) throws Exception {
        // Few uploads at a time, so that some parts are uploaded while others are not.
        return MountedBucket.mount(
                front.fronted(),
                bucket.name(),
                scratch,
                "-o",
                "upload.concurrency=4,upload.concurrency-per-file=2,write.close=" + (staged ? "staged" : "visible"));
    }

    private void crashOnce(List<CrashWriter> writers, RandomGenerator random, int round) throws Exception {
        front.limit(BYTES_PER_SECOND);
        boolean staged = random.nextInt(3) > 0;
        boolean atCommit = random.nextInt(3) == 0;
        long millis = atCommit ? PATIENCE.toMillis() : random.nextLong(100, 2_500);
        try (MountedBucket mount = mount(staged);
                ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
            verify(writers, mount, round);
            Semaphore completing = atCommit ? loseCommits(random.nextInt(4)) : new Semaphore(0);
            List<Future<IOException>> ends = new ArrayList<>();
            writers.forEach(writer -> ends.add(threads.submit(() -> writer.writeUntilKilled(mount.path()))));
            awaitStaged();
            if (completing.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
                roundsCompleting++;
            }
            mount.killAndLeave();
            front.awaitEndOfConnections(); // otherwise a PUT might arrive after the next mount's deletion
            for (Future<IOException> end : ends) {
                end.get();
            }
            noteResumed();
            roundsWithStaging += hasStaged() ? 1 : 0;
        } finally {
            front.passAll();
        }
    }

    /** After this many commits, the store executes the next ones, but their responses are lost. */
    private Semaphore loseCommits(int after) {
        Semaphore lost = new Semaphore(0);
        Semaphore passing = new Semaphore(after);
        front.treat(request -> {
            if (!(request.isComplete() || (request.isUpload() && !request.isPart())) || passing.tryAcquire()) {
                return S3Front.Treatment.PASS;
            }
            lost.release();
            return S3Front.Treatment.LOSE_ANSWER;
        });
        return lost;
    }

    private static void verify(List<CrashWriter> writers, MountedBucket mount, int round) throws IOException {
        for (CrashWriter writer : writers) {
            try {
                writer.verify(mount.path());
            } catch (AssertionError e) {
                throw new AssertionError("after round " + round + ": " + e.getMessage() + "\n" + end(mount.log()), e);
            }
        }
    }

    /** The end of the log, after the lines that give the reason of a failure. */
    private static String end(String log) {
        return log.lines().filter(line -> line.contains(" ERROR ")).collect(Collectors.joining("\n")) + "\n...\n"
                + log.substring(Math.max(0, log.length() - 4_000));
    }

    /** The time until the kill counts from here, no matter how long the writers take so far. */
    private void awaitStaged() throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!hasStaged() && System.nanoTime() < deadline) {
            Thread.sleep(10);
        }
    }

    private boolean hasStaged() throws IOException {
        try (Stream<Path> files = Files.list(scratch.resolve("cache").resolve("staging"))) {
            return files.anyMatch(file -> file.toString().endsWith(".data"));
        }
    }

    /** Counts uploads of earlier rounds that were completed without sending all of their parts again. */
    private void noteResumed() {
        Map<String, Set<String>> now = new HashMap<>();
        for (S3Front.Request request : front.drainRequests()) {
            Optional<String> upload = request.uploadId();
            if (upload.isPresent() && request.isPart()) {
                now.computeIfAbsent(upload.get(), _ -> new HashSet<>())
                        .add(request.partNumber().orElseThrow());
            } else if (upload.isPresent() && request.isComplete()) {
                Set<String> before = parts.getOrDefault(upload.get(), Set.of());
                boolean reused = !now.getOrDefault(upload.get(), Set.of()).containsAll(before);
                uploadsResumed += reused ? 1 : 0;
            }
        }
        now.forEach((upload, sent) ->
                parts.computeIfAbsent(upload, _ -> new HashSet<>()).addAll(sent));
    }

    private void verifyFromTheBucketAlone(List<CrashWriter> writers) throws Exception {
        try (MountedBucket mount = mount(true)) {
            verify(writers, mount, -1);
            front.limit(0);
            Program.shell(scratch, "umount \"$1\"", mount.path()).orThrow();
            assertThat(mount.process().waitFor(3, TimeUnit.MINUTES))
                    .as(end(mount.log()))
                    .isTrue();
            assertThat(mount.process().exitValue()).isZero();
            assertThat(staged()).as(end(mount.log())).isEmpty();
        }
        noteResumed();
        deleteCache();
        try (MountedBucket mount = mount(true)) {
            verify(writers, mount, -1);
            mount.terminate();
        }
        Files.delete(scratch.resolve("mount.log"));
    }

    private List<String> staged() throws IOException {
        try (Stream<Path> files = Files.list(scratch.resolve("cache").resolve("staging"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals("lock") && !name.equals("PENSTOCK.txt"))
                    .toList();
        }
    }

    private void deleteCache() throws IOException {
        try (Stream<Path> files = Files.walk(scratch.resolve("cache"))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /**
     * Except uploads whose ids were not yet in the journal when the mount was killed, and those of probes: no journal
     * names them.
     */
    private void assertNoUploadIsLeft() {
        Map<String, String> left = bucket.unfinishedUploads();
        left.forEach((id, key) -> bucket.abort(key, id));
        left.keySet().retainAll(parts.keySet());
        left.values().removeIf(key -> key.startsWith(".penstock/probe-"));
        assertThat(left).isEmpty();
    }
}
