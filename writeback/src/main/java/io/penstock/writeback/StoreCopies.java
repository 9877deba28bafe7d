package io.penstock.writeback;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.writeback.Writeback.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies into one written file by the store. What is to be copied is noted in the content, and committed at once: until
 * then the file stands and falls with the object that it is copied from. If that fails for any reason, the bytes are read
 * and written after all. Safe for use by any number of threads.
 */
final class StoreCopies {
    private static final Logger log = LoggerFactory.getLogger(StoreCopies.class);

    /** Whatever its place, a range of so many bytes has whole blocks enough for the least part that is copied. */
    private static final long LEAST = CommitPlan.LEAST_COPIED + 2L * BLOCK_SIZE;

    private final FileCommits commits;
    private final LiveContent bytes;
    private final ReentrantLock lock;

    StoreCopies(FileCommits commits) {
        this.commits = commits;
        this.bytes = commits.bytes();
        this.lock = bytes.lock();
    }

    /**
     * Takes over a range of another object.
     *
     * @param more whether the caller goes on where this ends, so that the commit can wait for that
     * @return false if it is to be read and written instead
     * @throws ObjectStoreException.PreconditionFailed if the object is another by then and not all of it is cached; nothing
     *     is copied
     */
    boolean copy(ObjectVersion source, long sourceOffset, ByteRange to, boolean more)
            throws ObjectStoreException, IOException, InterruptedException {
        Run run = new Run(to, source, sourceOffset);
        long size;
        lock.lockInterruptibly();
        try {
            if (!isWorthwhile(run, source)) {
                return false;
            }
            size = bytes.content().size();
            bytes.copy(run);
        } finally {
            lock.unlock();
        }
        if (!more) {
            boolean copied = false;
            try {
                commit(source);
                copied = true;
            } finally {
                if (!copied) {
                    undo(to, size);
                }
            }
        }
        return true;
    }

    /** What was not copied is zeros, or behind the end if it was before. */
    private void undo(ByteRange range, long size) {
        lock.lock();
        try {
            Content content = bytes.content();
            commits.changes(range); // parts that were copied are not to be used
            content.forgetCopies(range.offset(), range.end());
            if (size < range.end() && content.size() == range.end()) {
                content.resize(size);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * A commit has the store copy what lies below, too: never more than is copied here, so that appending one range after
     * the other stays linear.
     */
    private boolean isWorthwhile(Run run, ObjectVersion source) {
        Content content = bytes.content();
        if (commits.isUnlinked() || source.key().equals(commits.key())) {
            return false;
        }
        boolean whole = content.size() == 0
                && run.range().offset() == 0
                && run.sourceOffset() == 0
                && run.length() == source.size();
        return whole
                || content.copies().continuesIn(run)
                || (run.length() >= LEAST && content.copies().length() + run.length() >= content.baseEnd());
    }

    private void commit(ObjectVersion source) throws ObjectStoreException, IOException, InterruptedException {
        try {
            commits.commit();
            if (hasName()) {
                return;
            }
        } catch (ObjectStoreException | IOException e) {
            log.info("What the store could not copy from '{}' is read and written: {}", source.key(), e.getMessage());
        }
        materialise();
    }

    /** Without one it is not committed any more. */
    private boolean hasName() {
        lock.lock();
        try {
            return !commits.isUnlinked();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads what is still to be copied, and writes it.
     *
     * @throws ObjectStoreException.PreconditionFailed if that has changed meanwhile and is not cached
     */
    void materialise() throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocate(PAGE_SIZE);
        for (Run run = next(); run != null; run = next()) {
            buffer.clear().limit(Math.toIntExact(run.length()));
            bytes.reads().read(null, run.range().offset(), buffer);
            bytes.replaceCopy(run, buffer.flip());
        }
    }

    /** What is still to be copied, within one page; null if nothing is. */
    private @Nullable Run next() {
        lock.lock();
        try {
            Content content = bytes.content();
            Run run;
            while ((run = content.copies().first()) != null) {
                long start = run.range().offset();
                long end = Math.min(run.range().end(), (start / PAGE_SIZE + 1) * PAGE_SIZE);
                Segment there = content.at(start, end);
                if (there.source() == Segment.Source.COPIED) {
                    return run.between(start, there.end());
                }
                content.forgetCopies(start, there.end()); // it was written over
            }
            return null;
        } finally {
            lock.unlock();
        }
    }
}
