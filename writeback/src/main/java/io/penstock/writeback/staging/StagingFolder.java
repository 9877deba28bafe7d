package io.penstock.writeback.staging;

import io.penstock.disk.DataFolder;
import io.penstock.disk.DirectIo;
import io.penstock.disk.FolderLock;
import io.penstock.disk.LocalFolder;
import io.penstock.disk.WorkingFolder;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The staging folder of the local file system. */
public final class StagingFolder {
    private static final WorkingFolder.Kind KIND =
            new WorkingFolder.Kind("staging folder", "write.staging", "--write-staging", """
                This folder holds data that programs have written to a bucket, until it is uploaded. It is not a
                cache: files removed here are lost. The next mount of the bucket resumes the uploads.
                "penstock recover BUCKET", with the options or the configuration file of the mount, lists the files
                that it could not upload, and uploads, exports or discards them.

                The files *.unreadable are not used. Remove them once you have copied the content you need.\
                """);

    private StagingFolder() {}

    /**
     * The folder's files, which no other process uses until they are closed. Any number of processes can read a folder
     * without write permission.
     *
     * @throws WorkingFolder.ForeignException if it is not Penstock's and cannot become so
     * @throws FolderLock.TakenException if another process uses it
     */
    public static DataFolder open(Path folder) throws IOException {
        WorkingFolder held = hold(folder);
        boolean direct = Files.isWritable(folder) && DirectIo.isSupported(folder);
        return new LocalFolder(folder, StagedFile::isName, direct, held);
    }

    /**
     * Whether it contains files of a staged file. Need not be a folder. Opens and locks nothing: a mount may use it.
     *
     * @throws IOException if the folder cannot be listed
     */
    public static boolean holdsFiles(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(file -> StagedFile.isName(file.getFileName().toString()));
        }
    }

    /**
     * Turns an empty folder of the same file system into a view of the current files: journals are copied, because
     * reading repairs their ends, and data files are linked. The marker is copied too. Takes no lock: while a mount
     * writes, the view may be torn.
     */
    public static void view(Path folder, Path empty) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                try {
                    if (name.endsWith(StagedFile.JOURNAL) || name.equals(WorkingFolder.MARKER)) {
                        Files.copy(file, empty.resolve(name));
                    } else if (name.endsWith(StagedFile.DATA)) {
                        Files.createLink(empty.resolve(name), file);
                    }
                } catch (NoSuchFileException e) {
                    // It has been uploaded since.
                }
            }
        }
    }

    private static @Nullable WorkingFolder hold(Path folder) throws IOException {
        try {
            return WorkingFolder.open(folder, KIND);
        } catch (FileSystemException e) {
            if (!Files.isDirectory(folder) || Files.isWritable(folder)) {
                throw e;
            }
            return null;
        }
    }
}
