package io.penstock.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.testing.Seeded;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random calls, changes by other nodes and passing time, checked against {@link BucketHistory}. Each result was true at
 * some time within the TTL. A handle reads its own version or ESTALE. A name that a handle found stale shows its
 * current state. Names are few and similar, so that they collide.
 */
@Timeout(120)
class FileSystemModelTest {
    private static final List<String> NAMES = List.of("a", "a-", "b");
    private static final List<String> PATHS = paths();
    private static final int SLOTS = 3;

    @TempDir
    private static Path folder;

    private sealed interface Step {
        record Put(String key) implements Step {}

        record Delete(String key) implements Step {}

        record Pass(Duration time) implements Step {}

        record Stat(String path) implements Step {}

        record Ls(String path) implements Step {}

        record Open(int slot, String path) implements Step {}

        record Read(int slot) implements Step {}

        record Close(int slot) implements Step {}
    }

    @Test
    void anySteps_showOnlyWhatWasTrueWithinTheTtl() throws Exception {
        try (PageCache cache = Mounted.cache(folder)) {
            Seeded.check(300, random -> {
                Keeping keeping = random.nextBoolean() ? Keeping.KEEP : Keeping.IGNORE;
                List<Step> steps = new ArrayList<>();
                for (int i = 0; i < 60; i++) {
                    steps.add(step(random));
                }
                Throwable failure = run(cache, keeping, steps);
                if (failure != null) {
                    List<Step> shortest = shorten(cache, keeping, steps);
                    throw new AssertionError(
                            keeping + ", after " + shortest + ": " + run(cache, keeping, shortest), failure);
                }
            });
        }
    }

    /** Removes all steps that the failure does not need. */
    private static List<Step> shorten(PageCache cache, Keeping keeping, List<Step> steps) {
        List<Step> shortest = new ArrayList<>(steps);
        for (int i = shortest.size() - 1; i >= 0; i--) {
            Step left = shortest.remove(i);
            if (run(cache, keeping, shortest) == null) {
                shortest.add(i, left);
            }
        }
        return shortest;
    }

    private static @Nullable Throwable run(PageCache cache, Keeping keeping, List<Step> steps) {
        try (Run run = new Run(cache, keeping)) {
            for (Step step : steps) {
                run.apply(step);
            }
            run.apply(new Step.Pass(Mounted.TTL));
            for (String path : PATHS) {
                assertThat(run.stat(path).what).as(path).isEqualTo(run.history.now(path));
            }
        } catch (Exception | AssertionError e) {
            return e;
        }
        return null;
    }

    private static Step step(RandomGenerator random) {
        String path = PATHS.get(random.nextInt(PATHS.size()));
        int slot = random.nextInt(SLOTS);
        return switch (random.nextInt(14)) {
            case 0, 1, 2 -> new Step.Put(key(random, path));
            case 3 -> new Step.Delete(path);
            case 4 -> new Step.Delete(key(random, path));
            case 5 -> new Step.Pass(Duration.ofSeconds(random.nextInt(1, 8)));
            case 6 -> new Step.Pass(Duration.ofSeconds(random.nextInt(8, 70)));
            case 7 -> new Step.Stat(path);
            case 8 -> new Step.Ls(random.nextBoolean() ? "" : path);
            case 9 -> new Step.Open(slot, path);
            case 10, 11, 12 -> new Step.Read(slot);
            default -> new Step.Close(slot);
        };
    }

    /** Mostly the path itself, sometimes a key that is awkward as a path. */
    private static String key(RandomGenerator random, String path) {
        return switch (random.nextInt(20)) {
            case 0 -> path + "/";
            case 1 -> path + "//x";
            case 2 -> path + "/./x";
            case 3 -> path + "/..";
            case 4 -> "/" + path;
            default -> path;
        };
    }

    private static List<String> paths() {
        List<String> paths = new ArrayList<>(NAMES);
        for (String parent : NAMES) {
            NAMES.forEach(name -> paths.add(parent + "/" + name));
        }
        return paths;
    }

    /** The state in which a path was found, and how old that may be. */
    private record Seen(String what, Duration age, long inode) {}

    private record Open(OpenFile file, String path, String etag) {}

    private static final class Run implements AutoCloseable {
        private final Mounted m;
        private final BucketHistory history;
        private final Map<String, String> contents = new HashMap<>();
        private final Map<Integer, Open> open = new HashMap<>();
        private int puts;

