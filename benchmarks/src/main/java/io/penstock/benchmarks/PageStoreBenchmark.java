package io.penstock.benchmarks;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageCache;
import io.penstock.cache.Urgency;
import io.penstock.core.ObjectVersion;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * The cost of a page between the socket and NVMe and back: direct against buffered I/O, 1 MiB at a time by four
 * threads, and then the page cache itself. Each row: MiB/s, CPU seconds of this process per GiB, and how much of the
 * file the kernel's page cache holds afterwards. Run it as a program, with an empty folder on the disk to be measured;
 * needs the commands dd and fincore.
 */
public final class PageStoreBenchmark {
    private static final int PAGE = PageCache.PAGE_SIZE;
    private static final int THREADS = 4;
    private static final int ALIGNMENT = 4096;
    private static final OpenOption DIRECT = direct();

    private final Path folder;
    private final Path file;
    private final int pages;
    private final List<ByteBuffer> buffers = new ArrayList<>();

    private PageStoreBenchmark(Path folder, int pages) {
        this.folder = folder;
        this.file = folder.resolve("page-store-benchmark");
        this.pages = pages;
        for (int i = 0; i <= THREADS; i++) {
            buffers.add(ByteBuffer.allocateDirect(PAGE + ALIGNMENT)
                    .alignedSlice(ALIGNMENT)
                    .slice(0, PAGE));
        }
    }

    /** @param args the folder, and how many MiB (2048) */
    public static void main(String[] args) throws Exception {
        int pages = args.length > 1 ? Integer.parseInt(args[1]) : 2048;
        PageStoreBenchmark benchmark = new PageStoreBenchmark(Path.of(args[0]), pages);
        System.out.println("| what | MiB/s | CPU s/GiB | MiB in the kernel's page cache |");
        System.out.println("|---|---|---|---|");
        try {
            for (int round = 0; round < 2; round++) { // the first warms up
                benchmark.raw();
            }
            for (int round = 0; round < 2; round++) {
                Files.deleteIfExists(benchmark.file);
                benchmark.cache();
            }
        } finally {
            Files.deleteIfExists(benchmark.file);
        }
    }

    private interface PageWork {
        void run(FileChannel channel, ByteBuffer buffer, int page) throws Exception;
    }

