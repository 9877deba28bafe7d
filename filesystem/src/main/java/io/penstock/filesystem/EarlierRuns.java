package io.penstock.filesystem;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.names.InterruptedRenames;
import io.penstock.filesystem.names.Writing;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What earlier runs of a writable mount have left in staging. For one thread, which calls the methods in this order. */
final class EarlierRuns {
    private static final Logger log = LoggerFactory.getLogger(EarlierRuns.class);

    private final ObjectStore store;
    private final Writeback writeback;
    private final SharedFiles files;
    private final InterruptedRenames renames;
    private List<WrittenFile> moved = List.of();

    EarlierRuns(Writing writing, SharedFiles files, InterruptedRenames renames) {
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.files = files;
        this.renames = renames;
    }

    /** Ends their renames and removals. */
    void endChangesOfNames() {
        moved = renames.end();
        deleteRemoved();
        writeback.endSuperseded();
    }

    /** Deletes objects of names that programs have seen removed. */
    private void deleteRemoved() {
        List<ObjectVersion> removed = List.copyOf(writeback.leftRemovals());
        for (int from = 0; from < removed.size(); from += ObjectStore.MOST_DELETED) {
            List<ObjectVersion> batch =
                    removed.subList(from, Math.min(removed.size(), from + ObjectStore.MOST_DELETED));
            try {
                List<ObjectVersion> _ = store.deleteAll(batch); // those of other clients stay
            } catch (ObjectStoreException e) {
                log.warn(
                        "Some removed files, such as '{}', are shown again: {}",
                        batch.getFirst().key(),
                        e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            batch.forEach(writeback::removed);
        }
    }

    /** Gives the inodes that the kernel knows the names that these renames gave them. */
    void moveInodes() {
        renames.moveInodes();
    }

    /** Takes over the written files. */
    void recover() {
        Stream.concat(writeback.survivors().stream(), writeback.recovered().stream())
                .forEach(files::recover);
    }

    /** Once all handles have joined their files: from now on commits may begin. */
    void start() {
        renames.moveFiles();
        writeback.start(files);
        moved.forEach(WrittenFile::resumeCommits);
        files.inherited();
    }
}
