package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open object versions. Each is shared by its readers, and stays open for a while after the last one. Safe for use
 * by any number of threads.
 */
final class OpenVersionTable implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OpenVersionTable.class);

    /** Some KiB of heap each. */
    private static final int MOST_LINGERING = 1_000;

    /** Some 300 bytes of heap each. */
    private static final int MOST_HISTORIES = 1_000;

    private final Function<ObjectVersion, OpenVersion> opener;
    private final Predicate<Runnable> starter;
    private final long lingerNanos;

    @GuardedBy("this")
    private final Map<ObjectVersion, OpenVersion> open = new HashMap<>();

    /** Of versions that are not open, the most recently closed one last. */
    @GuardedBy("this")
    private final LinkedHashMap<ObjectVersion, ReadHistory> histories = new LinkedHashMap<>();

    /** Versions without a reader, with the System.nanoTime() at which to close them, the earliest first. */
    @GuardedBy("this")
    private final Map<OpenVersion, Long> lingering = new LinkedHashMap<>();

    /** Whether a thread closes those that are due. */
    @GuardedBy("this")
    private boolean isClosing;

    /**
     * @param linger how long a version stays open after its last reader
     * @param opener creates an open version without readers
     * @param starter runs a task on another thread, interrupted at shutdown; false once that has begun
     */
    OpenVersionTable(Duration linger, Function<ObjectVersion, OpenVersion> opener, Predicate<Runnable> starter) {
        this.lingerNanos = linger.toNanos();
        this.opener = opener;
        this.starter = starter;
    }

    /** The version with one more reader, which must {@linkplain #closed close}. */
    OpenVersion share(ObjectVersion version) {
        synchronized (this) {
            OpenVersion shared = open.get(version);
            if (shared != null) {
                return withReader(shared);
            }
        }
        OpenVersion mine = opener.apply(version);
        OpenVersion shared;
        synchronized (this) {
            shared = open.computeIfAbsent(version, absent -> mine);
            if (shared == mine) {
                mine.history = Objects.requireNonNullElse(histories.remove(version), mine.history);
            }
            OpenVersion _ = withReader(shared);
        }
        if (shared != mine) {
            mine.closePages();
        }
        return shared;
    }

    @GuardedBy("this")
    private OpenVersion withReader(OpenVersion shared) {
        shared.readers++;
        if (lingering.remove(shared) != null) {
            shared.resume();
        }
        return shared;
    }

    /** A reader of this object has closed. */
    void closed(OpenVersion object) {
        OpenVersion done = object;
        synchronized (this) {
            if (--object.readers > 0) {
                return;
            }
            if (lingers(object)) {
                object.pause();
                lingering.put(object, System.nanoTime() + lingerNanos);
                done = lingering.size() > MOST_LINGERING
                        ? lingering.keySet().iterator().next()
                        : null;
                if (done != null) {
                    lingering.remove(done);
                }
            }
            if (done != null) {
                remove(done);
            }
        }
        if (done != null) {
            done.close();
        }
    }

    /** The version is no longer open; its history is remembered for a while. */
    @GuardedBy("this")
    private void remove(OpenVersion object) {
        open.remove(object.cached.version());
        if (!object.history.isEmpty()) {
            histories.putLast(object.cached.version(), object.history);
            if (histories.size() > MOST_HISTORIES) {
                histories.pollFirstEntry();
            }
        }
    }

    /** Schedules a later close, except where streams are useless: for small and wholly cached objects. */
    @GuardedBy("this")
    private boolean lingers(OpenVersion object) {
        if (lingerNanos == 0 || object.sectors == null || object.cached.isWhole()) {
            return false;
        }
        isClosing = isClosing || starter.test(this::closeLingering);
        return isClosing;
    }

    /** Ends once nothing lingers. */
    private void closeLingering() {
        try {
            long nanos = lingerNanos;
            while (nanos > 0) {
                TimeUnit.NANOSECONDS.sleep(nanos);
                nanos = closeDue();
            }
        } catch (InterruptedException e) { // at shutdown: close() closes the rest
            Thread.currentThread().interrupt();
        }
    }

    /** @return nanoseconds until the next close is due; 0 if there is none */
    private long closeDue() {
        List<OpenVersion> due = new ArrayList<>();
        long nanos = 0;
        synchronized (this) {
            for (Map.Entry<OpenVersion, Long> entry : lingering.entrySet()) {
                nanos = entry.getValue() - System.nanoTime();
                if (nanos > 0) {
                    break;
                }
                due.add(entry.getKey());
            }
            due.forEach(object -> {
                lingering.remove(object);
                remove(object);
            });
            isClosing = !lingering.isEmpty();
            nanos = isClosing ? Math.max(1, nanos) : 0;
        }
        closeAll(due);
        return nanos;
    }

    /** A failure to close one does not keep the others open. */
    private static void closeAll(List<OpenVersion> objects) {
        for (OpenVersion object : objects) {
            try {
                object.close();
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "Closing {} failed unexpectedly",
                        object.cached.version().key(),
                        e);
            }
        }
    }

    /**
     * A version's entry in this table.
     *
     * @param object null if it is not open
     * @param history its reads, as far back as they are remembered
     */
    record Known(@Nullable OpenVersion object, int readers, ReadHistory history) {}

    synchronized Known find(ObjectVersion version) {
        OpenVersion object = open.get(version);
        return object == null
                ? new Known(null, 0, histories.getOrDefault(version, new ReadHistory()))
                : new Known(object, object.readers, object.history);
    }

    synchronized int count() {
        return open.size();
    }

    /** Closes those without a reader. The others are closed by their last reader. */
    @Override
    public void close() {
        List<OpenVersion> left;
        synchronized (this) {
            isClosing = false;
            left = List.copyOf(lingering.keySet());
            lingering.clear();
            left.forEach(object -> open.remove(object.cached.version()));
        }
        closeAll(left);
    }
}
