package io.penstock.cache.disk;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.DirectIo;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The disk side of one object version: its data file, and the extents stored in it. Most have nothing in memory. */
public final class ObjectExtents {
    /** The object's pages in memory. */
    public interface InMemory {
        boolean isEmpty();

        /** Drops all but those in flight, which are left to their fills. */
        void discard();
    }

    private final ObjectId id;
    private final long size;
    private final PageGeometry geometry;

    /** Name of the data file. Random, so that a file being removed is never mistaken for the object's next file. */
    private final long fileName;

    /** Opens and other uses. Guarded by {@link ObjectTable}'s lock for this object. */
    private int references;

    /** Open while the object is in use; for a pack, from its first use on. Writes are guarded by this. */
    private volatile @Nullable DataFile file;

    /** Whether the data file exists. Write-behind sets it while it holds {@link #making}. */
    private volatile boolean fileExists;

    private volatile ReadShape readShape = ReadShape.UNKNOWN;

    /** The data file may be read outside the cache, for an unknown time: a mapping outlives the last close. */
    private volatile boolean lent;

    private final Object making = new Object();
    private final StoredPages stored;

    /** Null while the object is not open and no page of it is in memory. */
    private volatile @Nullable InMemory memory;

    public ObjectExtents(ObjectId id, long size, PageGeometry geometry, int pagesPerExtent) {
        this(id, size, geometry, ThreadLocalRandom.current().nextLong(), false, pagesPerExtent);
    }

    ObjectExtents(
            ObjectId id, long size, PageGeometry geometry, long fileName, boolean fileExists, int pagesPerExtent) {
        this.id = id;
        this.size = size;
        this.geometry = geometry;
        this.fileName = fileName;
        this.fileExists = fileExists;
        this.stored = new StoredPages(this, pagesPerExtent);
    }

    // ---- the object

    public ObjectId id() {
        return id;
    }

    public long size() {
        return size;
    }

    public PageGeometry geometry() {
        return geometry;
    }

    public int pageLength(int page) {
        return (int) Math.min(geometry.size(), size - geometry.start(page));
    }

    public int pageCount() {
        return Math.toIntExact(Math.ceilDiv(size, geometry.size()));
    }

    /** Whether it is stored in a pack. */
    boolean isSmall() {
        return geometry == PageGeometry.PAGES && PageGeometry.isSmall(size);
    }

    /** Whether it is a pack: an object that readers do not see and that holds small objects. See {@link Packs}. */
    public boolean isPack() {
        return geometry == PageGeometry.PACKS;
    }

    /** Bytes that a page takes on disk: whole file system blocks. */
    long allocatedBytes(int page) {
        return DirectIo.wholeBlocks(pageLength(page));
    }

    // ---- its pages in memory

    public @Nullable InMemory memory() {
        return memory;
    }

    /** Those there are, or new ones. The caller has retained the object. */
    public synchronized InMemory memory(Function<ObjectExtents, InMemory> creation) {
        InMemory known = memory;
        InMemory now = known == null ? creation.apply(this) : known;
        memory = now;
        return now;
    }

    /** {@link InMemory#discard}, if it has any. */
    public void discardFromMemory() {
        InMemory pages = memory;
        if (pages != null) {
            pages.discard();
        }
    }

    /** Called under {@link ObjectTable}'s lock, while there is no reference. */
    private boolean isInMemory() {
        InMemory pages = memory;
        if (pages != null && !pages.isEmpty()) {
            return true;
        }
        memory = null;
        return false;
    }

    // ---- lifetime; called under ObjectTable's lock for this object

    void retained() {
        references++;
    }

    /** The file to close now, if this was the last reference. A pack stays open: its readers hold no reference. */
    @Nullable
    DataFile released() {
        references--;
        return references > 0 || isPack() ? null : takeFile();
    }

    /** The file to close, if it is open. */
    synchronized @Nullable DataFile takeFile() {
        DataFile unused = file;
        file = null;
        return unused;
    }

    int references() {
        return references;
    }

    boolean isInUse() {
        return references > 0 || isInMemory() || !stored.isEmpty();
    }

    /** Whether only this extent keeps the object from being forgotten. */
    boolean isHeldOnlyBy(Extent extent) {
        return references == 0 && !isInMemory() && stored.isOnly(extent);
    }

    // ---- the data file

    public long fileName() {
        return fileName;
    }

    /** The name of the data file in its folder. */
    String dataFile() {
        return ObjectFiles.nameOf(fileName);
    }

    /** Held while the data file is created. Without it, a second creator would drop the pages stored by the first. */
    Object making() {
        return making;
    }

    public boolean hasFile() {
        return fileExists;
    }

    void setHasFile(boolean has) {
        fileExists = has;
    }

    /** The data file, opened in its folder if necessary. */
    DataFile file(DataFolder folder) throws IOException {
        DataFile current = file;
        return current != null ? current : keepOpen(folder.open(dataFile()));
    }

    /** Keeps this as the data file, unless another thread has opened it since: then that one. */
    DataFile keepOpen(DataFile opened) throws IOException {
        DataFile current;
        synchronized (this) {
            current = file;
            if (current == null) {
                file = opened;
                return opened;
            }
        }
        opened.close();
        return current;
    }

    /** Whether the file may be open elsewhere: then it is never changed, only removed as a whole. */
    boolean wasLent() {
        return lent;
    }

    /** The file is about to be lent, or was by an earlier process. Returns false if it had been before. */
    public boolean setLent() {
        boolean first = !lent;
        lent = true;
        return first;
    }

    /** There will be a new file, which no reader has seen. */
    void setNotLent() {
        lent = false;
    }

    public ReadShape readShape() {
        return readShape;
    }

    public void setReadShape(ReadShape shape) {
        readShape = shape;
    }

    public StoredPages stored() {
        return stored;
    }

    public @Nullable Extent extent(int page) {
        return stored.extent(page);
    }
}
