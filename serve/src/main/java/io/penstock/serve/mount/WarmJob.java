package io.penstock.serve.mount;

import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Answer;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.Pace;
import io.penstock.prefetch.Warmup;
import io.penstock.prefetch.Warmup.Outcome;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fetches files into the cache. */
final class WarmJob extends FileJob {
    private static final Logger log = LoggerFactory.getLogger(WarmJob.class);

    private final Options options;

    /** While it works. */
    private volatile @Nullable Warmup warmup;

    /**
     * @param bandwidth the maximum in bytes per second; 0 for no limit
     * @param pinUntil milliseconds since 1970, or {@link Pins#UNTIL_UNPINNED}; null for no pin
     */
    record Options(long bandwidth, @Nullable Long pinUntil) {}

    WarmJob(MountedModules modules, FileSelection files, Options options) {
        super("warm", modules, files);
        this.options = options;
    }

    @Override
    long bytes() {
        Warmup running = warmup;
        return running == null ? 0 : running.bytes();
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        Thread counting = null;
        try (Warmup bringing =
                new Warmup(modules.fetcher(), new Pace(options.bandwidth(), System::nanoTime), this::done)) {
            warmup = bringing;
            if (options.pinUntil() == null) {
                counting = Thread.ofPlatform().daemon().name("count").start(this::countBeside);
            } else {
                String objection = objection(count(), modules.cache().pins().room());
                if (objection != null) {
                    throw new RefusedException("nothing was pinned or fetched: " + objection);
                }
            }
            super.work();
            bringing.finish();
        } finally {
            if (counting != null) {
                counting.interrupt();
                counting.join();
            }
        }
    }

    @Override
    public void file(ObjectVersion version) throws IOException, InterruptedException {
        Long until = options.pinUntil();
        if (!hasBytes(version)) {
            return;
        } else if (until == null || pin(version, until)) {
            Objects.requireNonNull(warmup).bring(version);
        } else {
            done(version, Outcome.NO_ROOM, null);
        }
    }

    /** False if there is no room for it. */
    private boolean pin(ObjectVersion version, long until) throws IOException {
        boolean isNew = !modules.cache().pins().isPinned(modules.namespace(), version);
        if (!modules.cache().pins().pin(modules.namespace(), version, until)) {
            return false;
        }
        if (isNew) {
            // A small file may share a pack with files that are not pinned, and all of them would be retained.
            modules.cache().storeAgain(modules.namespace(), version);
        }
        return true;
    }

    /** Removes the pin, because a missing file is not pinned. */
    private void unpin(ObjectVersion version) {
        if (options.pinUntil() == null) {
            return;
        }
        try {
            boolean _ = modules.cache().pins().unpin(modules.namespace(), version.key());
        } catch (IOException e) {
            log.debug("Cannot unpin {}", version.key(), e);
        }
    }

    /** Counts the files and their bytes. */
    private final class Count implements FileSelection.Visitor {
        private final ToPin toPin = new ToPin(modules.cache().pins().room().versionsLeft());
        private long number;
        private long bytes;

        @Override
        public void file(ObjectVersion version) {
            if (!hasBytes(version)) {
                return;
            }
            number++;
            bytes += version.size();
            if (options.pinUntil() != null && !modules.cache().pins().isPinned(modules.namespace(), version)) {
                toPin.add(version);
            }
        }

        @Override
        public void written(String key) {}

        @Override
        public void problem(String path, String why) {}
    }

    /** Versions that are not pinned yet: as many as the heap has room for, plus one if there are too many. */
    static final class ToPin {
        private final long most;

        /** Without duplicates: paths may overlap. */
        private final Set<ObjectVersion> versions = new HashSet<>();

        /** Their size on disk. */
        private long bytes;

        ToPin(long most) {
            this.most = most;
        }

        void add(ObjectVersion version) {
            if (!areTooMany() && versions.add(version)) {
                bytes += Pins.bytesOnDisk(version.size());
            }
        }

        int number() {
            return versions.size();
        }

        private boolean areTooMany() {
            return number() > most;
        }
    }

    private ToPin count() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        Count count = new Count();
        files.visit(modules, count);
        total(count.number, count.bytes);
        return count.toPin;
    }

    private void countBeside() {
        try {
            var _ = count();
        } catch (RefusedException | ObjectStoreException | IOException e) {
            log.debug("Cannot count the files to warm", e); // the job itself fails the same way
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Why they cannot all be pinned; null if they can. */
    static @Nullable String objection(ToPin toPin, Pins.Room room) {
        if (toPin.areTooMany()) {
            return String.format(
                    Locale.ROOT,
                    "too many files: the heap has room for %,d more pins; pin fewer, unpin others, or mount with"
                            + " a larger heap, such as PENSTOCK_JAVA_OPTS=-Xmx4g",
                    toPin.most);
        } else if (toPin.bytes > room.left()) {
            return "not enough room: " + ByteSizes.about(toPin.bytes) + " needed, " + ByteSizes.about(room.pinned())
                    + " already pinned, " + ByteSizes.about(room.most()) + " allowed for pins"
                    + (room.isDiskShort()
                            ? " (15/16 of the disk, minus cache.min-free); unpin something, or free space on"
                                    + " the disk"
                            : " (15/16 of cache.size); unpin something, or raise cache.size");
        }
        return null;
    }

    private void done(ObjectVersion version, Outcome outcome, @Nullable Exception why) {
        done(outcome.name().toLowerCase(Locale.ROOT));
        switch (outcome) {
            case CACHED, FETCHED -> {}
            case CHANGED -> {
                unpin(version);
                Answer _ = forget(version);
                problem(shown(version.key()), CHANGED);
            }
            case GONE -> {
                unpin(version);
                Answer _ = forget(version);
                problem(shown(version.key()), GONE);
            }
            case NO_ROOM ->
                problem(shown(version.key()), noRoom(modules.cache().pins().room()));
            case NOT_STORED -> problem(shown(version.key()), "the cache disk could not store all of it");
            case FAILED ->
                problem(shown(version.key()), why == null ? "the server failed" : String.valueOf(why.getMessage()));
        }
    }

    private static String noRoom(Pins.Room room) {
        if (room.versionsLeft() == 0) {
            return "not enough heap for another pin";
        }
        return room.isDiskShort()
                ? "no room on the cache disk, which is full except for cache.min-free"
                : "no room left within cache.size";
    }
}
