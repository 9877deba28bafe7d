package io.penstock.it;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mount that runs out of Java heap ends and gives the reason. The next mount continues with the staged content. */
@Tag("long")
final class HeapUsedUpIT {
    private static final S3Server SERVER = S3Server.shared();

    /** Little more than a mount needs. */
    private static final Map<String, String> SMALL_HEAP = Map.of("PENSTOCK_JAVA_OPTS", "-Xms24m -Xmn4m -Xmx24m");

    /** Some thousand fit. */
    private static final int MOST_FILES = 100_000;

    /** A minute of garbage collections before it ends, and the time to fill the heap. */
    private static final long END_SECONDS = 150;

    private static final long UPLOADED_SECONDS = 120;

    @TempDir
    private Path scratch;

    @Test
    @Timeout(600)
    void close_stagedUntilTheHeapIsUsedUp_endsTheMountAndTheNextUploadsAll() throws Exception {
        try (TestBucket bucket = new TestBucket(SERVER);
                S3Front front = new S3Front(SERVER)) {
            Set<String> staged = new HashSet<>();
            try (MountedBucket mount = mount(SMALL_HEAP, front, bucket)) {
                Path folder = Files.createDirectory(mount.path().resolve("d"));
                front.treat(request ->
                        request.isUpload() ? S3Front.Treatment.answer(503, "SlowDown") : S3Front.Treatment.PASS);
                stageUntilItEnds(folder, staged);

                assertThat(mount.process().waitFor(END_SECONDS, SECONDS))
                        .as(mount.log())
                        .isTrue();
                assertThat(mount.process().exitValue()).isEqualTo(3); // the status of ExitOnOutOfMemoryError
                assertThat(mount.log()).contains("The Java heap is exhausted");
            }
            assertThat(staged).isNotEmpty();

            front.passAll();
            try (MountedBucket mount = mount(Map.of(), front, bucket)) {
                try (Stream<Path> shown = Files.list(mount.path().resolve("d"))) {
                    assertThat(shown.map(file -> file.getFileName().toString()).collect(Collectors.toSet()))
                            .containsAll(staged);
                }
                long deadline = System.nanoTime() + SECONDS.toNanos(UPLOADED_SECONDS);
                while (!bucket.keys("d/")
                        .containsAll(staged.stream().map("d/"::concat).toList())) {
                    assertThat(System.nanoTime()).as(mount.log()).isLessThan(deadline);
                    Thread.sleep(100);
                }
            }
            for (String name : staged) {
                assertThat(bucket.get("d/" + name))
                        .asString(StandardCharsets.UTF_8)
                        .isEqualTo(name);
            }
        }
    }

    private MountedBucket mount(Map<String, String> environment, S3Front front, TestBucket bucket) throws Exception {
        MountedBucket.Launch launch = new MountedBucket.Launch(List.of(), environment);
        return MountedBucket.mount(launch, front.fronted(), bucket.name(), scratch, "-o", "write.close=staged");
    }

    private static void stageUntilItEnds(Path folder, Set<String> staged) {
        try {
            for (int i = 0; i < MOST_FILES; i++) {
                String name = "f" + i;
                Files.writeString(folder.resolve(name), name);
                staged.add(name);
            }
        } catch (IOException e) {
            // it has ended, or is about to
        }
    }
}
