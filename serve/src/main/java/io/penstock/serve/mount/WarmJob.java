package io.penstock.serve.mount;

import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Inode.Place;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.Pace;
import io.penstock.prefetch.Warmup;
import io.penstock.prefetch.Warmup.Outcome;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings files into the cache. */
final class WarmJob extends Job {
    private static final Logger log = LoggerFactory.getLogger(WarmJob.class);

    /** Problems of files that are not fetched. */
    static final String CHANGED = "changed in the bucket since it was listed; warm it again";

    static final String GONE = "no longer in the bucket";

    private final Contents contents;
    private final FileSelection files;
    private final Options options;
    private volatile @Nullable Warmup warmup;

    /**
     * @param bandwidth the maximum in bytes per second; 0 for no limit
     * @param pinUntil milliseconds since 1970, or {@link Pins#UNTIL_UNPINNED}; null for no pin
     */
    record Options(long bandwidth, @Nullable Long pinUntil) {}

    WarmJob(Contents contents, FileSelection files, Options options) {
        super("warm", files.paths());
        this.contents = contents;
        this.files = files;
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
                new Warmup(contents.fetcher(), new Pace(options.bandwidth(), System::nanoTime), this::done)) {
            warmup = bringing;
            if (options.pinUntil() == null) {
                counting = Thread.ofPlatform().daemon().name("count").start(this::countBeside);
            } else {
                String objection = objection(count(), contents.cache().pins().room());
                if (objection != null) {
                    throw new RefusedException("nothing was pinned or fetched: " + objection);
                }
            }
            files.visit(contents, new Bringing(bringing));
            bringing.finish();
        } finally {
            if (counting != null) {
                counting.interrupt();
                counting.join();
            }
        }
    }

    private final class Bringing implements FileSelection.Visitor {
        private final Warmup bringing;

        Bringing(Warmup bringing) {
            this.bringing = bringing;
        }

        @Override
        public void file(ObjectVersion version) throws IOException, InterruptedException {
            Long until = options.pinUntil();
            if (!hasBytes(version)) {
                return;
            } else if (until == null || pin(version, until)) {
                bringing.bring(version);
            } else {
                done(version, Outcome.NO_ROOM, null);
            }
        }

        @Override
        public void written(String key) {
            problem(shown(key), "still being written; not in the bucket yet");
        }

        @Override
        public void problem(String path, String why) {
            WarmJob.this.problem(path, why);
        }
    }

    /** False if there is no room for it. */
    private boolean pin(ObjectVersion version, long until) throws IOException {
        boolean isNew = !contents.cache().pins().isPinned(contents.namespace(), version);
        if (!contents.cache().pins().pin(contents.namespace(), version, until)) {
            return false;
        }
        if (isNew) {
            // A small file may share a pack with files that are not pinned, and all of them would be retained.
            contents.cache().storeAgain(contents.namespace(), version);
        }
        return true;
    }

    /** Removes the pin, because a missing file is not pinned. */
    private void unpin(ObjectVersion version) {
        if (options.pinUntil() == null) {
            return;
        }
        try {
            boolean _ = contents.cache().pins().unpin(contents.namespace(), version.key());
        } catch (IOException e) {
            log.debug("Cannot unpin {}", version.key(), e);
        }
    }

    /** Counts the files and their bytes. */
    private final class Count implements FileSelection.Visitor {
        private final ToPin toPin = new ToPin(contents.cache().pins().room().versionsLeft());
        private long number;
        private long bytes;

        @Override
        public void file(ObjectVersion version) {
            if (!hasBytes(version)) {
                return;
            }
            number++;
            bytes += version.size();
            if (options.pinUntil() != null && !contents.cache().pins().isPinned(contents.namespace(), version)) {
                toPin.add(version);
            }
        }

        @Override
        public void written(String key) {}

        @Override
        public void problem(String path, String why) {}
    }

    /** Links and empty files have none: there is nothing to cache. */
    static boolean hasBytes(ObjectVersion version) {
        return version.size() > 0;
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
        files.visit(contents, count);
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
                Answer _ = forget(contents, version);
                problem(shown(version.key()), CHANGED);
            }
            case GONE -> {
                unpin(version);
                Answer _ = forget(contents, version);
                problem(shown(version.key()), GONE);
            }
            case NO_ROOM ->
                problem(shown(version.key()), noRoom(contents.cache().pins().room()));
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

    /** Looks the name up again, so that the next job finds its current object. Null if that fails. */
    static @Nullable Answer forget(Contents contents, ObjectVersion version) {
        Place place = contents.tree().place(version.key());
        if (place == null) {
            return null;
        }
        contents.tree().invalidate(place.parent(), place.name(), version);
        try {
            return contents.tree().lookup(place.parent(), place.name());
        } catch (ObjectStoreException e) {
            log.debug("Cannot look up {} again", version.key(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    private String shown(String key) {
        return FileSelection.shown(contents.tree(), key);
    }
}
