package io.penstock.cache.disk;

import static java.util.Objects.requireNonNull;

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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The data files of all objects: makes, punches and removes them, and tells the {@link PageIndex} so before it does.
 * Safe for use by any number of threads.
 */
public final class DataFiles {
    private final DataFolder folder;
    private final PageIndex index;
    private final OpenPacks openPacks = new OpenPacks();

    /** The names of files that belong to objects; null once the files that belong to none are gone. */
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
     * The object's file. For callers that have a reference to the object, or have pinned an extent of it if it is a
     * pack.
     */
    DataFile open(ObjectExtents object) throws IOException {
        DataFile file = object.file(folder);
        if (object.isPack()) {
            openPacks.used(file);
        }
        return file;
    }

    /** Whether aligned transfers go past the kernel's page cache. */
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

    /** The same, but makes the file if it is not there. */
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
            object.setHasFile(true); // first, so that a concurrent compaction of the index does not leave it out
            boolean isMade = false;
            try {
                note(object);
                DataFile made = object.keepOpen(folder.create(object.dataFile()));
                isMade = true;
                made.setLength(object.size()); // at once, so that it equals the object when its last page is written
                return made;
            } finally {
                object.setHasFile(isMade);
            }
        }
    }

    /**
     * The object's file was removed from outside: no page of it is stored. The log says so before it says that there is
     * a new file, which does not have these pages.
     */
    private void gone(ObjectExtents object) throws IOException {
        for (Extent extent : object.stored().extents()) {
            for (int page = extent.firstPage(); page < extent.firstPage() + extent.pages(); page++) {
                extent.drop(page);
            }
        }
        index.append(new ObjectRemoved(object.fileName()));
    }

    /** Makes the file this object's. False, and nothing has changed, if it has one. */
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

    /** The object's file is about to be made. */
    private void note(ObjectExtents object) throws IOException {
        setKnown(object);
        index.append(ObjectAdded.of(object));
        if (object.readShape() != ReadShape.UNKNOWN) {
            index.append(ObjectStreamed.of(object));
        }
    }

    /** Frees the space of an extent. False if no part of its file can be freed. */
    boolean punch(Extent extent) throws IOException {
        if (extent.isEmpty()) {
            return true; // nothing of it was ever written
        }
        ObjectExtents object = extent.object();
        return index.appendBefore(
                new PagesDropped(object.fileName(), extent.firstPage(), extent.allPages()),
                () -> punch(object, extent.firstPage(), extent.pages()));
    }

    /** The same for pages that the index does not have. */
    boolean punch(ObjectExtents object, int firstPage, int pages) throws IOException {
        if (object.wasLent()) {
            return false; // a program that has it mapped would read zeros; the whole file it keeps when its name goes
        }
        try {
            int last = firstPage + pages - 1;
            PageGeometry geometry = object.geometry();
            long start = geometry.start(firstPage);
            open(object).punch(start, geometry.start(last) + object.pageLength(last) - start);
            return true;
        } catch (NoSuchFileException e) {
            return true; // removed from outside: its space is free
        } catch (NoHolesException e) {
            return false;
        }
    }

    void remove(ObjectExtents object) throws IOException {
        closePack(object); // if it is one: others are closed
        index.appendBefore(new ObjectRemoved(object.fileName()), () -> {
            folder.remove(object.dataFile());
            return true;
        });
    }

    /** The object has a file, or is about to. */
    void setKnown(ObjectExtents object) {
        Set<Long> names = known;
        if (names != null) {
            names.add(object.fileName());
        }
    }

    /** Removes the files of no object, once. */
    void removeUnknown() throws IOException {
        Set<Long> names = requireNonNull(known);
        folder.forEach(name -> {
            if (!names.contains(ObjectFiles.numberOf(name))) {
                folder.remove(name);
            }
        });
        known = null;
    }
}
