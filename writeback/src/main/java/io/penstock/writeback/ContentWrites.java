package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.writeback.bytes.BlockMemory;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Changes the bytes of one file. It reports each change to the file's state and to the upload before it releases the
 * file's lock: otherwise a commit could use a part with the old bytes. Safe for use by any number of threads.
 */
final class ContentWrites implements BlockMemory.Writer {
    private final FileCommits commits;
    private final FileBytes bytes;
    private final BlockMemory memory;

    /** Lets one append run at a time; held while it waits for memory. Taken before the file's lock. */
    private final ReentrantLock appends = new ReentrantLock(true);

    ContentWrites(FileCommits commits) {
        this.commits = commits;
        this.bytes = commits.bytes;
        this.memory = commits.context.resources().memory();
    }

    /** Source of a block's memory. */
    private interface Supply {
        /** Null if no memory is available. */
        @Nullable
        ByteBuffer take() throws InterruptedException;
    }

    /**
     * Writes the buffer's bytes. Waits its turn for memory. If no memory is left or the thread is interrupted, the
     * bytes written before stay.
     *
     * @return bytes written: 0 only if there were none to write
     * @throws IOException if there will be no memory for the first of them
     */
    int write(long position, ByteBuffer from) throws IOException, InterruptedException {
        int start = from.position();
        boolean refused = false;
        try {
            refused = !write(position, from, () -> memory.acquire(this));
        } catch (InterruptedException e) {
            if (from.position() == start) {
                throw e;
            }
        }
        if (refused && from.position() == start) {
            throw refusal();
        }
        return from.position() - start;
    }

    /** {@link #write} without waiting. False if there is not enough memory: some bytes may be written. */
    boolean writeNow(long position, ByteBuffer from) throws InterruptedException {
        return write(position, from, memory::acquireNow);
    }

    /** {@link #write} at the end, even while other callers append. */
    int append(ByteBuffer from) throws IOException, InterruptedException {
        appends.lockInterruptibly();
        try {
            return write(bytes.locked(() -> bytes.content().size()), from);
        } finally {
            appends.unlock();
        }
    }

    private boolean write(long position, ByteBuffer from, Supply supply) throws InterruptedException {
        ByteBuffer spare = null;
        try {
            for (long at = position; from.hasRemaining(); ) {
                int length = Math.min(from.remaining(), (int) (BLOCK_SIZE - at % BLOCK_SIZE));
                if (!tryWrite(at, from.slice(from.position(), length), spare, false)) {
                    spare = supply.take();
                    if (spare == null) {
                        return false;
                    }
                    continue;
                }
                spare = null; // owned by the block now, or given back
                from.position(from.position() + length);
                at += length;
            }
            return true;
        } finally {
            if (spare != null) {
                memory.release(spare);
            }
        }
    }

    /** Writes the base version's bytes of this range, within one block, unless others were written there. */
    void replaceBase(ByteRange range, ByteBuffer from) throws IOException, InterruptedException {
        ByteBuffer spare = null;
        while (!tryWrite(range.offset(), from, spare, true)) {
            spare = memory.acquire(this);
            if (spare == null) {
                throw refusal();
            }
        }
    }

    /** Writes within one block. False if memory is needed and {@code spare} is null. */
    private boolean tryWrite(long position, ByteBuffer from, @Nullable ByteBuffer spare, boolean overBase) {
        int length = from.remaining();
        bytes.lock().lock();
        try {
            FileBytes.Written written = bytes.tryWrite(position, from, spare, overBase);
            switch (written) {
                case NEEDS_MEMORY, NOTHING -> {}
                case CHANGED -> changed(position, length);
                case WHOLE -> {
                    changed(position, length);
                    commits.whole(BlockMap.indexOf(position));
                }
            }
            return written != FileBytes.Written.NEEDS_MEMORY;
        } finally {
            bytes.lock().unlock();
        }
    }

    @GuardedBy("bytes.lock()")
    private void changed(long position, int length) {
        commits.changed(new ByteRange(position, length));
        Block block = bytes.content().block(BlockMap.indexOf(position));
        bytes.recorded().record().wrote(requireNonNull(block), position, position + length);
    }

    void truncate(long size) {
        bytes.locked(() -> {
            long before = bytes.content().size();
            if (size != before) {
                long from = Math.min(size, before);
                commits.changed(new ByteRange(from, Math.max(size, before) - from));
                bytes.content().resize(size);
                if (size > before) {
                    bytes.recorded().record().extended(size);
                }
            }
        });
    }

    void zero(long offset, long length) {
        bytes.locked(() -> {
            long end = Math.min(bytes.content().size(), offset + length);
            if (offset < end) {
                commits.changed(new ByteRange(offset, end - offset));
                bytes.content().zero(offset, end);
            }
        });
    }

    /** Whether it waits for memory in vain if that takes a commit of this file. */
    @Override
    public boolean isStuck() {
        return bytes.locked(() -> !commits.state.hasName() || commits.error.isSet());
    }

    /** Why the file gets no memory. Reports the failure of a commit only once. */
    private IOException refusal() {
        return bytes.locked(() -> commits.error.refusal(commits.state.key()));
    }
}
