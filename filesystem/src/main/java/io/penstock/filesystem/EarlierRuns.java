package io.penstock.filesystem;

import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.names.InterruptedRenames;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.util.List;
import java.util.stream.Stream;

/** What earlier runs of a writable mount have left in staging. For one thread, which calls the methods in this order. */
final class EarlierRuns {
    private final Writeback writeback;
    private final SharedFiles files;
    private final InterruptedRenames renames;
    private List<WrittenFile> moved = List.of();

    EarlierRuns(Writeback writeback, SharedFiles files, InterruptedRenames renames) {
        this.writeback = writeback;
        this.files = files;
        this.renames = renames;
    }

    /** Ends their renames. */
    void endRenames() {
        moved = renames.end();
        writeback.endSuperseded();
    }

    /** Gives the inodes that the kernel knows the names that these renames gave them. */
    void moveInodes() {
        renames.moveInodes();
    }

    /** Takes over the written files. */
    void recover() {
        Stream.concat(writeback.survivors().stream(), writeback.recovered().stream())
                .distinct()
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