    private void raw() throws Exception {
        ByteBuffer source = buffers.getLast();
        PageWork copy = (channel, buffer, page) -> buffer.put(0, source, 0, PAGE);
        PageWork checksum = (channel, buffer, page) -> {
            copy.run(channel, buffer, page);
            new CRC32C().update(buffer.duplicate());
        };
        PageWork write = (channel, buffer, page) -> {
            checksum.run(channel, buffer, page);
            transferred(channel.write(buffer.duplicate(), (long) page * PAGE));
        };
        PageWork read = (channel, buffer, page) -> transferred(channel.read(buffer.duplicate(), (long) page * PAGE));

        Set<OpenOption> writing = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        run("copy", writing, copy);
        run("copy, CRC32C", writing, checksum);
        Files.delete(file);
        sparse();
        run("copy, CRC32C, write direct", Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, DIRECT), write);
        forget();
        run("read direct", Set.of(StandardOpenOption.READ, DIRECT), read);
        Files.delete(file);
        sparse();
        run("copy, CRC32C, write buffered and fdatasync", writing, write);
        forget();
        run("read buffered, cold", Set.of(StandardOpenOption.READ), read);
        run("read buffered, from the page cache", Set.of(StandardOpenOption.READ), read);
    }

    /** As the cache makes its files. */
    private void sparse() throws Exception {
        try (RandomAccessFile created = new RandomAccessFile(file.toFile(), "rw")) {
            created.setLength((long) pages * PAGE);
        }
    }

    private void run(String what, Set<OpenOption> options, PageWork work) throws Exception {
        try (FileChannel channel = FileChannel.open(file, options)) {
            measure(what, () -> {
                eachPage((buffer, page) -> work.run(channel, buffer, page));
                if (options.contains(StandardOpenOption.WRITE)) {
                    channel.force(false);
                }
                return null;
            });
        }
    }

    private interface BufferWork {
        void run(ByteBuffer buffer, int page) throws Exception;
    }

    private void eachPage(BufferWork work) throws Exception {
        AtomicInteger next = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> running = new ArrayList<>();
            for (ByteBuffer buffer : buffers.subList(0, THREADS)) {
                running.add(threads.submit((Callable<?>) () -> {
                    for (int page = next.getAndIncrement(); page < pages; page = next.getAndIncrement()) {
                        work.run(buffer, page);
                    }
                    return null;
                }));
            }
            for (Future<?> thread : running) {
                thread.get();
            }
        }
    }

    /**
     * The page cache: filled as fetches would fill it, written by write-behind, and read by whole pages after a
     * restart.
     */
    private void cache() throws Exception {
        ObjectVersion version = new ObjectVersion("object", "\"1\"", (long) pages * PAGE, Instant.EPOCH);
        Path cacheFolder = folder.resolve("page-store-benchmark-cache");
        CacheConfig config = new CacheConfig(cacheFolder, 4L * pages * PAGE, 0, 256L * PAGE);
        PageCache[] cache = {PageCache.open(config)};
        ObjectVersion other = new ObjectVersion("other", "\"1\"", version.size(), Instant.EPOCH);
        try (CachedObject object = cache[0].open("benchmark", other)) { // touches the cache's memory for the first time
            eachPage((buffer, page) -> fill(cache[0], object, page));
        }
        measure("page cache: claim, fill (a copy), write behind, close", () -> {
            try (CachedObject object = cache[0].open("benchmark", version)) {
                eachPage((buffer, page) -> fill(cache[0], object, page));
            }
            cache[0].close();
            return null;
        });
        System.out.println(cache[0].statistics());
        cache[0] = PageCache.open(config);
        try (CachedObject object = cache[0].open("benchmark", version)) {
            for (String what : List.of("first read after a restart: verified", "second read")) {
                measure("page cache: " + what, () -> {
                    eachPage((buffer, page) -> {
                        var _ = object.read(
                                (long) page * PAGE, buffer.duplicate().clear());
                    });
                    return null;
                });
                System.out.println(cache[0].statistics());
            }
            for (int round = 0; round < 2; round++) {
                forget(cacheFolder);
                measure("page cache: one stream, 128 KiB reads, kernel cold", () -> stream(object));
            }
        }
        System.out.println(cache[0].statistics());
        cache[0].close();
        new ProcessBuilder("rm", "-r", cacheFolder.toString()).start().waitFor();
    }

    /** As fast as the disk takes it, which a network that is faster would not wait for. */
    private void fill(PageCache cache, CachedObject object, int page) throws InterruptedException {
        while (page % 16 == 0 && unwritten(cache) > 64) {
            Thread.sleep(10);
        }
        Fill fill = object.claim(page, page + 1L, Urgency.DEMAND);
        if (fill != null) {
            fill.buffer().put(0, buffers.getLast(), 0, PAGE);
            fill.filled(PAGE);
        }
    }

    private Void stream(CachedObject object) throws Exception {
        ByteBuffer buffer = buffers.getFirst();
        for (long position = 0; position < object.version().size(); position += buffer.position()) {
            int count = object.read(position, buffer.clear().limit(128 << 10));
            if (count <= 0) {
                throw new IllegalStateException("not cached: " + position);
            }
        }
        return null;
    }

    private static long unwritten(PageCache cache) {
        var statistics = cache.statistics();
        return statistics.filledPages() - statistics.unstoredPages() - statistics.diskBytes() / PAGE;
    }

    private void measure(String what, Callable<?> work) throws Exception {
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        work.call();
        double seconds = (System.nanoTime() - start) / 1e9;
        double cpuSeconds = (process.getProcessCpuTime() - cpu) / 1e9;
        System.out.printf(
                "| %s | %,.0f | %.3f | %d |%n", what, pages / seconds, cpuSeconds / pages * 1024, residentMiB());
    }

    private long residentMiB() throws Exception {
        long bytes = 0;
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                Process fincore = new ProcessBuilder("fincore", "-b", "-n", "-o", "RES", each.toString()).start();
                try (var output = fincore.inputReader()) {
                    String line = output.readLine();
                    bytes += line == null ? 0 : Long.parseLong(line.strip());
                }
            }
        }
        return bytes >> 20;
    }

    /** Takes the file out of the kernel's page cache. */
    private void forget() throws Exception {
        forget(file);
    }

    private static void forget(Path path) throws Exception {
        if (Files.isDirectory(path)) {
            try (DirectoryStream<Path> content = Files.newDirectoryStream(path)) {
                for (Path each : content) {
                    forget(each);
                }
            }
            return;
        }
        new ProcessBuilder("dd", "if=" + path, "iflag=nocache", "count=0", "status=none")
                .inheritIO()
                .start()
                .waitFor();
    }

    private static void transferred(int bytes) {
        if (bytes != PAGE) {
            throw new IllegalStateException("only " + bytes + " bytes were transferred");
        }
    }

    private static OpenOption direct() {
        try { // by name: javac warns of the package, and no option turns that off
            return (OpenOption) Class.forName("com.sun.nio.file.ExtendedOpenOption")
                    .getField("DIRECT")
                    .get(null);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("this Java has no direct I/O", e);
        }
    }
}