        Run(PageCache cache, Keeping keeping) {
            m = Mounted.readOnly(cache, keeping);
            history = new BucketHistory(m.clock.instant());
        }

        void apply(Step step) throws Exception {
            switch (step) {
                case Step.Put(String key) -> {
                    String content = key + " " + puts++;
                    String etag = m.bucket.put(key, content).etag();
                    contents.put(etag, content);
                    history.put(m.clock.instant(), key, etag);
                }
                case Step.Delete(String key) -> {
                    m.bucket.delete(key);
                    history.delete(m.clock.instant(), key);
                }
                case Step.Pass(Duration time) -> m.clock.advance(time);
                case Step.Stat(String path) -> stat(path);
                case Step.Ls(String path) -> ls(path);
                case Step.Open(int slot, String path) -> open(slot, path);
                case Step.Read(int slot) -> read(slot);
                case Step.Close(int slot) -> close(slot);
            }
        }

        /** Looks it up, and checks the result. */
        Seen stat(String path) throws ErrnoException {
            Seen seen = see(path);
            assertThat(history.within(m.clock.instant(), seen.age, path))
                    .as(path)
                    .contains(seen.what);
            return seen;
        }

        private Seen see(String path) throws ErrnoException {
            try {
                Attributes attributes = m.lookup(path);
                long inode = attributes.inode();
                if (attributes.isDirectory()) {
                    return new Seen(BucketHistory.DIRECTORY, Mounted.TTL, inode);
                }
                String etag = new String(m.fs.getxattr(inode, "user.penstock.etag"), StandardCharsets.UTF_8);
                assertThat(contents.get(etag)).isNotNull().hasSize((int) attributes.size());
                return new Seen(etag, Mounted.TTL, inode);
            } catch (ErrnoException e) {
                // A file on the path is valid as long as any file.
                assertThat(e.errno()).isIn(Errno.ENOENT, Errno.ENOTDIR);
                // Twice as long while a directory is listed again; TreeTest covers these cases.
                Duration age = e.errno() == Errno.ENOENT ? Mounted.NEGATIVE_TTL.multipliedBy(2) : Mounted.TTL;
                return new Seen(BucketHistory.ABSENT, age, 0);
            }
        }

        private void ls(String path) throws ErrnoException {
            Seen seen = path.isEmpty() ? new Seen(BucketHistory.DIRECTORY, Mounted.TTL, FileSystem.ROOT) : stat(path);
            if (!seen.what.equals(BucketHistory.DIRECTORY)) {
                return;
            }
            List<String> listed = m.ls(seen.inode, 2);
            assertThat(listed).doesNotHaveDuplicates().isSubsetOf(NAMES);
            for (String name : NAMES) {
                String child = path.isEmpty() ? name : path + "/" + name;
                Set<String> believable = history.within(m.clock.instant(), Mounted.TTL, child);
                if (listed.contains(name)) {
                    assertThat(believable).as("listed: " + child).isNotEqualTo(Set.of(BucketHistory.ABSENT));
                    assertThat(stat(child).what).as("stat of listed: " + child).isNotEqualTo(BucketHistory.ABSENT);
                } else {
                    assertThat(believable).as("not listed: " + child).contains(BucketHistory.ABSENT);
                }
            }
        }

        private void open(int slot, String path) throws ErrnoException {
            close(slot);
            Seen seen = stat(path);
            if (contents.containsKey(seen.what)) {
                open.put(slot, new Open(m.fs.open(seen.inode, 0), path, seen.what));
            }
        }

        private void read(int slot) throws ErrnoException {
            Open handle = open.get(slot);
            if (handle == null) {
                return;
            }
            try {
                assertThat(m.read(handle.file)).isEqualTo(contents.get(handle.etag));
            } catch (ErrnoException e) {
                assertThat(e.errno()).isEqualTo(Errno.ESTALE);
                assertThat(history.now(handle.path))
                        .as("not stale: " + handle.path)
                        .isNotEqualTo(handle.etag);
                assertThat(see(handle.path).what).as("seen again").isNotEqualTo(handle.etag);
            }
        }

        private void close(int slot) {
            Open handle = open.remove(slot);
            if (handle != null) {
                m.fs.release(handle.file.handle());
            }
        }

        @Override
        public void close() {
            List.copyOf(open.keySet()).forEach(this::close);
            m.close();
        }
    }
}
