package io.penstock.writeback.upload;

import static io.penstock.objectstore.UploadedPart.MAX_NUMBER;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.upload.CommitPlan.PlannedPart;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The parts of one upload, and which may be sent before the commit. Guarded by the upload's lock. */
public final class Parts {
    private PartLayout layout;
    private final NavigableMap<Integer, Part> byNumber = new TreeMap<>();

    /** Blocks that are whole and at rest. */
    private final BitSet ready = new BitSet();

    /** Whether the file has ever been larger than one part. Until then one PUT may be enough. */
    private boolean large;

    public Parts(PartLayout layout) {
        this.layout = layout;
    }

    public PartLayout layout() {
        return layout;
    }

    /** Forgets all parts and uses another layout. Parts in flight no longer belong to any layout. */
    public void begin(PartLayout another) {
        byNumber.clear();
        layout = another;
    }

    /** @return parts of the tail that may be sent now */
    public List<Part> ready(ByteRange blocks) {
        ready.set(block(blocks.offset()), block(blocks.end() + BLOCK_SIZE - 1));
        List<Part> due = new ArrayList<>();
        seen(blocks.end(), due);
        if (large && blocks.end() > layout.baseEnd()) {
            int last = Math.min(layout.number(blocks.end() - 1), MAX_NUMBER);
            for (int n = layout.number(Math.max(blocks.offset(), layout.baseEnd())); n <= last; n++) {
                addIfDue(n, due);
            }
        }
        return due;
    }

    /** @return parts of the tail that may be sent now, because a growing file needs more than one */
    public List<Part> changed(ByteRange range) {
        ready.clear(block(range.offset()), block(range.end() - 1) + 1);
        boolean inTail = range.end() > layout.baseEnd();
        // Parts before the tail exist only after a failed commit.
        int first = range.offset() < layout.baseEnd() ? 1 : layout.number(range.offset());
        int last = inTail ? layout.number(range.end() - 1) : layout.baseParts();
        if (first <= last) {
            for (Part part : byNumber.subMap(first, true, last, true).values()) {
                ByteRange bytes = part.run().range();
                if (bytes.offset() < range.end() && range.offset() < bytes.end()) {
                    part.changed();
                }
            }
        }
        List<Part> due = new ArrayList<>();
        seen(range.end(), due);
        return due;
    }

    /** @return all parts of the tail that may be sent now and are not */
    List<Part> allDue() {
        return byNumber.values().stream()
                .filter(part -> part.isOutdated() && isReady(part))
                .toList();
    }

    private void seen(long end, List<Part> due) {
        if (!large && end > layout.partBytes()) {
            large = true;
            addIfDue(layout.baseParts() + 1, due);
        }
    }

    private void addIfDue(int number, List<Part> due) {
        if (number > MAX_NUMBER) {
            return;
        }
        Part part = byNumber.get(number);
        if (part == null) {
            ByteRange range = layout.range(number);
            if (isReady(range)) {
                part = new Part(number, Run.sent(range));
                byNumber.put(number, part);
            }
        }
        if (part != null && part.isOutdated() && isReady(part) && !due.contains(part)) {
            due.add(part);
        }
    }

    /** Whether it may be sent before the commit. */
    boolean isReady(Part part) {
        return part.number() > layout.baseParts()
                && byNumber.get(part.number()) == part
                && isReady(part.run().range());
    }

    private boolean isReady(ByteRange range) {
        return ready.nextClearBit(block(range.offset())) >= block(range.end() + BLOCK_SIZE - 1);
    }

    /** The parts of a commit. Parts uploaded with these bytes stay as they are. */
    public List<Part> adopt(List<PlannedPart> plan) {
        List<Part> adopted = new ArrayList<>(plan.size());
        for (PlannedPart planned : plan) {
            Part part = byNumber.computeIfAbsent(planned.number(), n -> new Part(n, planned.run()));
            part.become(planned.run());
            adopted.add(part);
        }
        return adopted;
    }

    /**
     * The run of the part with this number, if it is uploaded with exactly these bytes: then it need not be planned.
     */
    @Nullable
    Run uploadedRun(int number, ByteRange range) {
        Part part = byNumber.get(number);
        return part != null && part.uploaded() != null && part.run().range().equals(range) ? part.run() : null;
    }

    /** All parts must be sent again. */
    void changeAll() {
        byNumber.values().forEach(Part::changed);
    }

    /** Bytes at the store that are current. */
    public long uploadedBytes() {
        long bytes = 0;
        for (Part part : byNumber.values()) {
            UploadedPart uploaded = part.uploaded();
            bytes += uploaded == null ? 0 : uploaded.size();
        }
        return bytes;
    }

    private static int block(long position) {
        return (int) Math.min(position / BLOCK_SIZE, Integer.MAX_VALUE - 1);
    }
}
