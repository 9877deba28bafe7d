package io.penstock.cache.disk;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.DirectIo;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The disk's side of one object version: its data file, and the extents that are stored in it.
 *
 * <p>{@code ObjectPages} extends it by the pages in memory. It is not made of two objects, as there may be millions and
 * a header takes 16 bytes. The methods that the disk's side needs of the memory's side are abstract.
 */
public abstract class ObjectExtents {
    private final ObjectId id;
    private final long size;
    private final PageGeometry geometry;

    /**
     * Name of the data file. Random, so that a file that is being removed is never mistaken for that of the same object
     * come back.
     */
    private final long fileName;

    /** Opens and other uses. Guarded by {@link ObjectTable}'s lock for this object. */
    private int references;

    /** Open while the object is in use; of a pack, from its first use on. Guarded by this for writing. */
    private volatile @Nullable DataFile file;

    /** Whether the data file exists. Write-behind sets it, holding {@link #making}. */
    private volatile boolean fileExists;

    private volatile ReadShape readShape = ReadShape.UNKNOWN;

    /**
     * The data file may be read without the cache, and no lease tells until when: a mapping outlives the last close.
     */
    private volatile boolean lent;

    private final Object making = new Object();
    private final StoredPages stored;

    @SuppressWarnings("this-escape") // StoredPages keeps it, and calls it once it is stored to
    protected ObjectExtents(
            ObjectId id, long size, PageGeometry geometry, long fileName, boolean fileExists, int pagesPerExtent) {
        this.id = id;
        this.size = size;
        this.geometry = geometry;
        this.fileName = fileName;
        this.fileExists = fileExists;
        this.stored = new StoredPages(this, pagesPerExtent);
    }

    // ---- the memory's side

    /** Whether pages of it are in memory. Asked under {@link ObjectTable}'s lock, while there is no reference. */
    protected abstract boolean hasFrames();

    /** Gives up its pages in memory; those in flight are left to their fills. */
    protected abstract void discardFrames();

    /** It cannot be found any more; its file, if it has one, is to be removed. */
    protected abstract void forgotten();

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

    /** Whether it is one that no reader knows, and that holds small objects: see {@link Packs}. */
    public boolean isPack() {
        return geometry == PageGeometry.PACKS;
    }

    /** Bytes that a page takes on disk: whole blocks of the file system. */
    long allocatedBytes(int page) {
        return DirectIo.wholeBlocks(pageLength(page));
    }

    // ---- lifetime; called under ObjectTable's lock for this object

    protected void retained() {
        references++;
    }

    /** The file to close now, if this was the last reference. A pack stays open: its readers have none. */
    @Nullable
    DataFile released() {
        references--;
        return references > 0 || isPack() ? null : takeFile();
    }

    /** The file if it is open, to be closed. */
    synchronized @Nullable DataFile takeFile() {
        DataFile unused = file;
        file = null;
        return unused;
    }

    int references() {
        return references;
    }

    boolean isInUse() {
        return references > 0 || hasFrames() || !stored.isEmpty();
    }

    /** Whether nothing but this one extent keeps the object from being forgotten. */
    boolean isHeldOnlyBy(Extent extent) {
        return references == 0 && !hasFrames() && stored.isOnly(extent);
    }

    // ---- the data file

    public long fileName() {
        return fileName;
    }

    /** The name of the data file in its folder. */
    String dataFile() {
        return ObjectFiles.nameOf(fileName);
    }

    /** Held while the data file is made: a second thread that did so would drop the pages that the first has stored. */
    Object making() {
        return making;
    }

    public boolean hasFile() {
        return fileExists;
    }

    void setHasFile(boolean has) {
        fileExists = has;
    }

    /** The data file, opened in its folder. */
    DataFile file(DataFolder folder) throws IOException {
        DataFile current = file;
        return current != null ? current : keepOpen(folder.open(dataFile()));
    }

    /** The data file from now on, unless another thread has opened it since: then that one. */
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

    /** The file is about to be lent, or was by an earlier process. False if it had been before. */
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
