package io.penstock.metadata;

import io.penstock.listing.FileReplacement;
import io.penstock.listing.KeyTable;
import io.penstock.listing.KeyTableFile;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listing of the whole bucket on disk, for the next mount. The first change made here deletes it, because it would
 * hide that change, and this mount saves no other.
 *
 * <p>Safe for use by any number of threads, but only one may {@link #load} or {@link #save} at a time.
 */
final class TableSnapshot {
    private static final Logger LOG = LoggerFactory.getLogger(TableSnapshot.class);

    private final Path path;
    private final KeyTableFile file;

    /** Whether something may have been changed here. Written under the monitor, like the file. */
    private volatile boolean isChanged;

    /** @param owner identifies the bucket: server, name and prefix */
    TableSnapshot(Path path, String owner, LongSupplier nanoClock) {
        this.path = path;
        this.file = new KeyTableFile(path, owner, nanoClock, InstantSource.system());
    }

    /** The last mount's listing; null if there is no undamaged one of this bucket. */
    @Nullable
    KeyTable load() {
        try {
            KeyTable table = file.open();
            if (!isChanged) {
                return table;
            }
            table.close();
        } catch (NoSuchFileException e) {
            // there is none
        } catch (ClosedByInterruptException e) {
            // the tree is closed: the file stays
        } catch (IOException e) {
            drop(e);
        }
        return null;
    }

    /** Keeps the table, unless something may have been changed here. */
    void save(KeyTable table) {
        if (isChanged) {
            return;
        }
        try {
            file.write(table, put -> {
                synchronized (this) {
                    if (!isChanged) {
                        put.run();
                    }
                }
            });
        } catch (ClosedByInterruptException e) {
            // the tree is closed: the former file stays
        } catch (IOException e) {
            LOG.warn("The bucket's names cannot be saved for the next mount: {}", e.getMessage());
        } catch (IllegalStateException e) {
            // the table is closed: another has replaced it, or the tree is closed
        }
    }

    /** The bucket is about to be changed here. The first call waits for the disk. */
    void beginChange() {
        if (!isChanged) {
            synchronized (this) {
                isChanged = true;
                delete();
            }
        }
    }

    /** The file cannot be used. */
    void drop(Throwable why) {
        LOG.warn("The bucket's names saved by the last mount are dropped: {}", why.getMessage());
        delete();
    }

    /**
     * Deletes the file durably: it will not come back after a crash of the machine. Also deletes a draft left by a
     * killed mount, which may be as large.
     */
    synchronized void delete() {
        boolean isInterrupted = Thread.interrupted();
        try {
            if (Files.deleteIfExists(path)) {
                while (!isFolderSynced()) {
                    isInterrupted |= Thread.interrupted(); // its program may end: the file must not come back
                }
            }
            Files.deleteIfExists(FileReplacement.draft(path));
        } catch (IOException e) {
            LOG.error(
                    "{} is out of date and cannot be deleted; delete it before the next mount: {}",
                    path,
                    e.getMessage());
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** @return false if the thread was interrupted */
    private boolean isFolderSynced() throws IOException {
        try (FileChannel folder = FileChannel.open(path.resolveSibling("."), StandardOpenOption.READ)) {
            folder.force(true);
            return true;
        } catch (ClosedByInterruptException e) {
            return false;
        }
    }
}
