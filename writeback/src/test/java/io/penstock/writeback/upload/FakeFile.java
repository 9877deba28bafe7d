package io.penstock.writeback.upload;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.testing.Bodies;
import io.penstock.writeback.content.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A file's content as an upload sees it, and its journal. All in memory; ranges may belong to an older version. */
final class FakeFile implements FileContent, UploadJournal {
    private final @Nullable ObjectVersion base;

    // Guarded by this.
    private byte[] bytes;
    private final List<ByteRange> changed = new ArrayList<>();
    private @Nullable MultipartUpload upload;
    private @Nullable PartLayout layout;
    private final Map<Integer, JournalledUpload.Part> parts = new HashMap<>();
    private int failures;

    private final AtomicInteger bodies = new AtomicInteger();

    /** A file of this version, whose bytes it has. */
    FakeFile(@Nullable ObjectVersion base, byte[] bytes) {
        this.base = base;
        this.bytes = bytes.clone();
    }

    public synchronized byte[] bytes() {
        return bytes.clone();
    }

    public synchronized long size() {
        return bytes.length;
    }

    /** Number of requested bodies that are not closed. */
    public int bodies() {
        return bodies.get();
    }

    /** The next body cannot be read. */
    synchronized void failNextBody() {
        failures++;
    }

    /** Acts like a write: notifies the upload, then changes the bytes, then reports whole blocks. */
    public void write(FileUpload to, long offset, byte[] written) {
        ByteRange range = new ByteRange(offset, written.length);
        to.changed(range);
        synchronized (this) {
            if (range.end() > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.toIntExact(range.end()));
            }
            System.arraycopy(written, 0, bytes, Math.toIntExact(offset), written.length);
            changed.add(range);
        }
        long first = offset / BLOCK_SIZE * BLOCK_SIZE;
        long end = range.end() / BLOCK_SIZE * BLOCK_SIZE;
        if (first < end) {
            to.ready(new ByteRange(first, end - first));
        }
    }

    public void truncate(FileUpload to, long size) {
        long from = Math.min(size, size());
        ByteRange range = new ByteRange(from, Math.max(size, size()) - from + 1);
        to.changed(range);
        synchronized (this) {
            changed.add(range);
            bytes = Arrays.copyOf(bytes, Math.toIntExact(size));
        }
    }

    @Override
    public synchronized List<Run> runs(ByteRange within) {
        List<Run> runs = new ArrayList<>();
        for (long at = within.offset(); at < within.end(); at += BLOCK_SIZE) {
            ByteRange block = new ByteRange(at, Math.min(BLOCK_SIZE, within.end() - at));
            boolean kept = base != null
                    && block.end() <= base.size()
                    && changed.stream().noneMatch(c -> c.offset() < block.end() && block.offset() < c.end());
            runs.add(kept ? new Run(block, base) : Run.sent(block));
        }
        return runs;
    }

    @Override
    public synchronized SnapshotBody body(ByteRange range) throws IOException {
        if (failures > 0) {
            failures--;
            throw new IOException("injected");
        }
        bodies.incrementAndGet();
        byte[] still = Arrays.copyOfRange(bytes, (int) range.offset(), Math.toIntExact(range.end()));
        return new Body(Bodies.of(still));
    }

    @Override
    public synchronized void created(MultipartUpload created, PartLayout with) {
        upload = created;
        layout = with;
        parts.clear();
    }

    @Override
    public synchronized void uploaded(UploadedPart part, int crc32c) {
        parts.put(part.number(), new JournalledUpload.Part(part, crc32c));
    }

    @Override
    public synchronized void ended(MultipartUpload of) {
        if (of.equals(upload)) {
            upload = null;
        }
    }

    /** The state that a later run finds; null if there is nothing to resume. */
    public synchronized @Nullable JournalledUpload journalled() {
        return upload == null || layout == null ? null : new JournalledUpload(upload, layout, parts);
    }

    private final class Body implements SnapshotBody {
        private final UploadBody held;

        Body(UploadBody held) {
            this.held = held;
        }

        @Override
        public long length() {
            return held.length();
        }

        @Override
        public OptionalInt crc32c() {
            return held.crc32c();
        }

        @Override
        public void read(long offset, ByteBuffer target) throws IOException, InterruptedException {
            held.read(offset, target);
        }

        @Override
        public void sent() {}

        @Override
        public void close() {
            bodies.decrementAndGet();
        }
    }
}
