package io.penstock.fuse.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.penstock.core.ObjectVersion;
import io.penstock.disk.DamagedLogException;
import io.penstock.disk.MappedLog;
import io.penstock.disk.MappedLogReader;
import io.penstock.disk.RecordEncoder;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.fuse.table.TableNames.Node;
import io.penstock.fuse.table.TableNames.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** What the records of a {@link KernelTable} add up to. Not thread-safe. */
public final class TableState {
    /** The offset after the first entry that is neither . nor .. */
    private static final long FIRST_NAME = 3;

    /** Names in a record: 1 MiB at most. */
    private static final int NAMES_AT_ONCE = 1000;

    /** Requests whose effects are known: the last ones. A request is answered right after its effects are recorded. */
    private static final int MOST_REQUESTS = 1 << 16;

    /** Whether {@link #effects} is of interest. */
    private final boolean isForSuccessor;

    private Terms terms;

    private final TableNames inodes = new TableNames();

    /** The whole record of each open file, which is decoded only for a successor: most files are closed soon. */
    private final Map<Long, byte[]> files = new HashMap<>();

    private final Map<Long, OpenDirectory> directories = new TreeMap<>();
    private final Map<Long, List<Effect>> effects = new HashMap<>();
    private final Map<Long, Integer> tries = new HashMap<>();
    private final Deque<Long> requests = new ArrayDeque<>();
    private long lastHandle;
    private long end;

    /** @param names those returned since its start, by the offset that follows each */
    private record OpenDirectory(long node, SortedMap<Long, ListedName> names) {}

    TableState(Terms terms) {
        this(terms, false);
    }

    private TableState(Terms terms, boolean isForSuccessor) {
        this.terms = terms;
        this.isForSuccessor = isForSuccessor;
    }

    /**
     * Reads what an earlier process has left.
     *
     * @throws DamagedLogException if it is not what was written
     */
    public static TableState read(Path file) throws IOException {
        return read(file, Long.MAX_VALUE, true);
    }

    /** Reads what this process has written up to an offset, without the effects of requests. */
    static TableState own(Path file, long upTo) throws IOException {
        return read(file, upTo, false);
    }

    private static TableState read(Path file, long upTo, boolean isForSuccessor) throws IOException {
        TableState state = new TableState(new Terms(0, 0, 0, 0), isForSuccessor);
        state.end = MappedLogReader.read(file, 0, 0, upTo, isForSuccessor, record -> state.apply(file, record));
        if (state.terms.minor() == 0) {
            throw new DamagedLogException(file, "it is empty");
        }
        return state;
    }

    public Terms terms() {
        return terms;
    }

    /** Where the records end in their file. */
    long end() {
        return end;
    }

    /** What the last requests have changed, by their unique numbers. The map is the caller's. */
    public Map<Long, List<Effect>> effects() {
        return effects;
    }

    /** How many processes have died while they served a request again, by the request's number. */
    public Map<Long, Integer> tries() {
        return tries;
    }

    private void apply(Path file, ByteBuffer record) throws DamagedLogException {
        byte kind = record.get();
        switch (kind) {
            case KernelTable.TERMS ->
                terms = new Terms(record.getInt(), record.getInt(), record.getLong(), record.getLong());
            case KernelTable.NODE -> {
                long unique = record.getLong();
                long number = record.getLong();
                long parent = record.getLong();
                long lookups = record.getLong();
                int bits = record.get();
                if (inodes.get(number) == null) { // else only MOVED changes its place
                    inodes.add(new Node(number, new Place(parent, rest(record)), bits));
                }
                lookedUp(unique, number, lookups);
            }
            case KernelTable.REMOVED -> inodes.removed(new Place(record.getLong(), rest(record)));
            case KernelTable.MOVED -> {
                long parent = record.getLong();
                long newParent = record.getLong();
                Place from = new Place(parent, string(record, record.getInt()));
                inodes.moved(from, new Place(newParent, rest(record)));
            }
            case KernelTable.FORGOTTEN -> inodes.forget(record.getLong(), record.getLong());
            case KernelTable.FILE, KernelTable.CHANGED -> {
                long handle = opened(record.getLong(), record.getLong());
                byte[] whole = new byte[record.limit()];
                record.get(0, whole);
                whole[0] = KernelTable.FILE;
                if (kind == KernelTable.FILE) {
                    files.put(handle, whole);
                } else {
                    files.replace(handle, whole);
                }
            }
            case KernelTable.DIRECTORY -> {
                long unique = record.getLong();
                long handle = opened(unique, record.getLong());
                directories.put(handle, new OpenDirectory(record.getLong(), new TreeMap<>()));
            }
            case KernelTable.RELEASED -> release(record.getLong());
            case KernelTable.TAKEN_BACK -> takeBack(record.getLong(), record.getLong(), record.getLong());
            case KernelTable.LISTED -> listed(record);
            case KernelTable.TRIED -> tries.merge(record.getLong(), 1, Integer::sum);
            case KernelTable.LAST -> {
                inodes.startAfter(record.getLong());
                lastHandle = Math.max(lastHandle, record.getLong());
            }
            default -> throw new DamagedLogException(file, "it has a record of an unknown kind");
        }
    }

    private static String rest(ByteBuffer record) {
        return string(record, record.remaining());
    }

    private static String string(ByteBuffer record, int length) {
        byte[] bytes = new byte[length];
        record.get(bytes);
        return new String(bytes, UTF_8);
    }

    private void lookedUp(long unique, long number, long lookups) {
        Node known = requireNonNull(inodes.get(number));
        known.lookups += lookups;
        if (lookups > 0) {
            note(unique, new Effect.Lookups(number, lookups));
        }
    }

