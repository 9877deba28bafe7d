package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import io.penstock.testing.TestTier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs rename directories, also when the mount is killed meanwhile, or the server asks for fewer requests. */
final class DirectoryRenameIT {
    private static final int FILES = TestTier.choose(100, 10_000);
    /** Copies that run at the same time. */
    private static final int MOST_LEFT = 64;

    private static final int KILLS = TestTier.choose("penstock.crash.rounds", 2, 4);

    /** The maximum number of keys in one request of S3. */
    private static final int DELETED_AT_ONCE = 1_000;

    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    @Test
    void mv_ofTrees_leavesWhatItDoesOnDisk() throws Exception {
        try (WrittenBucket bucket = new WrittenBucket(scratch)) {
            bucket.assertSameAsOnDisk("trees", """
                mkdir -p a/b/c empty other
                for i in $(seq 30); do echo "number $i" > "a/b/ü $i"; echo $i > a/b/c/$i; done
                mv a moved
                cat "moved/b/ü 17" moved/b/c/30
                test ! -e a
                mv moved/b other/
                find . | sort
                echo changed > other/b/c/1
                mv -T other/b empty
                mv empty/c/1 empty/first
                mkdir full; touch full/x
                mv -T empty full 2>/dev/null || echo refused
                (cd empty/c && mv ../../empty ../../renamed && ls | wc -l && echo inside > new && cat new)
                cat renamed/first renamed/c/new
                exec 3<>renamed/c/5; mv renamed again; cat <&3; echo more >&3; exec 3>&-
                cat again/c/5
                find . | sort
                """);
            bucket.assertSameWithAnEmptyCache();
        }
    }

    @Tag("long")
    @Test
    void git_mvOfFolders_passesFsck() throws Exception {
        try (WrittenBucket bucket = new WrittenBucket(scratch)) {
            Path folder = bucket.folder("git");
            assertThat(sh(folder, """
                git init -q
                git config user.email a@b.c && git config user.name n
                mkdir -p src/main && for i in 1 2 3; do echo $i > src/main/f$i; done
                git add . && git commit -qm first
                git mv src lib && git commit -qm moved
                git mv lib/main lib/test && git commit -qm again
                git status --porcelain
                git fsck --strict 2>&1
                git log --format=%s
                ls lib/test
                """)).isEqualTo("again\nmoved\nfirst\nf1\nf2\nf3\n");
            bucket.assertStored("git");
        }
    }

    @Test
    void killMinus9_whileADirectoryIsRenamed_isFinishedOrUndoneByTheNextMount() throws Exception {
        long seed = Long.getLong("penstock.seed", System.nanoTime() & 0xFFFF);
        System.out.println("DirectoryRenameIT: -Dpenstock.seed=" + seed);
        try (TestBucket bucket = new TestBucket(SERVER);
                S3Front front = new S3Front(SERVER)) {
            putFiles(bucket);
            assertTimeoutPreemptively(
                    Duration.ofMinutes(4).multipliedBy(KILLS), () -> killAgainAndAgain(bucket, front, seed));
        }
    }

