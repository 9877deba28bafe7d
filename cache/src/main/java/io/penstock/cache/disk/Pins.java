package io.penstock.cache.disk;

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
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object versions that are never evicted. A pin lasts until it expires or is removed, and across mounts, because it
 * is in a log in the cache folder. A {@link Session} pins the objects that it fetches until all of them are there.
 *
 * <p>Together they take at most {@link #mostBytes}. One monitor guards the pins, their sum and their log. Safe for use
 * by any number of threads; a call may write to the cache's disk.
 */
public final class Pins implements AutoCloseable {
    /** The end of a pin that does not expire: milliseconds since 1970. */
    public static final long UNTIL_UNPINNED = Long.MAX_VALUE;

    private static final Logger log = LoggerFactory.getLogger(Pins.class);

    /** One part in this many of the cache is for unpinned pages, and for space that packs leave empty. */
    static final int REST_SHARE = 16;

    private final CacheFolder folder;
    private final PinTable table;
    private final DiskSpace space;

    /** Writes are guarded by this; a lookup does not wait for the log. */
    private final Map<Pin.Name, Pin> pins = new ConcurrentHashMap<>();

    /** Bytes of all versions in the table. Writes are guarded by this. */
    private final AtomicLong bytes = new AtomicLong();

    /** Null until something is pinned. Written under the monitor; {@link #close} reads it without waiting for that. */
    private volatile @Nullable RecordLog<PinRecord> records;

    private volatile boolean closed;

    /** No pin expires before this: milliseconds since 1970. */
    @GuardedBy("this")
    private long firstEnd = UNTIL_UNPINNED;

    /**
     * Bytes on disk, and pins in the heap.
     *
     * @param pinned bytes that all pins take once cached, including those being fetched
     * @param most maximum bytes that they may take
     * @param isDiskShort whether that is less than cache.size allows, because the disk has too little free space
     * @param versionsLeft how many more versions can be pinned, whatever their sizes: an eighth of the heap is for pins
     */
    public record Room(long pinned, long most, boolean isDiskShort, long versionsLeft) {
        public long left() {
            return Math.max(0, most - pinned);
        }
    }

    /** @param table receives the pinned versions */
    public Pins(CacheFolder folder, PinTable table, DiskSpace space) {
        this.folder = folder;
        this.table = table;
        this.space = space;
    }

    /** Takes over the unexpired pins of earlier runs. Called before any other thread uses this. */
    public synchronized void start(long now) throws IOException {
        RecordLog<PinRecord> found = folder.openPins();
        records = found;
        if (found != null) {
            List<PinRecord> all = new ArrayList<>();
            found.replay(all::add);
            for (PinRecord record : all) {
                replay(record);
            }
            // Compaction of the log drops their records: nothing is written before the cache is open.
            pins.values().removeIf(pin -> pin.until() <= now);
            for (Pin pin : pins.values()) {
                table.pin(pin.id());
                add(pin.id(), pin.bytes());
            }
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

    public Room room() {
        return new Room(bytes.get(), mostBytes(), space.isDiskShort(), table.left());
    }

    private long mostBytes() {
        long limit = space.limitBytes();
        return limit - limit / REST_SHARE;
    }

    /** Bytes that an object of this size takes on disk. */
    public static long bytesOnDisk(long size) {
        return DirectIo.wholeBlocks(size);
    }

    /**
     * Pins the version, replacing any other version of the same object.
     *
     * @param until the time at which the pin expires, in milliseconds since 1970
     * @return false if there is no room for it
     * @throws IOException if the pin cannot be logged: then the version is not pinned
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
            if (!table.contains(pin.id()) && (bytes.get() - freed + pin.bytes() > mostBytes() || table.isFull())) {
                return false;
            }
            append(new PinRecord.Pinned(pin));
            pins.put(pin.name(), pin);
            firstEnd = Math.min(firstEnd, until);
            table.pin(pin.id());
            add(pin.id(), pin.bytes());
            if (former != null) {
                remove(former.id(), former.bytes());
                if (!former.id().equals(pin.id())) {
                    table.unpin(former.id());
                }
            }
        }
        space.pinsChanged(former == null ? List.of(pin.id()) : List.of(pin.id(), former.id()));
        return true;
    }

    /**
     * Removes pins.
     *
     * @param keys of the pinned objects
     * @return the number of objects
     * @throws IOException if a removal cannot be logged: those logged before are removed
     */
    public int unpin(String namespace, Predicate<String> keys) throws IOException {
        return unpin(pin -> pin.namespace().equals(namespace) && keys.test(pin.key()));
    }

    /** {@link #unpin(String, Predicate)} for one object. @return whether it was pinned */
    public boolean unpin(String namespace, String key) throws IOException {
        ObjectId off;
        synchronized (this) {
            Pin pin = pins.get(new Pin.Name(namespace, key));
            if (pin == null) {
                return false;
            }
            takeOff(pin);
            off = pin.id();
        }
        space.pinsChanged(List.of(off));
        return true;
    }

    private int unpin(Predicate<Pin> which) throws IOException {
        List<ObjectId> off = new ArrayList<>();
        try {
            synchronized (this) {
                for (Pin pin : pins.values().stream().filter(which).toList()) {
                    takeOff(pin);
                    off.add(pin.id());
                }
            }
        } finally {
            space.pinsChanged(off);
        }
        return off.size();
    }

    @GuardedBy("this")
    private void takeOff(Pin pin) throws IOException {
        append(new PinRecord.Unpinned(pin.namespace(), pin.key()));
        pins.remove(pin.name());
        table.unpin(pin.id());
        remove(pin.id(), pin.bytes());
    }

    /** Removes the pins that have expired. */
    public void end(long now) throws IOException {
        synchronized (this) {
            if (now < firstEnd) {
                return;
            }
        }
        int ended = unpin(pin -> pin.until() <= now); // if it fails, it is tried again
        if (ended > 0) {
            log.info("The pins of {} files have ended", ended);
        }
        synchronized (this) {
            firstEnd = pins.values().stream().mapToLong(Pin::until).min().orElse(UNTIL_UNPINNED);
        }
    }

    /** Whether the version has a pin, not only a session that fetches it. */
    public boolean isPinned(String namespace, ObjectVersion version) {
        return until(namespace, version).isPresent();
    }

    /** When the version's pin expires, in milliseconds since 1970; empty if it is not pinned or its pin has expired. */
    public OptionalLong until(String namespace, ObjectVersion version) {
        Pin pin = pins.get(new Pin.Name(namespace, version.key()));
        // Expired pins are removed only periodically.
        return pin != null
                        && pin.until() > System.currentTimeMillis()
                        && pin.id().equals(ObjectId.of(namespace, version))
                ? OptionalLong.of(pin.until())
                : OptionalLong.empty();
    }

    /** The keys of all pinned objects. */
    public List<String> keys(String namespace) {
        return pins.keySet().stream()
                .filter(name -> name.namespace().equals(namespace))
                .map(Pin.Name::key)
                .toList();
    }

    /** Begins to fetch versions. */
    public Session begin() {
        return new Session();
    }

    /** Versions that are pinned while they are fetched. Used by one thread. */
    public final class Session implements AutoCloseable {
        private final Map<ObjectId, Long> held = new HashMap<>();

        private Session() {}

        /** Returns false if there is no room for it. */
        public boolean add(String namespace, ObjectVersion version) {
            ObjectId id = ObjectId.of(namespace, version);
            long size = bytesOnDisk(version.size());
            synchronized (Pins.this) {
                if (held.containsKey(id)) {
                    return true;
                }
                if (!table.contains(id) && bytes.get() + size > mostBytes()) {
                    return false;
                }
                if (table.isFull()) {
                    return true; // it is fetched, and may be evicted before the others are
                }
                Pins.this.add(id, size);
                held.put(id, size);
            }
            space.pinsChanged(List.of(id));
            return true;
        }

        /** Fetched objects count as just used, and may be evicted like others unless they are pinned. */
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
            bytes.addAndGet(size);
        }
    }

    @GuardedBy("this")
    private void remove(ObjectId id, long size) {
        if (table.remove(id)) {
            bytes.addAndGet(-size);
        }
    }

    @GuardedBy("this")
    private void append(PinRecord record) throws IOException {
        RecordLog<PinRecord> to = records();
        if (to.isLarge()) {
            List<Pin> present = List.copyOf(pins.values());
            to.compact(sink -> {
                for (Pin pin : present) {
                    sink.add(new PinRecord.Pinned(pin));
                }
            });
        }
        to.append(record); // last: the pins do not include its change yet
    }

    @GuardedBy("this")
    private RecordLog<PinRecord> records() throws IOException {
        RecordLog<PinRecord> known = records;
        if (known != null) {
            return known;
        } else if (closed) {
            throw new IOException("the cache is closed"); // and another process may own its folder
        }
        RecordLog<PinRecord> made = folder.createPins();
        records = made;
        if (closed) {
            made.close();
        }
        return made;
    }

    /** Nothing is pinned or unpinned after this. Does not wait for such a call in progress; may wait for the disk. */
    @Override
    public void close() throws IOException {
        closed = true;
        RecordLog<PinRecord> open = records;
        if (open != null) {
            open.close();
        }
    }
}
