package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestTier;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Lock files and mail, used by two processes at the same time: on one mount, and on two mounts of one bucket where the
 * store honours the conditions. A lock never has two holders, and no message is lost, truncated or duplicated.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LocksIT {
    private static final int RACES = TestTier.choose(20, 200);
    private static final int TURNS = TestTier.choose(5, 10);
    private static final int MESSAGES = TestTier.choose(15, 100);

    /** A name that another node removed soon becomes free. */
    private static final String[] OPTIONS = {"-o", "metadata.ttl=500ms,metadata.negative-ttl=0"};

    @TempDir
    private static Path scratch;

    private Path program;
    private WrittenBucket bucket;
    private MountedBucket other;

    /** How a lock is taken. */
    enum Way {
        EXCL,
        DIRECTORY,
        LINK;

        boolean isExclusiveOn(TestBucket bucket) {
            return switch (this) {
                case EXCL -> bucket.honoursConditionsOnPuts();
                // S3Proxy, where an object of that name is a folder, tells two concurrent clients that they created it.
                case DIRECTORY ->
                    bucket.honoursConditionsOnPuts()
                            && !S3Server.shared().name().startsWith("S3Proxy");
                case LINK -> bucket.honoursConditionsOnCopies();
            };
        }
    }

    @BeforeAll
    void mount() throws Exception {
        program = Resources.copy("locks.py", scratch);
        bucket = new WrittenBucket(Files.createDirectory(scratch.resolve("one")), OPTIONS);
        other = MountedBucket.mount(
                S3Server.shared(), bucket.bucket().name(), Files.createDirectory(scratch.resolve("two")), OPTIONS);
    }

    @AfterAll
    void unmount() throws Exception {
        try (WrittenBucket _ = bucket) {
            if (other != null) {
                other.close();
            }
        }
    }

    private void assertNothingIsWrong(String test, String way, Path one, Path two, int times) {
        assertThat(WrittenBucket.sh(scratch, "python3 \"$@\"", program, test, way, one, two, times))
                .isEmpty();
    }

    /** The folder of this name in the other mount. */
    private Path inTheOther(Path folder) throws Exception {
        Path same = other.path().resolve(bucket.mount().path().relativize(folder));
        Await.until(same + " is known", () -> Files.isDirectory(same));
        return same;
    }

    @ParameterizedTest
    @EnumSource
    void lock_ofTwoProcessesOnOneMount_hasOneWinner(Way way) throws Exception {
        Path folder = bucket.folder("one-" + way);

        assertNothingIsWrong("race", way.name(), folder, folder, RACES);
        assertNothingIsWrong("count", way.name(), folder, folder, TURNS);
    }

    @ParameterizedTest
    @EnumSource
    void lock_ofTwoMounts_hasOneWinner(Way way) throws Exception {
        assumeTrue(way.isExclusiveOn(bucket.bucket()), S3Server.shared().name() + " ignores the condition");
        Path folder = bucket.folder("two-" + way);
        Path same = inTheOther(folder);

        assertNothingIsWrong("race", way.name(), folder, same, RACES);
        assertNothingIsWrong("count", way.name(), folder, same, TURNS);
    }

    @Test
    void mbox_ofTwoProcessesOnOneMount_hasEachMessageOnce() throws Exception {
        Path folder = bucket.folder("mbox");

        assertNothingIsWrong("mbox", "-", folder, folder, MESSAGES);
        bucket.assertStored("mbox");
    }

    @Test
    void maildir_ofTwoProcessesOnOneMount_hasEachMessageOnce() throws Exception {
        Path folder = bucket.folder("mail");

        assertNothingIsWrong("maildir", "-", folder, folder, MESSAGES);
        bucket.assertStored("mail");
    }

    /** Names of messages differ, so no condition is needed. */
    @Test
    void maildir_ofTwoMounts_hasEachMessageOnce() throws Exception {
        Path folder = bucket.folder("mails");

        assertNothingIsWrong("maildir", "-", folder, inTheOther(folder), MESSAGES);
        bucket.assertStored("mails");
    }
}
