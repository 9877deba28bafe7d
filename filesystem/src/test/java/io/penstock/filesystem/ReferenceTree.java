package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.core.Errno;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The reference model of names: the tree that one mount must show of its bucket, by path. Each operation returns the
 * errno that the call must end with, null for success. A directory exists while it has a marker or entries, or if it
 * was emptied here a short time ago. Besides the directories created by mkdir, the mount chooses which ones get
 * markers, and {@link #marked} records them.
 */
final class ReferenceTree {
    /** The files in the bucket. */
    final NavigableMap<String, ReferenceEntry> objects;

    /** The directories that have objects in the bucket. */
    final NavigableMap<String, ReferenceEntry> markers;

    /** Open files by their handles. Those being written are shown instead of the objects with their names. */
    final Map<Integer, ReferenceOpen> open;

    /** Directories from which this mount has removed something: they stay for some time. */
    private final Set<String> emptied;

    /** Directories that show the time of their last created or removed entry, not a time that was set. */
    private final Set<String> touched;

    /** Directories that show either. */
    private final Set<String> perhapsTouched;

    /** The directory that the last call removed or moved away: a file of its name shows from then on. */
    private final Set<String> revealed = new HashSet<>();

    /** Copies left by the last call. Their attributes show once they are in a directory that shows attributes. */
    private final Set<String> unshown = new HashSet<>();

    ReferenceTree() {
        this(new TreeMap<>(), new TreeMap<>(), new HashMap<>(), new TreeSet<>(), new HashSet<>(), new HashSet<>());
    }

    private ReferenceTree(
            NavigableMap<String, ReferenceEntry> objects,
            NavigableMap<String, ReferenceEntry> markers,
            Map<Integer, ReferenceOpen> open,
            Set<String> emptied,
            Set<String> touched,
            Set<String> perhapsTouched) {
        this.objects = objects;
        this.markers = markers;
        this.open = open;
        this.emptied = emptied;
        this.touched = touched;
        this.perhapsTouched = perhapsTouched;
    }

    ReferenceTree copy() {
        return new ReferenceTree(
                new TreeMap<>(objects),
                new TreeMap<>(markers),
                new HashMap<>(open),
                new TreeSet<>(emptied),
                new HashSet<>(touched),
                new HashSet<>(perhapsTouched));
    }

    // ---- paths

    /** The directory of a path; empty for the root. */
    static String parent(String path) {
        return path.substring(0, Math.max(0, path.lastIndexOf('/')));
    }

    static boolean isWithin(String path, String directory) {
        return path.startsWith(directory + "/");
    }

    /** The directories above a path, except the root: innermost first. */
    private static List<String> above(String path) {
        return Stream.iterate(parent(path), above -> !above.isEmpty(), ReferenceTree::parent)
                .toList();
    }

    private Stream<String> paths() {
        return Stream.of(
                        objects.keySet().stream(),
                        markers.keySet().stream(),
                        emptied.stream(),
                        open.values().stream()
                                .filter(ReferenceOpen::writes)
                                .map(ReferenceOpen::path)
                                .flatMap(Stream::ofNullable))
                .flatMap(each -> each);
    }

    // ---- the tree shown

    /** All existing paths. */
    List<String> all() {
        return paths().flatMap(path -> Stream.concat(Stream.of(path), above(path).stream()))
                .distinct()
                .sorted()
                .toList();
    }

    /** The entry at the path: null if there is none. */
    @Nullable
    ReferenceEntry find(String path) {
        Integer slot = slot(path);
        if (slot != null) {
            return open(slot).now();
        } else if (isDirectory(path)) {
            return markers.getOrDefault(path, ReferenceEntry.DIRECTORY);
        }
        return objects.get(path);
    }

    boolean isDirectory(String path) {
        return path.isEmpty()
                || markers.containsKey(path)
                || emptied.contains(path)
                || paths().anyMatch(each -> isWithin(each, path));
    }

    /** The names in a directory. */
    Set<String> list(String directory) {
        int from = directory.isEmpty() ? 0 : directory.length() + 1;
        Set<String> names = new TreeSet<>();
        paths().filter(path -> directory.isEmpty() || isWithin(path, directory))
                .forEach(path -> names.add(path.substring(from).split("/", 2)[0]));
        return names;
    }

    /** The handle that writes the file at this path; null if there is none. */
    @Nullable
    Integer slot(String path) {
        return open.entrySet().stream()
                .filter(each ->
                        each.getValue().writes() && path.equals(each.getValue().path()))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(null);
    }

    private ReferenceOpen open(int slot) {
        return requireNonNull(open.get(slot));
    }

    /** The state of an open file. */
    ReferenceEntry opened(int slot) {
        ReferenceOpen file = open(slot);
        return file.path() == null ? file.now() : requireNonNull(find(file.path()));
    }

    /** Whether a directory shows the time of its last entry, not one that was set: null if it may be either. */
    @Nullable
    Boolean isTouched(String directory) {
        return perhapsTouched.contains(directory) ? null : (Boolean) touched.contains(directory);
    }

    /** Why nothing can exist at the path: null if something can. */
    private @Nullable Errno objection(String path) {
        for (String directory : above(path).reversed()) {
            ReferenceEntry entry = find(directory);
            if (entry == null) {
                return Errno.ENOENT;
            } else if (!entry.isDirectory()) {
                return Errno.ENOTDIR;
            }
        }
        return null;
    }

    private @Nullable Errno missing(String path) {
        Errno objection = objection(path);
        return objection == null && find(path) == null ? Errno.ENOENT : objection;
    }

    // ---- creating

    /** A new entry at the path, with the attributes that it inherits from its directory. */
    private ReferenceEntry inherited(String path, ReferenceEntry entry) {
        return entry.in(requireNonNull(find(parent(path))));
    }

    /** An entry was created in the directory or removed from it. */
    private void touch(String directory) {
        touched.add(directory);
        perhapsTouched.remove(directory);
    }

    private @Nullable Errno notNew(String path) {
        Errno objection = objection(path);
        return objection == null && find(path) != null ? Errno.EEXIST : objection;
    }

    /** mkdir, symlink, mknod: these are in the bucket immediately. */
    @Nullable
    Errno make(String path, ReferenceEntry entry) {
        Errno errno = notNew(path);
        if (errno == null) {
            (entry.isDirectory() ? markers : objects).put(path, inherited(path, entry));
            touch(parent(path));
            if (entry.isDirectory()) {
                touch(path); // it is as old as its creation
            }
        }
        return errno;
    }

    /** open(2) with O_CREAT and O_TRUNC. */
    @Nullable
    Errno create(int slot, String path, ReferenceEntry entry) {
        Errno errno = objection(path);
        if (errno != null) {
            return errno;
        }
        ReferenceEntry before = find(path);
        if (before != null && before.isDirectory()) {
            return Errno.EISDIR;
        } else if (before == null) {
            open.put(slot, ReferenceOpen.toWrite(path, inherited(path, entry), true));
            touch(parent(path));
        } else {
            open.put(slot, ReferenceOpen.toWrite(path, before.withContent(""), true));
        }
        return null;
    }

    /** open(2). */
    @Nullable
    Errno open(int slot, String path, boolean toWrite) {
        Errno errno = missing(path);
        if (errno == null && isDirectory(path)) {
            return Errno.EISDIR;
        } else if (errno == null) {
            ReferenceEntry entry = requireNonNull(find(path));
            open.put(slot, toWrite ? ReferenceOpen.toWrite(path, entry, false) : ReferenceOpen.toRead(path, entry));
        }
        return errno;
    }

    /** For a removed file, all handles that had the same state get the new one. */
    @SuppressWarnings("ReferenceEquality")
    void write(int slot, int position, String text) {
        ReferenceOpen file = open(slot);
        ReferenceEntry before = file.now();
        String content = before.content();
        int end = Math.min(content.length(), position + text.length());
        ReferenceEntry after = before.withContent(content.substring(0, position) + text + content.substring(end));
        boolean isRemoved = file.path() == null;
        open.replaceAll((_, each) -> each == file || (isRemoved && each.path() == null && each.now() == before)
                ? each.changed(after)
                : each);
    }

    /** truncate(2) of a file that is not open for writing. */
    @Nullable
    Errno truncate(String path, int size) {
        Errno errno = missing(path);
        if (errno == null && isDirectory(path)) {
            return Errno.EISDIR;
        } else if (errno == null) {
            String padded = requireNonNull(objects.get(path)).content() + "\0".repeat(size);
            objects.computeIfPresent(path, (_, entry) -> entry.withContent(padded.substring(0, size)));
        }
        return errno;
    }

    void fsync(int slot) {
        open.computeIfPresent(slot, (_, file) -> file.fsynced());
    }

    void close(int slot) {
        commit(slot);
        open.remove(slot);
    }

    /** The bucket has this file's written content, from now on at the latest. */
    void commit(int slot) {
        ReferenceOpen file = open(slot);
        if (file.dirty()) {
            objects.put(requireNonNull(file.path()), file.now());
            open.put(slot, file.committed());
        }
    }

    /** Changes to written files other than their content become as durable as the last commit or fsync. */
    void commitAttributes() {
        open.replaceAll((_, file) -> {
            ReferenceEntry stored = file.path() == null ? null : objects.get(file.path());
            boolean isStored =
                    stored != null && stored.content().equals(file.now().content());
            boolean isSynced = file.synced() != null
                    && file.synced().content().equals(file.now().content());
            return file.dirty() && (isStored || isSynced) ? file.fsynced() : file;
        });
    }

    @Nullable
    Errno link(String from, String to) {
        Errno errno = missing(from);
        if (errno == null) {
            errno = objection(to);
        }
        if (errno != null) {
            return errno;
        } else if (isDirectory(from)) {
            return Errno.EPERM;
        } else if (find(to) != null) {
            return Errno.EEXIST;
        }
        Integer slot = slot(from);
        if (slot != null) {
            commit(slot);
        }
        objects.put(to, requireNonNull(objects.get(from)));
        touch(parent(to));
        return null;
    }

    // ---- removing

    @Nullable
    Errno unlink(String path) {
        Errno errno = missing(path);
        if (errno == null && isDirectory(path)) {
            return Errno.EISDIR;
        } else if (errno == null) {
            emptied.addAll(above(path));
            lose(path);
            objects.remove(path);
            touch(parent(path));
        }
        return errno;
    }

    /** The open files at the path have no name any more. */
    private void lose(String path) {
        ReferenceEntry last = find(path);
        if (last != null) {
            open.replaceAll((_, file) -> path.equals(file.path()) ? file.removed(last, false) : file);
        }
    }

    @Nullable
    Errno rmdir(String path) {
        Errno errno = missing(path);
        if (errno != null) {
            return errno;
        } else if (!isDirectory(path)) {
            return Errno.ENOTDIR;
        } else if (!list(path).isEmpty()) {
            return Errno.ENOTEMPTY;
        }
        emptied.addAll(above(path));
        emptied.remove(path);
        markers.remove(path);
        revealed.add(path);
        touch(parent(path));
        return null;
    }

    // ---- renaming

    @Nullable
    Errno rename(String from, String to, boolean mustBeNew) {
        Errno errno = objection(from);
        if (errno == null) {
            errno = objection(to);
        }
        if (errno == null) {
            errno = missing(from);
        }
        if (errno != null) {
            return errno;
        } else if (from.equals(to)) {
            return null;
        }
        errno = isDirectory(from) ? notForDirectory(from, to, mustBeNew) : notForFile(to, mustBeNew);
        if (errno != null) {
            return errno;
        } else if (isDirectory(from)) {
            moveDirectory(from, to);
        } else {
            moveFile(from, to, mustBeNew);
        }
        emptied.addAll(above(from));
        touch(parent(from));
        touch(parent(to));
        return null;
    }

    /**
     * A rename of a directory that failed: copies whose responses were lost cannot be identified as its own, and stay.
     *
     * @param keys of all objects in the bucket
     * @param keeps whether a directory shows the attributes of files copied into it: not once its own marker is gone
     */
    @Nullable
    Errno leaveCopies(String from, String to, Set<String> keys, Predicate<String> keeps) {
        if (!isDirectory(from) || notForDirectory(from, to, false) != null) {
            return Errno.EINVAL;
        }
        for (String path : all()) {
            String copy = to + path.substring(Math.min(path.length(), from.length()));
            boolean kept = keeps.test(parent(copy));
            ReferenceEntry entry = requireNonNull(find(path));
            if (isWithin(path, from) && !isDirectory(path) && keys.contains(copy)) {
                objects.put(copy, kept ? entry : ReferenceEntry.foreign(entry.stored()));
                if (!kept) {
                    unshown.add(copy);
                }
            } else if ((path.equals(from) || isWithin(path, from)) && keys.contains(copy + "/")) {
                if (markers.putIfAbsent(copy, kept ? entry : ReferenceEntry.DIRECTORY) == null && !kept) {
                    unshown.add(copy);
                }
            }
        }
        return null;
    }

    /**
     * Copies that must not be renamed: the model does not know with which attributes they would show. Those in a
     * directory come before it.
     */
    List<String> takeUnshown() {
        List<String> taken = unshown.stream().sorted(Comparator.reverseOrder()).toList();
        unshown.clear();
        return taken;
    }

    private @Nullable Errno notForFile(String to, boolean mustBeNew) {
        if (mustBeNew && find(to) != null) {
            return Errno.EEXIST;
        }
        return isDirectory(to) ? Errno.EISDIR : null;
    }

    private @Nullable Errno notForDirectory(String from, String to, boolean mustBeNew) {
        if (isWithin(to, from)) {
            return Errno.EINVAL;
        } else if (isWithin(from, to)) {
            return Errno.ENOTEMPTY;
        } else if (mustBeNew && find(to) != null) {
            return Errno.EEXIST;
        } else if (find(to) != null && !isDirectory(to)) {
            return Errno.ENOTDIR;
        }
        return list(to).isEmpty() ? null : Errno.ENOTEMPTY;
    }

    private void moveFile(String from, String to, boolean mustBeNew) {
        Integer slot = slot(from);
        boolean isInTheStore = objects.containsKey(from);
        if (slot != null && (isInTheStore || mustBeNew || slot(to) != null)) {
            commit(slot);
        }
        lose(to);
        ReferenceEntry object = objects.remove(from);
        if (object != null) {
            objects.put(to, object);
        }
        open.replaceAll((_, file) -> from.equals(file.path()) ? file.at(to) : file);
    }

    private void moveDirectory(String from, String to) {
        for (int slot : List.copyOf(open.keySet())) {
            String path = open(slot).path();
            if (path != null && isWithin(path, from)) {
                commit(slot);
            }
        }
        UnaryOperator<String> moved =
                path -> path.equals(from) || isWithin(path, from) ? to + path.substring(from.length()) : path;
        markers.remove(to);
        revealed.add(from);
        ReferenceEntry hidden = objects.remove(from);
        move(objects, moved);
        if (hidden != null) {
            objects.put(from, hidden);
        }
        move(markers, moved);
        open.replaceAll((_, file) -> file.path() == null ? file : file.at(moved.apply(file.path())));
        for (Set<String> directories : List.of(emptied, touched, perhapsTouched)) {
            directories.remove(to);
            List<String> after = directories.stream().map(moved).toList();
            directories.clear();
            directories.addAll(after);
        }
    }

    private static void move(NavigableMap<String, ReferenceEntry> entries, UnaryOperator<String> moved) {
        for (String path : List.copyOf(entries.keySet())) {
            ReferenceEntry entry = requireNonNull(entries.remove(path));
            entries.put(moved.apply(path), entry);
        }
    }

    /** The effect of a file's rename that cannot delete the original, or gets no response to the copy. */
    @Nullable
    Errno copyFile(String from, String to) {
        Integer slot = slot(from);
        if (slot != null) {
            commit(slot);
        }
        ReferenceEntry entry = isDirectory(from) || isDirectory(to) ? null : objects.get(from);
        if (entry == null) {
            return Errno.EISDIR;
        }
        lose(to);
        objects.put(to, entry);
        touch(parent(to));
        return null;
    }

    /** The open files of a file refer to its copy from now on. */
    void openAt(String from, String to) {
        open.replaceAll((_, file) -> from.equals(file.path()) ? file.at(to) : file);
    }

    // ---- attributes

    @Nullable
    Errno change(String path, UnaryOperator<ReferenceEntry> change) {
        Errno errno = missing(path);
        if (errno != null) {
            return errno;
        }
        ReferenceEntry before = requireNonNull(find(path));
        ReferenceEntry after = change.apply(before);
        Integer slot = slot(path);
        if (before.isDirectory()) {
            markers.put(path, after);
            if (after.modified() != null && !after.modified().equals(before.modified())) {
                touched.remove(path);
                perhapsTouched.remove(path);
            }
            return null;
        }
        if (slot == null) {
            objects.put(path, after);
        } else {
            open.computeIfPresent(slot, (_, file) -> file.changed(after));
        }
        return null;
    }

    /** The same through a handle. For a removed file, all handles that had the same state get the new one. */
    @SuppressWarnings("ReferenceEquality")
    @Nullable
    Errno change(int slot, UnaryOperator<ReferenceEntry> change) {
        ReferenceOpen file = open(slot);
        if (file.path() != null) {
            return change(file.path(), change);
        }
        ReferenceEntry before = file.now();
        ReferenceEntry after = change.apply(before);
        open.replaceAll((_, each) -> each.path() == null && each.now() == before ? each.removed(after, false) : each);
        return null;
    }

    @Nullable
    Errno setExtended(String path, String name, @Nullable String value, int flags) {
        ReferenceEntry entry = missing(path) == null ? find(path) : null;
        if (entry != null) {
            boolean exists = entry.extended().containsKey(name);
            if (exists && flags == AttributeChanges.XATTR_CREATE) {
                return Errno.EEXIST;
            } else if (!exists && flags == AttributeChanges.XATTR_REPLACE) {
                return Errno.ENODATA;
            }
        }
        return change(path, before -> before.withExtended(name, value));
    }

    // ---- outside events

    /** The bucket has an object that marks this directory. */
    void marked(String directory) {
        markers.putIfAbsent(directory, ReferenceEntry.DIRECTORY);
    }

    /**
     * Another node has changed this name: files open for reading at it or above it keep their state. Below it there is
     * still a directory, which hides a file with its name.
     */
    void changedElsewhere(String changed) {
        open.replaceAll((_, file) -> {
            String path = file.path();
            return path != null && (path.equals(changed) || isWithin(changed, path))
                    ? file.removed(requireNonNull(find(path)), true)
                    : file;
        });
    }

    /** An emptied directory is shown as the file that it had hidden. */
    void shownAsFile(String path) {
        emptied.remove(path);
    }

    /**
     * Files that a directory with their name hides or has hidden until now: an emptied directory may still be shown, until
     * a lookup or a listing shows the file.
     */
    List<String> hidden() {
        return objects.keySet().stream()
                .filter(path -> revealed.contains(path)
                        || (emptied.contains(path)
                                && !markers.containsKey(path)
                                && list(path).isEmpty()))
                .toList();
    }

    /** Directories that were emptied here, and that nobody has created, are gone. */
    void ttlPassed() {
        emptied.clear();
    }

    /** Another mount begins, and all handles are closed. */
    void remounted() {
        emptied.clear();
        touched.clear();
        perhapsTouched.clear();
    }

    /** The process is killed: the next one commits what was fsynced. */
    void crash() {
        for (ReferenceOpen file : open.values()) {
            if (file.synced() != null) {
                objects.put(requireNonNull(file.path()), file.synced());
            }
        }
        open.clear();
        remounted();
    }

    /** A call has failed: it may have changed the times of directories, or removed open files. */
    void doubt() {
        perhapsTouched.addAll(touched);
        perhapsTouched.addAll(markers.keySet());
        open.replaceAll((_, file) -> file.path() == null ? file.removed(file.now(), true) : file);
    }
}