    private static void putFiles(TestBucket bucket) throws Exception {
        List<TestData> files = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            files.add(TestData.of("a/%s%05d".formatted(i % 3 == 0 ? "sub/" : "", i), 100 + i));
        }
        bucket.putAll(files);
    }

    private static Set<String> names(TestBucket bucket, String prefix) {
        Set<String> names = new TreeSet<>();
        bucket.keys(prefix).forEach(key -> names.add(key.substring(prefix.length())));
        return names;
    }

    private void killAgainAndAgain(TestBucket bucket, S3Front front, long seed) throws Exception {
        RandomGenerator random = Seeded.random(seed);
        Set<String> all = names(bucket, "a/");
        String name = "a";
        int interrupted = 0;
        Set<Outcome> outcomes = EnumSet.noneOf(Outcome.class);
        for (int round = 0; round < KILLS; round++) {
            String next = name.equals("a") ? "b" : "a";
            Function<MountedBucket, Function<S3Front.Request, S3Front.Treatment>> killing =
                    round % 2 == 0 ? killingWhileItCopies(random) : killingWhileItDeletes(random);
            try (MountedBucket mount = MountedBucket.mount(front.fronted(), bucket.name(), scratch)) {
                assertThat(sh(mount.path(), "find " + name + " -type f | wc -l"))
                        .isEqualTo(FILES + "\n");
                front.treat(killing.apply(mount));
                Process mv = new ProcessBuilder("mv", name, next)
                        .directory(mount.path().toFile())
                        .start();
                mv.waitFor();
                mount.killAndLeave();
                front.treat(_ -> S3Front.Treatment.PASS);
                front.awaitEndOfConnections(); // otherwise a copy might arrive after the next mount's undo
            }
            boolean isHalf = !bucket.keys("a/").isEmpty() && !bucket.keys("b/").isEmpty();
            interrupted += isHalf ? 1 : 0;
            try (MountedBucket mount = MountedBucket.mount(front.fronted(), bucket.name(), scratch)) {
                String now = names(bucket, "b/").equals(all) ? "b" : "a";
                String other = now.equals("a") ? "b" : "a";
                assertThat(names(bucket, now + "/"))
                        .as("round " + round + ", " + mount.log())
                        .isEqualTo(all);
                removeLeft(mount, other, names(bucket, other + "/"));
                assertThat(sh(mount.path(), "ls; find " + now + " -type f | wc -l"))
                        .isEqualTo(now + "\n" + FILES + "\n");
                outcomes.add(now.equals(name) ? Outcome.UNDONE : Outcome.FINISHED);
                name = now;
            }
        }
        System.out.println("killed %d times, %d times in the midst: %s".formatted(KILLS, interrupted, outcomes));
        assertThat(interrupted).isPositive();
        assertThat(outcomes).containsExactly(Outcome.values());
    }

    /** Copies whose responses were lost by the kill stay, because they may be another client's. */
    private static void removeLeft(MountedBucket mount, String name, Set<String> left) throws Exception {
        if (!left.isEmpty()) {
            assertThat(left).hasSizeLessThanOrEqualTo(MOST_LEFT);
            assertThat(mount.log()).contains(name + "/" + left.iterator().next());
            sh(mount.path(), "rm -r " + name);
        }
    }

    private enum Outcome {
        UNDONE,
        FINISHED
    }

    /** At any request before all objects are copied. */
    private static Function<MountedBucket, Function<S3Front.Request, S3Front.Treatment>> killingWhileItCopies(
            RandomGenerator random) {
        int killedAt = random.nextInt(FILES);
        AtomicInteger requests = new AtomicInteger();
        return mount -> _ -> {
            if (requests.getAndIncrement() == killedAt) {
                mount.process().destroyForcibly();
            }
            return S3Front.Treatment.PASS;
        };
    }

    /** At the first DeleteObjects, the second, or any later one, of which the server gets only a part. */
    private static Function<MountedBucket, Function<S3Front.Request, S3Front.Treatment>> killingWhileItDeletes(
            RandomGenerator random) {
        int killedAt = random.nextInt(Math.ceilDiv(FILES, DELETED_AT_ONCE));
        AtomicInteger batches = new AtomicInteger();
        return mount -> request -> {
            if (isBatch(request) && batches.getAndIncrement() == killedAt) {
                mount.process().destroyForcibly();
                return S3Front.Treatment.CUT;
            }
            return S3Front.Treatment.PASS;
        };
    }

    /** Whether it deletes many objects: a probe of the server's features deletes one. */
    private static boolean isBatch(S3Front.Request request) {
        return request.method().equals("POST") && request.target().contains("?delete") && request.length() > 1000;
    }

    @Test
    void mvAndRm_whileTheServerAsksForFewerRequests_moveAndRemoveAll() throws Exception {
        try (TestBucket bucket = new TestBucket(SERVER);
                S3Front front = new S3Front(SERVER)) {
            putFiles(bucket);
            Set<String> all = names(bucket, "a/");
            try (MountedBucket mount = MountedBucket.mount(front.fronted(), bucket.name(), scratch)) {
                // Bursts of 100 ms, three in a second.
                front.treat(_ -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()) / 100 % 3 == 0
                        ? S3Front.Treatment.answer(503, "SlowDown")
                        : S3Front.Treatment.PASS);
                sh(mount.path(), "mv a b");
                assertThat(names(bucket, "b/")).isEqualTo(all);
                assertThat(bucket.keys("a/")).isEmpty();

                sh(mount.path(), "rm -r b; ls");
                assertThat(bucket.keys("b/")).isEmpty();
            }
        }
    }
}
