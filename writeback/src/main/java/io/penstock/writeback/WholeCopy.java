package io.penstock.writeback;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Segment;
import io.penstock.writeback.upload.FileUpload;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies a whole object into an empty file within the store: the object's version becomes the file's base version, and
 * the commit makes the store copy it. Until then the file depends on the other object's version, so it is committed
 * immediately. If that fails for any reason, the bytes are read and written instead. Safe for use by any number of
 * threads.
 */
final class WholeCopy {
    private static final Logger log = LoggerFactory.getLogger(WholeCopy.class);

    private final FileCommits commits;
    private final ContentWrites writes;
    private final FileBytes bytes;

    WholeCopy(FileCommits commits, ContentWrites writes) {
        this.commits = commits;
        this.writes = writes;
        this.bytes = commits.bytes;
    }

    /**
     * Takes over a range of another object: its first bytes, or those after the previous range.
     *
     * @param range of the object and of the file
     * @param more whether the caller continues after the range, so that the commit can wait
     * @return false if the caller must read and write the range instead
     * @throws ObjectStoreException.PreconditionFailed if the object has changed and is not entirely cached; nothing is
     *     copied
     */
    boolean copy(ObjectVersion source, ByteRange range, boolean more)
            throws ObjectStoreException, IOException, InterruptedException {
        FileUpload replaced;
        bytes.lock().lockInterruptibly();
        try {
            while (isFor(source, range, more) && commits.state.running() != null) {
                commits.join(); // it fails at its deadline instead of being retried
                bytes.progress().await();
            }
            if (!isFor(source, range, more)) {
                return false;
            }
            commits.changed(range);
            replaced = commits.object.takeOver(source, range.end());
        } finally {
            bytes.lock().unlock();
        }
        if (replaced != null) {
            replaced.abandon();
        }
        if (!more) {
            boolean copied = false;
            try {
                commit(source);
                copied = true;
            } finally {
                if (!copied) {
                    undo(range);
                }
            }
        }
        return true;
    }

    private boolean isFor(ObjectVersion source, ByteRange range, boolean more) {
        BlockMap content = bytes.content();
        if (!commits.state.hasName() || commits.state.isHeld() || source.key().equals(commits.state.key())) {
            return false;
        }
        boolean begins = content.size() == 0 && range.offset() == 0 && (more || range.length() == source.size());
        return begins || (source.equals(bytes.layer().version()) && content.isAllBase(range.offset()));
    }

    /** Cuts the range off the end of the file, unless more was written after it. */
    private void undo(ByteRange range) {
        bytes.locked(() -> {
            commits.changed(range); // parts that were copied must not be used
            if (bytes.content().size() == range.end()) {
                bytes.content().resize(range.offset());
            }
        });
    }

    private void commit(ObjectVersion source) throws ObjectStoreException, IOException, InterruptedException {
        try {
            commits.commit();
            if (bytes.locked(commits.state::hasName)) { // otherwise it is no longer committed
                return;
            }
        } catch (ObjectStoreException | IOException e) {
            log.info(
                    "The store could not copy '{}', so it is read and written instead: {}",
                    source.key(),
                    e.getMessage());
        }
        materialise();
    }

    /**
     * Reads the bytes that still belong to the other object, and writes them. Does nothing if there are none.
     *
     * @throws ObjectStoreException.PreconditionFailed if the other object has changed and is not cached
     */
    void materialise() throws ObjectStoreException, IOException, InterruptedException {
        materialise(commits.object::isCopied);
    }

    /**
     * The same for the base version's remaining bytes, if the store no longer has it: parts cannot be copied from it.
     */
    void materialiseGoneBase() throws ObjectStoreException, IOException, InterruptedException {
        BooleanSupplier isEdited = () -> bytes.content().baseEnd() > 0;
        ObjectVersion base = bytes.<@Nullable ObjectVersion>locked(
                () -> isEdited.getAsBoolean() ? bytes.layer().version() : null);
        if (base == null) {
            return;
        }
        MountContext context = commits.context;
        StoredObject now = context.deadline()
                .<@Nullable StoredObject, ObjectStoreException>call(
                        () -> context.store().find(base.key()));
        if (now == null || !now.version().hasIdentityOf(base)) {
            materialise(isEdited);
        }
    }

    private void materialise(BooleanSupplier isToBeWritten)
            throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocate(PAGE_SIZE);
        for (ByteRange range = next(isToBeWritten); range != null; range = next(isToBeWritten)) {
            buffer.clear().limit(Math.toIntExact(range.length()));
            bytes.reads().read(null, range.offset(), buffer);
            writes.replaceBase(range, buffer.flip());
        }
    }

    /**
     * The first range, within one page, of bytes that still belong to the base version. Null if there is none: then the
     * base version is no longer used.
     */
    private @Nullable ByteRange next(BooleanSupplier isToBeWritten) {
        bytes.lock().lock();
        try {
            if (!isToBeWritten.getAsBoolean()) {
                return null;
            }
            BlockMap content = bytes.content();
            for (long start = 0; start < content.baseEnd(); ) {
                long pageEnd = Math.min(content.baseEnd(), (start / PAGE_SIZE + 1) * PAGE_SIZE);
                Segment segment = content.at(start, pageEnd);
                if (segment.source() == Segment.Source.BASE) {
                    return new ByteRange(start, segment.end() - start);
                }
                start = segment.end();
            }
            content.forgetBase();
            return null;
        } finally {
            bytes.lock().unlock();
        }
    }
}
