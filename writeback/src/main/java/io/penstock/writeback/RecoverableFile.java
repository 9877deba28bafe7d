package io.penstock.writeback;

import io.penstock.disk.PrivateFiles;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.FileJournal;
import io.penstock.writeback.staging.Recovery;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The content of a file that an earlier run has not committed: it had no time for that, or could not, because
 * another writer changed the object or access to it was withdrawn. It stays in the staging folder until it is committed
 * or discarded. For one thread at a time.
 */
public final class RecoverableFile {
    private static final int CHUNK = 1 << 20;

    /** The reason of a version that {@link #commit} refuses. */
    private static final String OLDER =
            "a later version of it was written, and --commit uploads only that; --export copies this one, too";

    private final WrittenFile file;
    private final Recovery.Found found;
    private boolean older;

    RecoverableFile(WrittenFile file, Recovery.Found found) {
        this.file = file;
        this.found = found;
        this.older = found.state().isOlder();
    }

    WrittenFile file() {
        return file;
    }

    /** Whether the mount's former process was writing it. */
    boolean isSurvivor() {
        return found.survived() != null;
    }

    public String key() {
        return file.key();
    }

    /** Bytes. */
    public long size() {
        return file.size();
    }

    public Instant modified() {
        return file.modified();
    }

    /** Why it could not be committed; null if that was not tried yet. */
    public @Nullable String reason() {
        return older ? OLDER : found.state().failure();
    }

    /** The file that holds the written data, at its offsets. */
    public String where() {
        return found.staged().where();
    }

    /** A later version of the file waits too. */
    void setOlder() {
        older = true;
    }

    boolean isOlder() {
        return older;
    }

    /** Lets later runs know that this version is older once the later one is in the bucket. */
    void recordOlder() throws IOException {
        if (older
                && !found.state().isOlder()
                && !new FileJournal(found.staged(), found::opened).amend(new JournalRecord.Older())) {
            throw new IOException("the journal of " + where() + " cannot be written");
        }
    }

    /**
     * Makes it the object of its key, whatever that is now.
     *
     * @throws IOException also if a later version of the file was written: nothing is done then
     */
    public void commit() throws ObjectStoreException, IOException, InterruptedException {
        if (isOlder()) {
            throw new IOException(OLDER);
        }
        try {
            file.materialiseGoneBase();
        } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
            throw baseIsGone(e);
        }
        file.commitOver();
    }

    private IOException baseIsGone(ObjectStoreException e) {
        return new IOException(
                "the unchanged bytes are no longer in the bucket, and not all of them are in the cache; the written"
                        + " bytes are in " + where(),
                e);
    }

    /**
     * Writes the content to a new file below this folder, with the key as its path, and leaves it where it is. The name of an
     * older version ends in its time. The file, and folders that are missing, are for this user alone: its kept mode may say
     * so.
     *
     * @return the file
     * @throws IOException also if there is a file of this name already, or if other users may write to the folder
     */
    public Path export(Path folder) throws ObjectStoreException, IOException, InterruptedException {
        Path parent = folder;
        Path target = folder;
        for (String name : key().split("/", -1)) {
            parent = target;
            target = target.resolve(name.isEmpty() || name.equals(".") || name.equals("..") ? "_" : name);
        }
        if (isOlder()) {
            target = target.resolveSibling(target.getFileName() + "." + modified());
        }
        PrivateFiles.createFolders(folder);
        String exposure = PrivateFiles.exposure(folder);
        if (exposure != null) {
            throw new IOException("the folder " + folder + " " + exposure + ", or choose another one");
        }
        PrivateFiles.createFolders(parent);
        try (FileChannel to = FileChannel.open(
                target, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), PrivateFiles.FILE)) {
            copy(to);
        } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
            Files.deleteIfExists(target);
            throw baseIsGone(e);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            Files.deleteIfExists(target);
            throw e;
        }
        return target;
    }

    private void copy(FileChannel to) throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocate(CHUNK);
        for (long position = 0; position < size(); ) {
            int read = file.read(position, buffer.clear());
            buffer.flip();
            while (buffer.hasRemaining()) {
                to.write(buffer);
            }
            position += read;
        }
        to.force(true);
    }

    /** Removes it permanently. */
    public void discard() {
        file.unlink();
        close();
    }

    /** Frees its memory and closes its files, which stay if it has been neither committed nor discarded. */
    void close() {
        file.stop();
    }
}
