package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache.Environment;
import io.penstock.cache.disk.ObjectFiles;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cache whose process or machine stops without warning. */
@Timeout(120)
final class CrashTest {
    private static final long SEED = 20_260_102;

    /** More than fits, so that pages are being evicted when the process is killed. */
    private static final List<TestObject> OBJECTS = IntStream.range(0, 40)
            .mapToObj(i -> new TestObject("object-" + i, i % 2 == 0 ? 3L * PAGE_SIZE + 777L * i : 9_999L * i))
            .toList();

    @TempDir
    Path directory;

    static PageCache open(Path directory) throws IOException {
        CacheConfig config = new CacheConfig(directory, 24L * PAGE_SIZE, 0, 8L * PAGE_SIZE);
        return PageCache.open(config, new Environment(ObjectFiles::in, System::nanoTime, 2));
    }

    /** The process that is killed: fills random pages forever. */
    static final class Victim {
        private Victim() {}

        public static void main(String[] arguments) throws Exception {
            Random random = new Random(Long.parseLong(arguments[1]));
            try (PageCache cache = open(Path.of(arguments[0]))) {
                for (int filled = 0; ; filled++) {
                    TestObject object = OBJECTS.get(random.nextInt(OBJECTS.size()));
                    object.fillAll(cache);
                    if (filled == 20) {
                        System.out.println("filling"); // the signal for the parent
                    }
                }
            }
        }
    }

    @Test
    void open_afterKill_hasOnlyRightPages() throws Exception {
        Random random = new Random(SEED);
        for (int round = 0; round < 5; round++) {
            Process victim = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElseThrow(),
                            "-XX:TieredStopAtLevel=1",
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Victim.class.getName(),
                            directory.toString(),
                            Long.toString(random.nextLong()))
                    .redirectError(new File("/dev/null"))
                    .start();
            try (var output = victim.inputReader()) {
                assertThat(output.readLine()).isEqualTo("filling");
                victim.waitFor(random.nextInt(300), TimeUnit.MILLISECONDS); // a random moment
            } finally {
                victim.destroyForcibly().waitFor();
            }
            try (PageCache cache = open(directory)) {
                assertThat(readablePages(cache)).as("round %s", round).isPositive();
                assertThat(cache.statistics().corruptPages())
                        .as("a record never comes before its page, nor stays after it")
                        .isZero();
                assertThat(cache.statistics().diskBytes()).isLessThanOrEqualTo(24L * PAGE_SIZE);
            }
        }
    }

    @Test
    void open_afterAPowerCut_hasOnlyRightPages() throws Exception {
        for (int round = 0; round < 5; round++) {
            Random random = new Random(SEED + round);
            try (PageCache cache = open(directory)) {
                for (int i = 0; i < 12; i++) {
                    OBJECTS.get(random.nextInt(OBJECTS.size())).store(cache);
                }
            }
            loseUnsynced(random);
            try (PageCache cache = open(directory)) {
                readablePages(cache); // compares each
                assertThat(cache.statistics().diskErrors()).isZero();
            }
        }
    }

    /**
     * The effect of a power cut on unsynced files: any block may have its old content, here zeros, a file may be short,
     * and the index may end anywhere, possibly in zeros.
     */
    private void loseUnsynced(Random random) throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("objects"))) {
            for (Path path : all.filter(Files::isRegularFile).sorted().toList()) {
                damage(path, random);
            }
        }
        try (FileChannel index = FileChannel.open(directory.resolve("index.log"), StandardOpenOption.WRITE)) {
            long size = index.size();
            long kept = size - random.nextLong(Math.max(1, size / 4));
            index.truncate(kept);
            if (random.nextBoolean()) {
                index.write(java.nio.ByteBuffer.allocate(4096), kept);
            }
        }
    }

    private static void damage(Path path, Random random) throws IOException {
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
            long size = file.size();
            for (long block = 0; block < size; block += 4096) {
                if (random.nextInt(1000) == 0) {
                    int length = (int) Math.min(4096, size - block);
                    file.write(java.nio.ByteBuffer.allocate(length), block);
                }
            }
            if (random.nextInt(10) == 0) {
                file.truncate(random.nextLong(size));
            }
        }
    }

    private static int readablePages(PageCache cache) {
        return OBJECTS.stream()
                .mapToInt(object -> object.readablePages(cache).size())
                .sum();
    }
}
