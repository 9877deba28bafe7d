package io.penstock.filesystem.files;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.filesystem.kernel.KernelContent;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.prefetch.ObjectReader;
import io.penstock.prefetch.PageFetcher;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open files, and those with uncommitted writes. Its one table has two keys, inode and content. Thread-safe.
 */
public final class SharedFiles implements Writeback.Listener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SharedFiles.class);

    private final Tree tree;
    private final InodeTable inodes;
    private final PageFetcher fetcher;
    private final KernelView kernel;
    private final KeptAttributes kept;
    private final ModifiedTimes times = new ModifiedTimes();
    private final UnheardErrors unheard = new UnheardErrors();

    /** By inode number; mostly one file each. The lists are immutable, and replaced only within compute. */
    private final ConcurrentMap<Long, List<SharedFile>> byInode = new ConcurrentHashMap<>();

    private final ConcurrentMap<WrittenFile, SharedFile> byContent = new ConcurrentHashMap<>();
    private final AtomicLong lastNumber = new AtomicLong();

    private final BackgroundTasks background = new BackgroundTasks();

    public SharedFiles(Tree tree, InodeTable inodes, PageFetcher fetcher, KernelView kernel, KeptAttributes kept) {
        this.tree = tree;
        this.inodes = inodes;
        this.fetcher = fetcher;
        this.kernel = kernel;
        this.kept = kept;
    }

    public Tree tree() {
        return tree;
    }

    public KernelView kernel() {
        return kernel;
    }

    public KeptAttributes kept() {
        return kept;
    }

    public ModifiedTimes times() {
        return times;
    }

    public UnheardErrors unheard() {
        return unheard;
    }

    /** A number that was never used before. */
    long newNumber() {
        return lastNumber.incrementAndGet();
    }

    ObjectReader open(ObjectVersion version) {
        return fetcher.open(version);
    }

    /** All files of an inode. */
    public List<SharedFile> of(long inode) {
        return byInode.getOrDefault(inode, List.of());
    }

    /** The open file of an inode that has lost its name: null if there is none. */
    public @Nullable SharedFile removed(Inode inode) {
        for (SharedFile file : of(inode.number())) {
            if (file.links() == 0 && file.isOpen()) {
                return file;
            }
        }
        return null;
    }

    /** The file, with one more handle, which must {@linkplain SharedFile#leave leave}. Null: look it up again. */
    public @Nullable SharedFile join(Inode inode, LiveFile live, boolean write) {
        SharedFile file = (SharedFile) live; // there are no others
        if (file.inode().number() == inode.number() && file.join(write)) {
            return file;
        }
        file.settle();
        return null;
    }

    /** The same for a version that is not being written. */
    public @Nullable SharedFile join(Inode inode, ObjectVersion version, boolean write) {
        SharedFile known = find(of(inode.number()), version);
        if (known == null) {
            known = add(new SharedFile(this, inode, version, fetcher.open(version)), version);
        }
        if (known.join(write)) {
            return known;
        }
        known.settle();
        return null;
    }

    private SharedFile add(SharedFile fresh, ObjectVersion version) {
        SharedFile[] shared = {fresh};
        inodes.acquire(fresh.inode());
        byInode.compute(fresh.inode().number(), (_, files) -> {
            SharedFile known = files == null ? null : find(files, version);
            shared[0] = known == null ? fresh : known;
            return known == null ? with(files, fresh) : files;
        });
        if (shared[0] != fresh) {
            fresh.content().close();
            inodes.release(fresh.inode(), 1);
        }
        return shared[0];
    }

    /** A new file with these attributes, joined to write. Its inode has been looked up once. */
    public SharedFile create(Directory parent, String name, WrittenFile content, ObjectAttributes attributes) {
        Inode inode = inodes.acquireFile(parent, name);
        inodes.acquire(inode);
        SharedFile file = new SharedFile(this, inode, content, true);
        file.created(attributes);
        add(file, content);
        kernel.lookedUp(inode, file);
        return file;
    }

    /** The inode at the place: null if none is in use. */
    public @Nullable Inode inode(Place place, @Nullable Node node) {
        if (node instanceof SharedFile file) { // the name may have another since this file was first written
            inodes.restore(file.inode());
        }
        return inodes.find(place.parent(), place.name());
    }

    /** The store's version of a node, as far as it is known here: null if there is none. */
    public static @Nullable ObjectVersion stored(Node node) {
        return switch (node) {
            case Directory _ -> null;
            case FileEntry(StoredObject object) -> object.version();
            case LiveFile live -> ((SharedFile) live).stored();
        };
    }

    /** Takes over content left by an earlier run. Once no handle has it open, it is committed in the background. */
    public void recover(WrittenFile content) {
        Inode inode = acquire(content);
        if (inode != null) {
            add(new SharedFile(this, inode, content, false), content);
        }
    }

    /**
     * The content's inode in the mount's former process, or that of its name, with one more reference. The content knows
     * its name better than the inode. Null if it has neither.
     */
    private @Nullable Inode acquire(WrittenFile content) {
        Place place = content.hasName() ? tree.place(content.key()) : null;
        Inode inode = inodes.get(content.inode());
        if (inode == null) {
            return place == null ? null : inodes.acquireFile(place.parent(), place.name());
        }
        inodes.acquire(inode);
        if (place == null) {
            inodes.detach(inode);
        } else if (!place.equals(inode.place())) {
            inodes.move(inode, place.parent(), place.name());
        }
        return inode;
    }

    /** The written file that a handle of the mount's former process had open: null if it has not survived. */
    public @Nullable SharedFile survivor(Inherited.File open) {
        for (SharedFile file : of(open.node())) {
            WrittenFile content = file.written();
            if (content != null && isOpenBy(open, content)) {
                return file;
            }
        }
        return null;
    }

    /** A handle that read a version reads what was written over it since. */
    private static boolean isOpenBy(Inherited.File open, WrittenFile content) {
        ObjectVersion read = open.version();
        ObjectVersion over = content.firstOver();
        return read == null ? content.number() == open.content() : over != null && over.hasIdentityOf(read);
    }

    /** All handles of the mount's former process have joined. */
    public void inherited() {
        byInode.values().forEach(files -> files.forEach(SharedFile::inherited));
    }

    private void add(SharedFile file, WrittenFile content) {
        add(content, file);
        byInode.compute(file.inode().number(), (_, files) -> with(files, file));
        file.overlayName();
    }

    void add(WrittenFile content, SharedFile file) {
        byContent.put(content, file);
    }

    /** The files below the directory that have a name, and that are being written or have uncommitted content. */
    public List<WrittenFile> written(Directory directory) {
        return byContent.entrySet().stream()
                .filter(each -> each.getValue().links() > 0
                        && directory.contains(each.getKey().key()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static @Nullable SharedFile find(List<SharedFile> files, ObjectVersion version) {
        for (SharedFile file : files) {
            if (file.isOf(version)) {
                return file;
            }
        }
        return null;
    }

    private static List<SharedFile> with(@Nullable List<SharedFile> files, SharedFile file) {
        List<SharedFile> more = new ArrayList<>(files == null ? List.of() : files);
        more.add(file);
        return List.copyOf(more);
    }

    /**
     * The inode's object has another version now. Its open files read that version, and the kernel's attributes and
     * pages of the old version apply to the new one.
     */
    public void moved(long number, ObjectVersion before, ObjectVersion after) {
        Inode inode = inodes.get(number);
        if (inode != null) {
            kernel.becomes(inode, KernelContent.of(before), KernelContent.of(after));
        }
        for (SharedFile file : of(number)) {
            file.moved(before, after);
        }
    }

    /** Waits for those files of the inode that are ending, which can no longer be joined. */
    public void awaitEnds(Inode inode) throws InterruptedException {
        for (SharedFile file : of(inode.number())) {
            file.awaitEnd();
        }
    }

    /** No handle has it open, and nothing is left to commit. */
    void ended(SharedFile file) {
        WrittenFile content = file.written();
        if (content != null) {
            byContent.remove(content);
        }
        byInode.computeIfPresent(file.inode().number(), (_, files) -> {
            List<SharedFile> left =
                    files.stream().filter(other -> other != file).toList();
            return left.isEmpty() ? null : left;
        });
        inodes.release(file.inode(), 1);
    }

    /**
     * The store has this object at the place now, because it was written here.
     *
     * @param attributes null if they are not known
     */
    public void stored(
            Place place,
            StoredObject object,
            Instant modified,
            Instant changed,
            @Nullable ObjectAttributes attributes) {
        times.set(object.version(), modified, changed);
        if (attributes != null) {
            kept.set(object.version(), attributes);
        } else {
            kept.doubt(place.key()); // all empty objects of one second look alike
        }
        changed(place.parent(), place.name(), new FileEntry(object));
    }

    /** The store was changed here: the name has other content now, or none. */
    public void changed(Directory directory, String name, Answer now) {
        unheard.forget(directory.key(name));
        tree.changed(directory, name, now);
    }

    /**
     * A change to this object has failed, but may have been made all the same: its times and attributes are unknown.
     */
    public void doubt(String key) {
        times.forget(key);
        kept.doubt(key);
    }

    /** Runs the task on its own thread, after the call. The file system waits for it when it closes. */
    public void runInBackground(Runnable task) {
        background.start(task);
    }

    public void commitInBackground(WrittenFile content) {
        background.start(() -> {
            try {
                content.commitInBackground();
            } catch (ObjectStoreException | IOException e) {
                LOG.warn("'{}' is not committed yet: {}", content.key(), e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @Override
    public void committed(WrittenFile content, StoredObject object) {
        SharedFile file = byContent.get(content);
        if (file != null) {
            file.committed(object);
        }
    }

    @Override
    public void abandoned(WrittenFile content) {
        SharedFile file = byContent.get(content);
        if (file != null) {
            Place place = file.inode().place();
            Exception failure = content.unheard();
            if (failure != null) {
                unheard.add(file.key(), file.stored(), Errnos.errno(failure), String.valueOf(failure.getMessage()));
            }
            if (place != null) {
                tree.invalidate(place.parent(), place.name());
            }
            file.abandoned();
            if (place != null) {
                kernel.isLost(file.inode());
            }
        }
    }

    /** For tests, while no call is running. */
    public void checkInvariants() {
        byInode.values().forEach(files -> files.forEach(SharedFile::checkInvariants));
    }

    /** Waits for the tasks that were started. */
    public void awaitBackgroundTasks() throws InterruptedException {
        background.await();
    }

    /** The same, and accepts no further tasks. */
    @Override
    public void close() {
        background.close();
    }
}
