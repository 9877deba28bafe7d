package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.cache.disk.CacheFolder.Audience;
import io.penstock.core.ObjectVersion;
import io.penstock.prefetch.ObjectReader;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.staging.StagingFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of waiting files, for a bucket that cannot be reached. */
@Timeout(60)
class RecoverCommandTest {
    private static final String NAMESPACE = "memory/bucket";
    private static final int MIB = 1 << 20;

    @TempDir
    private Path folder;

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final ObjectVersion version = store.putTestData("f", 4 * MIB);
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void list_ofACacheThatIsLargerThanAllowed_leavesAllOfIt() throws Exception {
        fill(new Audience.Anyone());

        assertThat(list("--cache-size", "1MiB", "--cache-min-free", "1000TiB")).isZero();

        assertThat(out.toString()).startsWith("No files are waiting in " + folder.resolve("staging"));
        assertThat(cachedBytes(new Audience.Anyone())).isEqualTo(4 * MIB);
    }

    @Test
    void list_byAnotherUserThanTheCachesOwn_leavesItToThatOne() throws Exception {
        fill(new Audience.Only("ann"));

        assertThat(list()).isZero();
        assertThat(list("--cache-private")).isZero();

        assertThat(cachedBytes(new Audience.Only("ann"))).isEqualTo(4 * MIB);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--list", "--json", "--discard"})
    void recover_anUnusableStagingFolder_doesNotSayThatNothingWaits(String option) throws Exception {
        Files.createFile(folder.resolve("staging"));

        assertThat(recover(option)).isEqualTo(ExitCode.FAILED);

        assertThat(out.toString()).isEmpty();
        assertThat(err.toString()).contains("the staging folder " + folder.resolve("staging") + " cannot be used");
    }

    @Test
    void list_ofFilesThatWait_hasAnExitCodeOfItsOwn() throws Exception {
        Path staging = folder.resolve("staging");
        StagingFolder.open(staging).close();
        Files.writeString(staging.resolve("0123456789abcdef.journal.unreadable"), "not a journal");
        assertThat(recover("--list")).isEqualTo(ExitCode.FILES_WAIT);
        assertThat(recover("--json")).isEqualTo(ExitCode.FILES_WAIT);
        assertThat(out.toString()).contains("cannot be read");
    }

    @Test
    void recover_besideAMount_listsAndLeavesTheFoldersAlone() throws Exception {
        try (PageCache _ = open(new Audience.Anyone())) { // as a mount opens it
            assertThat(list()).isZero();
            assertThat(out.toString()).startsWith("No files are waiting in " + folder.resolve("staging"));
            assertThat(recover("--discard")).isEqualTo(ExitCode.FAILED);
            assertThat(err.toString()).contains("unmount first; --list and --export work while it is mounted");
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.map(Path::getFileName).map(Path::toString)).containsExactlyInAnyOrder("cache", "staging");
        }
    }

    private int list(String... options) throws IOException {
        Files.createDirectories(folder.resolve("staging"));
        return recover(options);
    }

    private int recover(String... options) {
        List<String> arguments = new ArrayList<>(List.of("recover", "bucket", "--memory", "64MiB", "--anonymous"));
        arguments.addAll(List.of("--endpoint", "http://127.0.0.1:1", "--region", "us-east-1"));
        arguments.addAll(List.of("--cache", folder.resolve("cache").toString()));
        arguments.addAll(List.of("--write-staging", folder.resolve("staging").toString()));
        arguments.addAll(List.of(options));
        return Main.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments.toArray(String[]::new));
    }

    private PageCache open(Audience audience) throws IOException {
        return PageCache.open(new CacheConfig(folder.resolve("cache"), 64 * MIB, 0, 16 * MIB, audience));
    }

    private void fill(Audience audience) throws Exception {
        try (PageCache cache = open(audience);
                PageFetcher fetcher = new PageFetcher(store, cache, NAMESPACE, ReadaheadConfig.DEFAULT);
                ObjectReader reader = fetcher.open(version)) {
            ByteBuffer to = ByteBuffer.allocate((int) version.size());
            assertThat(reader.read(0, to, null, true)).isEqualTo(to.capacity());
        }
    }

    private long cachedBytes(Audience audience) throws IOException {
        try (PageCache cache = open(audience)) {
            return cache.residency(NAMESPACE, version).diskBytes();
        }
    }
}
