package io.penstock.cache.disk;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.disk.IndexRecord.ObjectAdded;
import io.penstock.cache.disk.IndexRecord.ObjectRemoved;
import io.penstock.cache.disk.IndexRecord.ObjectStreamed;
import io.penstock.cache.disk.IndexRecord.PagesDropped;
import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.NoHolesException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The data files of all objects: creates, punches and removes them, and records each change in the {@link PageIndex}
 * first. Safe for use by any number of threads.
 */
public final class DataFiles {
    private final DataFolder folder;
    private final PageIndex index;
    private final OpenPacks openPacks = new OpenPacks();

    /** The names of files that belong to objects; null once all other files have been removed. */
    private volatile @Nullable Set<Long> known = ConcurrentHashMap.newKeySet();

    public DataFiles(DataFolder folder, PageIndex index) {
        this.folder = folder;
        this.index = index;
    }

    long usableBytes() throws IOException {
        return folder.usableBytes();
    }

    Path path(ObjectExtents object) {
        return folder.path(object.dataFile());
    }

    /**
     * The object's file. The caller must hold a reference to the object; for a pack, a pin of one of its extents is
     * enough.
     */
    DataFile open(ObjectExtents object) throws IOException {
        DataFile file = object.file(folder);
        if (object.isPack()) {
            openPacks.used(file);
        }
        return file;
    }

    /** Whether aligned transfers bypass the kernel's page cache. */
    boolean areDirect() {
        return folder.isDirect();
    }

    /** Closes a pack's file, which no reader does. */
    void closePack(ObjectExtents pack) {
        DataFile open = pack.takeFile();
        if (open != null) {
            openPacks.closed(open);
            ObjectTable.close(open);
        }
    }

    /** The same, but creates the file if it does not exist. */
    DataFile openForWriting(ObjectExtents object) throws IOException {
        try {
            return open(object);
        } catch (NoSuchFileException _) {
            synchronized (object.making()) {
                return make(object);
            }
        }
    }

    private DataFile make(ObjectExtents object) throws IOException {
        try {
            return open(object); // another thread was faster
        } catch (NoSuchFileException _) {
            if (object.hasFile()) {
                object.setNotLent();
                gone(object);
            }
            object.setHasFile(true); // first, so that a concurrent compaction of the index includes it
            boolean isMade = false;
            try {
                note(object);
                DataFile made = object.keepOpen(folder.create(object.dataFile()));
                isMade = true;
                made.setLength(object.size()); // now, so that it has the object's size when its last page is written
                return made;
            } finally {
                object.setHasFile(isMade);
            }
        }
    }

    /**
     * The object's file was removed by another program, so none of its pages is stored. The log must record this before
     * the new file, which does not have these pages.
     */
    private void gone(ObjectExtents object) throws IOException {
        for (Extent extent : object.stored().extents()) {
            for (int page = extent.firstPage(); page < extent.firstPage() + extent.pages(); page++) {
                extent.drop(page);
            }
        }
        index.append(new ObjectRemoved(object.fileName()));
    }

    /** Makes the file this object's. Returns false, and changes nothing, if it has one already. */
    boolean adopt(ObjectExtents object, Path source) throws IOException {
        synchronized (object.making()) {
            if (object.hasFile()) {
                return false; // a fill was faster
            }
            object.setHasFile(true); // first, as above
            boolean adopted = false;
            try {
                note(object);
                folder.adopt(object.dataFile(), source);
                adopted = true;
            } finally {
                object.setHasFile(adopted);
            }
            return true;
        }
    }

    /** The object's file is about to be created. */
    private void note(ObjectExtents object) throws IOException {
        setKnown(object);
        index.append(ObjectAdded.of(object));
        if (object.readShape() != ReadShape.UNKNOWN) {
            index.append(ObjectStreamed.of(object));
        }
    }

    /** Frees the space of an extent. Returns false if only the whole file can be freed. */
    boolean punch(Extent extent) throws IOException {
        if (extent.isEmpty()) {
            return true; // nothing was ever written to it
        }
        ObjectExtents object = extent.object();
        return index.appendBefore(
                new PagesDropped(object.fileName(), extent.firstPage(), extent.allPages()),
                () -> punch(object, extent.firstPage(), extent.pages()));
    }

    /** The same for pages that the index does not contain. */
    boolean punch(ObjectExtents object, int firstPage, int pages) throws IOException {
        if (object.wasLent()) {
            return false; // a program that has mapped it would read zeros; a removed file stays intact for it
        }
        try {
            int last = firstPage + pages - 1;
            PageGeometry geometry = object.geometry();
            long start = geometry.start(firstPage);
            open(object).punch(start, geometry.start(last) + object.pageLength(last) - start);
            return true;
        } catch (NoSuchFileException e) {
            return true; // removed by another program: its space is free
        } catch (NoHolesException e) {
            return false;
        }
    }

    void remove(ObjectExtents object) throws IOException {
        closePack(object); // only a pack's file can still be open
        index.appendBefore(new ObjectRemoved(object.fileName()), () -> {
            folder.remove(object.dataFile());
            return true;
        });
    }

    /** The object has a file, or is about to get one. */
    void setKnown(ObjectExtents object) {
        Set<Long> names = known;
        if (names != null) {
            names.add(object.fileName());
        }
    }

    /** Removes the files that belong to no object; runs once. */
    void removeUnknown() throws IOException {
        Set<Long> names = requireNonNull(known);
        folder.forEach(name -> {
            if (!names.contains(ObjectFiles.numberOf(name))) {
                folder.remove(name);
            }
        });
        known = null;
    }

    /** Bounds the descriptors of packs: the most recently used keep theirs. Safe for use by any number of threads. */
    private static final class OpenPacks {
        /** Each pack has up to two descriptors. */
        private static final int MOST = 256;

        /** In order of use, the most recent last. */
        @GuardedBy("this")
        private final LinkedHashMap<DataFile, Boolean> files = new LinkedHashMap<>(MOST, 0.75F, true);

        /** The pack's file is about to be used. */
        void used(DataFile file) throws IOException {
            DataFile eldest = null;
            synchronized (this) {
                files.put(file, true);
                if (files.size() > MOST) {
                    eldest = files.keySet().iterator().next();
                    files.remove(eldest);
                }
            }
            if (eldest != null) {
                eldest.rest();
            }
        }

        /** The pack's file is closed. */
        synchronized void closed(DataFile file) {
            files.remove(file);
        }
    }
}
