package io.penstock.filesystem;

import io.penstock.cache.PageCache;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestTier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random changes of names and attributes, of files and directories that compete for the same names; failed requests,
 * lost responses, changes by other nodes, remounts and crashes. After each step all names, attributes and contents,
 * every open file and every object must be as in {@link ReferenceTree}. Each run takes other sequences:
 * {@code -Dpenstock.sequences=N} takes N of them, and {@code -Dpenstock.seed=S} the one of that seed.
 * {@link WritingModelTest} does the same for writes.
 */
@Timeout(1200)
class NamesModelTest {
    private static final int STEPS = 16;
    private static final int SEQUENCES = TestTier.choose("penstock.sequences", 300, 10_000);

    /** A folder in memory, if there is one: an fsync there does not wait for a disk. */
    private static final Path MEMORY = Path.of("/dev/shm");

    @TempDir
    private static Path folder;

    @Test
    void anySteps_areAsInTheReference() throws Exception {
        try (PageCache cache = Mounted.cache(folder.resolve("cache"))) {
            Seeded.checkOthers("NamesModelTest", SEQUENCES, random -> {
                boolean byInode = random.nextBoolean();
                List<NamesStep> taken = new ArrayList<>();
                Throwable failure = run(cache, byInode, taken, random);
                if (failure != null) {
                    List<NamesStep> shortest = shorten(cache, byInode, taken);
                    throw new AssertionError("after " + shortest + ": " + run(cache, byInode, shortest), failure);
                }
            });
        }
    }

    /** Removes all steps that the failure does not need. */
    private static List<NamesStep> shorten(PageCache cache, boolean byInode, List<NamesStep> steps) {
        List<NamesStep> shortest = new ArrayList<>(steps);
        for (int i = shortest.size() - 1; i >= 0; i--) {
            NamesStep left = shortest.remove(i);
            if (run(cache, byInode, shortest) == null) {
                shortest.add(i, left);
            }
        }
        return shortest;
    }

    /** @param taken receives the steps that were taken */
    private static @Nullable Throwable run(
            PageCache cache, boolean byInode, List<NamesStep> taken, RandomGenerator random) {
        return run(cache, byInode, run -> {
            for (int i = 0; i < STEPS; i++) {
                NamesStep step = new NamesGenerator(random, run.reference()).next();
                taken.add(step);
                run.take(step);
            }
        });
    }

    private static @Nullable Throwable run(PageCache cache, boolean byInode, List<NamesStep> steps) {
        return run(cache, byInode, run -> {
            for (NamesStep step : steps) {
                run.take(step);
            }
        });
    }

    private static @Nullable Throwable run(PageCache cache, boolean byInode, Steps steps) {
        try (NamesRun run = new NamesRun(cache, Files.isWritable(MEMORY) ? MEMORY : folder, byInode)) {
            steps.take(run);
        } catch (Exception | AssertionError e) {
            return e;
        }
        return null;
    }

    private interface Steps {
        void take(NamesRun run) throws Exception;
    }
}
