package io.penstock.cache;

import io.penstock.cache.PageFrame.Origin;
import io.penstock.cache.Slab.Piece;
import io.penstock.disk.DataFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one object version: those in memory as frames, those on disk as bits of extents.
 *
 * <p>A page is claimed by putting a frame where none is, and then looking again whether it is on disk: a page is marked
 * as stored before its frame goes, so that no claim can slip between.
 */
final class ObjectPages implements PageFrame.Owner {
    private final Shared shared;
    private final ObjectId id;
    private final long size;

    /**
     * Name of the data file. Random, so that a file that is being removed is never mistaken for that of the same object
     * come back.
     */
    private final long fileName;

    /** Opens and other uses. Guarded by {@link ObjectTable}'s lock for this object, as the next two for writing. */
    private int references;

    /** Null while nobody has the object open and nothing of it is in memory. */
    private volatile @Nullable ConcurrentHashMap<Integer, PageFrame> frames;

    /** Open while somebody uses it. Set under this object's monitor. */
    private volatile @Nullable DataFile file;

    /** Whether the data file exists. Write-behind sets it, holding {@link #making}. */
    private volatile boolean fileExists;

    /** Somebody may read the data file without us, and no lease tells until when: a mapping outlives the last close. */
    private volatile boolean lent;

    /** Held while the data file is made: a second thread that did so would drop what the first has stored meanwhile. */
    private final Object making = new Object();

    private final StoredPages stored;

    /** What all objects of a cache share. */
    record Shared(ObjectTable table, PageMemory memory, PageStore store, WholeFiles wholeFiles, Counters counters) {}

    ObjectPages(Shared shared, ObjectId id, long size) {
        this(shared, id, size, ThreadLocalRandom.current().nextLong(), false);
    }

    ObjectPages(Shared shared, ObjectId id, long size, long fileName, boolean fileExists) {
        this.shared = shared;
        this.id = id;
        this.size = size;
        this.fileName = fileName;
        this.fileExists = fileExists;
        this.stored = new StoredPages(this, shared.store().pagesPerExtent());
    }

    ObjectId id() {
        return id;
    }

    long size() {
        return size;
    }

    long fileName() {
        return fileName;
    }

    /** The name of the data file in its folder. */
    String dataFile() {
        return ObjectFiles.nameOf(fileName);
    }

    @Override
    public PageMemory memory() {
        return shared.memory();
    }

    int pageLength(int page) {
        return PageGeometry.length(size, page);
    }

    int pageCount() {
        return PageGeometry.count(size);
    }

    long allocatedBytes(int page) {
        return PageGeometry.allocatedBytes(size, page);
    }

    // ---- what readers and fetchers call

    PageState state(int page) {
        PageFrame frame = frame(page);
        if (frame != null && !frame.isComplete() && frame.origin() == Origin.STORE) {
            return PageState.INFLIGHT;
        }
        return frame != null || shared.store().has(this, page) ? PageState.READY : PageState.MISSING;
    }

    @Nullable
    Fill claim(int from, int to, Urgency urgency) throws InterruptedException {
        for (int page = from; page < to; page++) {
            PageFrame first = claimFirst(page, urgency);
            if (first != null) {
                return extended(first, to, urgency);
            }
            if (urgency == Urgency.READAHEAD && state(page) == PageState.MISSING) {
                return null; // for want of memory
            }
        }
        return null;
    }

    /** Null if the page is not Missing, or, for readahead, if there is no memory. */
    private @Nullable PageFrame claimFirst(int page, Urgency urgency) throws InterruptedException {
        return switch (urgency) {
            case READAHEAD -> tryClaim(page, urgency);
            case DEMAND -> {
                PageFrame frame = claimWithoutMemory(page);
                if (frame != null) {
                    waitForMemory(frame);
                }
                yield frame;
            }
        };
    }

    /** The claim comes first, so that of many readers of a page only one waits for memory. */
    void waitForMemory(PageFrame frame) throws InterruptedException {
        boolean granted = false;
        try {
            frame.setPiece(memory().acquire(frame.length()));
            granted = true;
        } finally {
            if (!granted) {
                abandon(frame);
            }
        }
    }

    private Fill extended(PageFrame first, int to, Urgency urgency) {
        List<PageFrame> run = new ArrayList<>();
        run.add(first);
        boolean done = false;
        try {
            extend(run, to, urgency);
            done = true;
            return new Fill(this, run);
        } finally {
            if (!done) {
                run.forEach(this::abandon);
            }
        }
    }

    private void extend(List<PageFrame> run, int to, Urgency urgency) {
        for (int page = run.getFirst().page() + 1; page < to; page++) {
            PageFrame frame = tryClaim(page, urgency);
            if (frame == null) {
                return;
            }
            run.add(frame);
        }
    }

    private @Nullable PageFrame tryClaim(int page, Urgency urgency) {
        if (state(page) != PageState.MISSING) {
            return null;
        }
        Piece piece = memory().tryAcquire(pageLength(page), urgency);
        if (piece == null) {
            return null;
        }
        PageFrame frame = claimWithoutMemory(page);
        if (frame == null) {
            memory().free(piece);
            return null;
        }
        frame.setPiece(piece);
        return frame;
    }

