package io.penstock.cache;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DirectIo;
import io.penstock.disk.RecordLog;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object versions that are never evicted. A pin lasts until it ends or is taken off, and is in a log of the cache folder, so
 * that it lasts from mount to mount; a {@link Session} pins what it brings in, until all of it is there.
 *
 * <p>All of them together take at most {@link #mostBytes}. Safe for use by any number of threads; a call may write to the
 * cache's disk.
 */
public final class Pins implements AutoCloseable {
    /** The end of a pin that has none: milliseconds since 1970. */
    public static final long UNTIL_UNPINNED = Long.MAX_VALUE;

    private static final Logger log = LoggerFactory.getLogger(Pins.class);

    /** One part in so many of the cache is for what is not pinned, and for what packs leave empty. */
    private static final int REST_SHARE = 16;

    private final CacheFolder folder;
    private final PinTable table;
    private final DiskSpace space;

    @GuardedBy("this")
    private final Map<Pin.Name, Pin> pins = new HashMap<>();

    /** Of all versions in the table. */
    @GuardedBy("this")
    private long bytes;

    /** Null until something is pinned. */
    @GuardedBy("this")
    private @Nullable RecordLog<PinRecord> records;

    /** No pin ends before: milliseconds since 1970. */
    @GuardedBy("this")
    private long firstEnd = UNTIL_UNPINNED;

    /**
     * Bytes on disk.
     *
     * @param pinned what all pins take once all of it is cached, and what is being brought in
     * @param most what they may take
     */
    public record Room(long pinned, long most) {
        public long left() {
            return Math.max(0, most - pinned);
        }
    }

    /** @param table gets the versions that are pinned */
    Pins(CacheFolder folder, PinTable table, DiskSpace space) {
        this.folder = folder;
        this.table = table;
        this.space = space;
    }

    /** Takes over the pins of earlier runs, but those that have ended. Before anybody else is there. */
    synchronized void start(long now) throws IOException {
        records = folder.openPins();
        if (records != null) {
            List<PinRecord> found = new ArrayList<>();
            records.replay(found::add);
            for (PinRecord record : found) {
                replay(record);
            }
            for (Pin pin : pins.values()) {
                add(pin.id(), pin.bytes());
            }
            end(now);
        }
    }

    @GuardedBy("this")
    private void replay(PinRecord record) {
        switch (record) {
            case PinRecord.Pinned(Pin pin) -> {
                pins.put(pin.name(), pin);
                firstEnd = Math.min(firstEnd, pin.until());
            }
            case PinRecord.Unpinned(String namespace, String key) -> pins.remove(new Pin.Name(namespace, key));
        }
    }

    public synchronized Room room() {
        return new Room(bytes, mostBytes());
    }

    private long mostBytes() {
        long limit = space.limitBytes();
        return limit - limit / REST_SHARE;
    }

    /** What an object of this size takes on disk. */
    public static long bytesOnDisk(long size) {
        return DirectIo.wholeBlocks(size);
    }

    /**
     * Pins the version, in place of another version of the same object.
     *
     * @param until when the pin ends, in milliseconds since 1970
     * @return false if there is no room for it
     * @throws IOException if the pin cannot be written down: then it is none
     */
    public boolean pin(String namespace, ObjectVersion version, long until) throws IOException {
        Pin pin =
                new Pin(namespace, version.key(), ObjectId.of(namespace, version), bytesOnDisk(version.size()), until);
        Pin former;
        synchronized (this) {
            former = pins.get(pin.name());
            if (pin.equals(former)) {
                return true;
            }
            long freed = former == null ? 0 : former.bytes();
            if (!table.contains(pin.id()) && bytes - freed + pin.bytes() > mostBytes()) {
                return false;
            }
            append(new PinRecord.Pinned(pin));
            pins.put(pin.name(), pin);
            firstEnd = Math.min(firstEnd, until);
            add(pin.id(), pin.bytes());
            if (former != null) {
                remove(former.id(), former.bytes());
            }
        }
        space.pinsChanged(former == null ? List.of(pin.id()) : List.of(pin.id(), former.id()));
        return true;
    }

    /**
     * Takes pins off.
     *
     * @param keys whose
     * @return the number of objects
     * @throws IOException if it cannot be written down: those that were written down are off
     */
    public int unpin(String namespace, Predicate<String> keys) throws IOException {
        return unpin(pin -> pin.namespace().equals(namespace) && keys.test(pin.key()));
    }

    private int unpin(Predicate<Pin> which) throws IOException {
        List<ObjectId> off = new ArrayList<>();
        try {
            synchronized (this) {
                for (Pin pin : pins.values().stream().filter(which).toList()) {
                    append(new PinRecord.Unpinned(pin.namespace(), pin.key()));
                    pins.remove(pin.name());
                    remove(pin.id(), pin.bytes());
                    off.add(pin.id());
                }
            }
        } finally {
            space.pinsChanged(off);
        }
        return off.size();
    }

    /** Takes the pins off that have ended. */
    void end(long now) throws IOException {
        synchronized (this) {
            if (now < firstEnd) {
                return;
            }
            firstEnd = pins.values().stream()
                    .mapToLong(Pin::until)
                    .filter(until -> until > now)
                    .min()
                    .orElse(UNTIL_UNPINNED);
        }
        int ended = unpin(pin -> pin.until() <= now);
        log.info("The pins of {} files have ended", ended);
    }

    /** Whether the version is pinned, and not only while it is brought in. */
    public synchronized boolean isPinned(String namespace, ObjectVersion version) {
        Pin pin = pins.get(new Pin.Name(namespace, version.key()));
        return pin != null && pin.id().equals(ObjectId.of(namespace, version));
    }

    /** The keys of all objects that are pinned. */
    public synchronized List<String> keys(String namespace) {
        return pins.keySet().stream()
                .filter(name -> name.namespace().equals(namespace))
                .map(Pin.Name::key)
                .toList();
    }

    /** Begins to bring versions in. */
    public Session begin() {
        return new Session();
    }

    /** Versions that are pinned while they are brought in. Used by one thread. */
    public final class Session implements AutoCloseable {
        private final Map<ObjectId, Long> held = new HashMap<>();

        private Session() {}

        /** False if there is no room for it. */
        public boolean add(String namespace, ObjectVersion version) {
            ObjectId id = ObjectId.of(namespace, version);
            long size = bytesOnDisk(version.size());
            synchronized (Pins.this) {
                if (held.containsKey(id)) {
                    return true;
                }
                if (!table.contains(id) && bytes + size > mostBytes()) {
                    return false;
                }
                Pins.this.add(id, size);
                held.put(id, size);
            }
            space.pinsChanged(List.of(id));
            return true;
        }

        /** What was brought in counts as just used, and may be evicted as anything else, but for what has a pin. */
        @Override
        public void close() {
            Set<ObjectId> ids = new HashSet<>(held.keySet());
            synchronized (Pins.this) {
                for (Map.Entry<ObjectId, Long> each : held.entrySet()) {
                    Pins.this.remove(each.getKey(), each.getValue());
                }
            }
            held.clear();
            space.pinsChanged(ids);
        }
    }

    @GuardedBy("this")
    private void add(ObjectId id, long size) {
        if (table.add(id)) {
            bytes += size;
        }
    }

    @GuardedBy("this")
    private void remove(ObjectId id, long size) {
        if (table.remove(id)) {
            bytes -= size;
        }
    }

    @GuardedBy("this")
    private void append(PinRecord record) throws IOException {
        if (records == null) {
            records = folder.createPins();
        }
        if (records.isLarge()) {
            List<Pin> present = List.copyOf(pins.values());
            records.compact(to -> {
                for (Pin pin : present) {
                    to.add(new PinRecord.Pinned(pin));
                }
            });
        }
        records.append(record); // last: what it says is not among the pins yet
    }

    @Override
    public synchronized void close() throws IOException {
        if (records != null) {
            records.close();
        }
    }
}
