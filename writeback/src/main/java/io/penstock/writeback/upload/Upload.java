package io.penstock.writeback.upload;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The way of one file's content to the store: parts that go up while it is written, and one commit that succeeds, after
 * which the file begins another.
 *
 * <p>{@link #ready} and {@link #changed} are called under the file's lock: they must neither wait nor call the file. No
 * lock may be held over calls of {@link FileContent}.
 */
public interface Upload {
    /** The blocks in the range are whole and at rest: parts that they complete may go up. */
    void ready(ByteRange blocks);

    /** Bytes are going to change: parts that hold them, and are up or on their way, must go up again. */
    void changed(ByteRange range);

    /**
     * Makes the content, which does not change meanwhile, the object of this key. May be tried again if it fails.
     *
     * @param decision begins with the one request that makes it so: if this thread is interrupted from then on, nobody
     *     knows what the store has
     */
    ObjectVersion commit(long size, WriteCondition condition, Decision decision)
            throws ObjectStoreException, IOException, InterruptedException;

    /** The last moment at which a commit can be called off. */
    interface Decision {
        /**
         * @param crc32c of all that the request makes the object; empty if that is not known
         * @throws InterruptedException if it has been
         */
        void begin(OptionalInt crc32c) throws InterruptedException;
    }

    /** Bytes that the store has as they are now, uncommitted. */
    long uploadedBytes();

    /** Cancels what is in flight and aborts the multipart upload behind, if there is one. Never waits. */
    void abandon();

    /** Cancels what is in flight, and leaves at the store what a later run goes on with. Never waits. */
    void stop();

    /** Begins uploads. */
    interface Factory {
        /** @param base the version that the content's clean ranges are of; null if there is none */
        Upload begin(
                @Nullable ObjectVersion base, FileContent content, TargetProperties properties, UploadJournal journal);

        /** Goes on with an upload that an earlier run began, as far as the store still has it. */
        Upload resume(
                JournalledUpload earlier, FileContent content, TargetProperties properties, UploadJournal journal);
    }
}