    private @Nullable PageFrame claimWithoutMemory(int page) {
        if (state(page) != PageState.MISSING) {
            return null;
        }
        PageFrame frame = newFrame(page, Origin.STORE);
        if (!addFrame(frame)) {
            return null;
        }
        if (shared.store().has(this, page)) { // stored, and its frame given up, since the first look
            abandon(frame);
            return null;
        }
        return frame;
    }

    /** Takes the frame away as if it had never been there. */
    void abandon(PageFrame frame) {
        boolean current = removeFrame(frame);
        frame.cancel();
        frame.release();
        if (current) {
            frame.release();
        }
    }

    @Override
    public void readerWaits() {
        shared.counters().waits.increment();
    }

    // ---- what a fill calls

    void completed(PageFrame frame) {
        shared.counters().filledPages.increment();
        shared.store().writes().write(this, frame);
    }

    void failed(PageFrame frame, Exception cause) {
        shared.counters().failedFills.increment();
        boolean current = removeFrame(frame);
        frame.fail(cause);
        frame.release();
        if (current) {
            frame.release();
        }
    }

    // ---- frames

    PageFrame newFrame(int page, Origin origin) {
        return new PageFrame(this, page, pageLength(page), origin);
    }

    @Override
    public @Nullable PageFrame frame(int page) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        return map == null ? null : map.get(page);
    }

    /** Makes the frame current, unless its page has one. For those who have a reference to this object. */
    boolean addFrame(PageFrame frame) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map == null) {
            throw new IllegalStateException("used after it was closed");
        }
        return map.putIfAbsent(frame.page(), frame) == null;
    }

    @Override
    public boolean removeFrame(PageFrame frame) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map == null || !map.remove(frame.page(), frame)) {
            return false;
        }
        if (map.isEmpty()) {
            shared.table().forgetIfUnusedNow(this);
        }
        return true;
    }

    List<PageFrame> frames() {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        return map == null ? List.of() : List.copyOf(map.values());
    }

    /** Gives up its pages in memory; those in flight are left to their fills. */
    void discardFrames() {
        frames().stream().filter(PageFrame::isComplete).forEach(memory()::discard);
    }

    // ---- lifetime; called under ObjectTable's lock for this object

    void retained() {
        references++;
        if (frames == null) {
            frames = new ConcurrentHashMap<>();
        }
    }

    /** The file to close now, if this was the last reference. */
    @Nullable
    DataFile released() {
        references--;
        if (references > 0) {
            return null;
        }
        synchronized (this) {
            DataFile unused = file;
            file = null;
            return unused;
        }
    }

    int references() {
        return references;
    }

    boolean isInUse() {
        if (references > 0) {
            return true;
        }
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (map != null && !map.isEmpty()) {
            return true;
        }
        frames = null;
        return !stored.isEmpty();
    }

    /** Whether nothing but this one extent keeps the object from being forgotten. */
    boolean isHeldOnlyBy(Extent extent) {
        ConcurrentHashMap<Integer, PageFrame> map = frames;
        if (references > 0 || (map != null && !map.isEmpty())) {
            return false;
        }
        return stored.isOnly(extent);
    }

    /** Nobody can find it any more. */
    void forgotten() {
        if (fileExists) {
            shared.store().removeFile(this);
        }
    }

    boolean hasFile() {
        return fileExists;
    }

    /** The file is about to be lent, or was by an earlier process. False if it had been before. */
    boolean setLent() {
        boolean first = !lent;
        lent = true;
        return first;
    }

    /** From then on the file is never changed, only removed as a whole. */
    boolean wasLent() {
        return lent;
    }

    // ---- on disk

    /** For those who have a reference to this object. */
    DataFile file() throws IOException {
        DataFile current = file;
        return current != null ? current : keepOpen(shared.store().files().open(dataFile()));
    }

    /** The same, but makes the file if it is not there. */
    DataFile fileForWriting() throws IOException {
        try {
            return file();
        } catch (NoSuchFileException _) {
            synchronized (making) {
                return makeFile();
            }
        }
    }

    private DataFile makeFile() throws IOException {
        try {
            return file(); // another thread was faster
        } catch (NoSuchFileException _) {
            if (fileExists) {
                lent = false;
                shared.store().fileIsGone(this);
            }
            fileExists = true; // first, so that a compaction of the index meanwhile does not leave it out
            shared.store().prepareFile(this);
            DataFile made = keepOpen(shared.store().files().create(dataFile()));
            made.setLength(size); // at once, so that it equals the object when its last page is written
            return made;
        }
    }

    /** Makes the file this object's. False, and nothing has changed, if it has one. */
    boolean adoptFile(Path source) throws IOException {
        synchronized (making) {
            if (fileExists) {
                return false; // a fill was faster
            }
            fileExists = true; // first, as above
            boolean adopted = false;
            try {
                shared.store().prepareFile(this);
                shared.store().files().adopt(dataFile(), source);
                adopted = true;
            } finally {
                fileExists = adopted;
            }
            return true;
        }
    }

    private DataFile keepOpen(DataFile opened) throws IOException {
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

    @Nullable
    Extent extent(int page) {
        return stored.extent(page);
    }

    StoredPages stored() {
        return stored;
    }

    /** Its space has been freed. */
    void removeExtent(Extent extent) {
        stored.remove(extent);
        shared.table().forgetIfUnusedNow(this);
    }
}