    private long opened(long unique, long handle) {
        lastHandle = Math.max(lastHandle, handle);
        note(unique, new Effect.Opened(handle));
        return handle;
    }

    private void release(long handle) {
        files.remove(handle);
        directories.remove(handle);
    }

    /** @param lookups 0 if the number is that of a handle */
    private void takeBack(long unique, long number, long lookups) {
        Effect effect;
        if (lookups == 0) {
            effect = new Effect.Opened(number);
            release(number);
        } else {
            effect = new Effect.Lookups(number, lookups);
            inodes.forget(number, lookups);
        }
        effects.getOrDefault(unique, new ArrayList<>())
                .remove(effect); // one of equals: the others are of a later serving
    }

    private void note(long unique, Effect effect) {
        if (unique == 0 || !isForSuccessor) {
            return;
        }
        effects.computeIfAbsent(unique, each -> {
                    requests.add(each);
                    return new ArrayList<>();
                })
                .add(effect);
        if (requests.size() > MOST_REQUESTS) {
            effects.remove(requests.remove());
        }
    }

    private void listed(ByteBuffer record) {
        long unique = record.getLong();
        long handle = record.getLong();
        long parent = record.getLong();
        OpenDirectory open = directories.get(handle);
        while (record.hasRemaining()) {
            long offset = record.getLong();
            long node = record.getLong();
            byte isDirectory = record.get();
            byte[] name = new byte[record.getInt()];
            record.get(name);
            if (node != 0) {
                if (inodes.get(node) == null) {
                    Place place = new Place(parent, new String(name, UTF_8));
                    inodes.add(new Node(node, place, KernelTable.HAS_NAME | isDirectory));
                }
                lookedUp(unique, node, 1);
            }
            if (open != null && offset < FIRST_NAME) {
                open.names.clear(); // it was rewound
            } else if (open != null) {
                open.names.put(offset, new ListedName(offset, 0, isDirectory != 0, name));
            }
        }
    }

    /** Writes records that add up to the same. */
    void writeTo(MappedLog to) throws IOException {
        RecordEncoder encoder = new RecordEncoder();
        int fixed = KernelTable.FIXED;
        encoder.append(
                to,
                fixed,
                record -> record.put(KernelTable.TERMS)
                        .putInt(terms.minor())
                        .putInt(terms.maxRequest())
                        .putLong(terms.flags())
                        .putLong(terms.mount()));
        encoder.append(
                to,
                fixed,
                record -> record.put(KernelTable.LAST).putLong(inodes.last()).putLong(lastHandle));
        for (Node node : inodes.all()) {
            byte[] name = node.place.name().getBytes(UTF_8);
            long lookups = Math.max(0, node.lookups);
            encoder.append(
                    to,
                    fixed + name.length,
                    record -> KernelTable.writeNode(
                            record, 0, node.number, node.place.parent(), name, node.bits(), lookups));
        }
        for (byte[] file : files.values()) {
            to.append(ByteBuffer.wrap(file));
        }
        for (Map.Entry<Long, OpenDirectory> each : directories.entrySet()) {
            OpenDirectory open = each.getValue();
            encoder.append(to, fixed, record -> KernelTable.writeDirectory(record, 0, each.getKey(), open.node));
            List<ListedName> names = new ArrayList<>();
            for (ListedName name : open.names.values()) {
                names.add(name);
                if (names.size() == NAMES_AT_ONCE) {
                    writeListed(encoder, to, each.getKey(), open.node, names);
                    names.clear();
                }
            }
            writeListed(encoder, to, each.getKey(), open.node, names);
        }
    }

    private static void writeListed(RecordEncoder encoder, MappedLog to, long handle, long node, List<ListedName> names)
            throws IOException {
        encoder.append(
                to, KernelTable.lengthOf(names), record -> KernelTable.writeListed(record, 0, handle, node, names));
    }

    /** What the successor's file system must know. */
    public Inherited inherited() {
        List<Inherited.Node> known = new ArrayList<>(inodes.all().size());
        inodes.all()
                .forEach(node -> known.add(new Inherited.Node(
                        node.number,
                        node.place.parent(),
                        node.place.name(),
                        node.hasName,
                        node.isDirectory,
                        Math.max(0, node.lookups))));
        known.sort(Comparator.comparingLong(Inherited.Node::number));
        List<Inherited.Directory> open = new ArrayList<>();
        directories.forEach((handle, directory) -> {
            Map<Long, String> names = new HashMap<>();
            directory.names.forEach((offset, name) -> names.put(offset, new String(name.name, UTF_8)));
            open.add(new Inherited.Directory(handle, directory.node, names));
        });
        List<Inherited.File> opened = new ArrayList<>();
        new TreeMap<>(files).values().forEach(file -> opened.add(decoded(file)));
        return new Inherited(known, opened, open, inodes.last(), lastHandle);
    }

    private static Inherited.File decoded(byte[] file) {
        ByteBuffer record = ByteBuffer.wrap(file).order(ByteOrder.nativeOrder());
        record.position(Byte.BYTES + Long.BYTES); // its kind, and the request that opened it
        long handle = record.getLong();
        long node = record.getLong();
        int flags = record.getInt();
        boolean isCached = record.get() != 0;
        int backing = record.getInt();
        long content = record.getLong();
        ObjectVersion version = record.hasRemaining() ? version(record) : null;
        return new Inherited.File(handle, node, flags, isCached, backing, content, version);
    }

    private static ObjectVersion version(ByteBuffer record) {
        long size = record.getLong();
        Instant time = Instant.ofEpochSecond(record.getLong(), record.getInt());
        String key = string(record, record.getInt());
        return new ObjectVersion(key, rest(record), size, time);
    }
}
