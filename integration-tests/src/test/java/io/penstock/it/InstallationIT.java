package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Copies of Penstock that are incomplete, or that change under mounts, though not by {@code penstock install}. */
final class InstallationIT {
    private static final int MIB = 1 << 20;

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private final List<TestData> objects = IntStream.range(0, 6)
            .mapToObj(i -> TestData.of("data/%d.bin".formatted(i), 1_000_000L << i))
            .toList();

    /** What happens to the folder $1; the folder $2 has other files of the same names. */
    enum Change {
        REMOVED("rm -rf \"$1\""),
        REPLACED("rm -rf \"$1\" && cp -r \"$2\" \"$1\"");

        private final String script;

        Change(String script) {
            this.script = script;
        }
    }

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(S3Server.shared());
        bucket.putAll(objects);
    }

    @AfterEach
    void removeBucket() {
        bucket.close();
    }

    /** The running files of this build, including its start cache, as {@code penstock install} copies them. */
    private static Path copyBuild(Path made) {
        WrittenBucket.sh(Path.of(MountedBucket.penstock().getFirst()).resolveSibling(".."), """
            mkdir -p "$1/cli/target/penstock"
            cp -r bin "$1/"
            cp -pr cli/target/penstock/lib cli/target/penstock/penstock.aot* "$1/cli/target/penstock/"
            """, made);
        return made;
    }

    /** Files of the same names with other content. */
    private static Path another(Path home, Path made) {
        WrittenBucket.sh(home, """
            find bin cli -type d -exec mkdir -p "$1/{}" \\;
            find bin cli -type f | while read -r file; do echo another > "$1/$file"; done
            """, made);
        return made;
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void mount_whoseInstallationChanges_servesOn(Change change) throws Exception {
        Path home = copyBuild(scratch.resolve("installed"));
        Path another = another(home, scratch.resolve("another"));
        MountedBucket.Launch launch = new MountedBucket.Launch(List.of(), Map.of(), home.resolve("bin/penstock"));
        try (MountedBucket mount = MountedBucket.mount(launch, S3Server.shared(), bucket.name(), scratch)) {
            Program.shell(scratch, change.script, home, another).orThrow();

            for (TestData data : objects) {
                try (InputStream in = Files.newInputStream(mount.path().resolve(data.name()))) {
                    TestBucket.verify(data, in);
                }
            }
            TestData large = TestData.of("large", 21L * MIB + 3);
            WrittenBucket.sh(mount.path(), """
                ls -l data > /dev/null && mkdir made && cp "$1" made/large && cp made/large made/copied
                mv made renamed && ln renamed/large renamed/linked && chmod 600 renamed/large
                ln -s large renamed/link && rm renamed/copied && truncate -s 5M renamed/linked
                """, Files.write(scratch.resolve("large"), large.bytes()));
            String point = mount.path().toString();
            assertThat(penstock("stats", point, "--once")).contains(point + ":");
            assertThat(penstock("set", point, "readahead.concurrency=40")).contains("-> 40");
            assertThat(penstock("warm", point, "renamed")).contains("100%");
            penstock("why", point + "/renamed/large");
            penstock("umount", point);
            assertThat(mount.awaitEnd()).as(mount.log()).isTrue();
            assertThat(mount.process().exitValue()).as(mount.log()).isZero();
            assertThat(mount.log()).doesNotContain("\tat ", "Error", "internal error");
            assertThat(bucket.get("renamed/large")).isEqualTo(large.bytes());
            assertThat(bucket.get("renamed/linked")).isEqualTo(large.bytes(0, 5 * MIB));
        }
    }

    @Tag("long")
    @Test
    void demo_withoutTheNativeTls_isByThatOfJava() throws Exception {
        Path home = copyBuild(scratch.resolve("installed"));
        Program.shell(scratch, "rm \"$1\"/cli/target/penstock/lib/conscrypt-*", home)
                .orThrow();
        List<String> demo = List.of("env", "TMPDIR=" + scratch, home + "/bin/penstock", "demo");
        assertThat(Program.run(scratch, demo).orThrow())
                .contains("--endpoint https://")
                .contains("All bytes read match the bucket, and all bytes written are in it.");
    }

    private String penstock(String... arguments) {
        List<String> command = new ArrayList<>(MountedBucket.penstock());
        command.addAll(List.of(arguments));
        return Program.run(scratch, command).orThrow();
    }
}
