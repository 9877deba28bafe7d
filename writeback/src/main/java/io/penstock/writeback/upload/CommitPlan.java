package io.penstock.writeback.upload;

import static io.penstock.objectstore.UploadedPart.MAX_SIZE;
import static io.penstock.objectstore.UploadedPart.MIN_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.writeback.content.Run;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides the runs of a changed file into parts. Changed runs are sent; the store copies the others. Every part except
 * the object's last must have 5 MiB: a shorter copied run is sent together with its neighbours, and a shorter sent run
 * (a single block) takes the missing bytes from the copied run next to it. If there are more parts than part numbers,
 * parts become larger and short copied runs are sent until they fit.
 */
final class CommitPlan {
    /** A store takes minutes to copy 5 GiB, and no byte arrives meanwhile. Several smaller copies run concurrently. */
    private static final long COPIED_BYTES = 256L << 20;

    /** The shortest copied run: it may give 1 MiB to each neighbour and still have 5. */
    private static final long LEAST_COPIED = 2L * BLOCK_SIZE;

    private final long sentBytes;
    private final long copiedBytes;
    private final long leastCopied;
    private final boolean isObjectsEnd;

    /** A part that a commit needs: its number and its runs. */
    record PlannedPart(int number, Run run) {}

    private CommitPlan(long sentBytes, long copiedBytes, long leastCopied, boolean isObjectsEnd) {
        this.sentBytes = sentBytes;
        this.copiedBytes = copiedBytes;
        this.leastCopied = leastCopied;
        this.isObjectsEnd = isObjectsEnd;
    }

    /**
     * The parts for the runs, numbered from 1.
     *
     * @param runs in order, without gaps, from the file's first byte
     * @param isObjectsEnd whether the last run ends the object
     * @param partBytes to send as one part, if there are enough numbers
     * @param most number of parts; enough for all runs in parts of the largest size
     */
    public static List<PlannedPart> of(List<Run> runs, boolean isObjectsEnd, long partBytes, int most) {
        List<Run> parts = new CommitPlan(partBytes, COPIED_BYTES, LEAST_COPIED, isObjectsEnd).parts(runs);
        for (long scale = 2; parts.size() > most; scale *= 2) {
            long sent = Math.min(scale * partBytes, MAX_SIZE);
            parts = new CommitPlan(sent, MAX_SIZE, scale * LEAST_COPIED, isObjectsEnd).parts(runs);
        }
        List<PlannedPart> numbered = new ArrayList<>(parts.size());
        for (Run part : parts) {
            numbered.add(new PlannedPart(numbered.size() + 1, part));
        }
        return numbered;
    }

    private List<Run> parts(List<Run> runs) {
        List<Run> joined = join(withoutShortCopies(join(runs)));
        lengthenShortSends(joined);
        List<Run> parts = new ArrayList<>();
        for (int i = 0; i < joined.size(); i++) {
            split(joined.get(i), isLast(joined, i), parts);
        }
        return parts;
    }

    private boolean isLast(List<Run> runs, int i) {
        return isObjectsEnd && i == runs.size() - 1;
    }

    public static List<Run> join(List<Run> runs) {
        List<Run> joined = new ArrayList<>();
        for (Run run : runs) {
            int last = joined.size() - 1;
            if (last >= 0 && joined.get(last).continuesIn(run)) {
                Run before = joined.get(last);
                joined.set(
                        last,
                        before.between(before.range().offset(), run.range().end()));
            } else {
                joined.add(run);
            }
        }
        return joined;
    }

    private List<Run> withoutShortCopies(List<Run> runs) {
        List<Run> kept = new ArrayList<>(runs.size());
        for (int i = 0; i < runs.size(); i++) {
            Run run = runs.get(i);
            boolean copied = !run.isSent() && (run.length() >= leastCopied || isLast(runs, i));
            kept.add(copied ? run : Run.sent(run.range()));
        }
        return kept;
    }

    /** No two sent runs are adjacent here, so the run next to one is copied and long enough to give bytes. */
    private void lengthenShortSends(List<Run> runs) {
        for (int i = 0; i < runs.size(); i++) {
            Run run = runs.get(i);
            long missing = MIN_SIZE - run.length();
            if (!run.isSent() || missing <= 0 || isLast(runs, i)) {
                continue;
            }
            long start = run.range().offset();
            long end = run.range().end();
            if (i + 1 == runs.size()) {
                Run before = runs.get(i - 1);
                runs.set(i - 1, before.between(before.range().offset(), start - missing));
                runs.set(i, run.between(start - missing, end));
                continue;
            }
            Run next = runs.get(i + 1);
            long taken = Math.min(missing, next.length());
            runs.set(i, run.between(start, end + taken));
            if (taken == next.length()) {
                runs.remove(i + 1);
            } else {
                runs.set(i + 1, next.between(end + taken, next.range().end()));
            }
        }
    }

    private void split(Run run, boolean last, List<Run> parts) {
        long most = run.isSent() ? sentBytes : copiedBytes;
        long end = run.range().end();
        long start = run.range().offset();
        while (start < end) {
            long left = end - start;
            long length = Math.min(most, left);
            if (left > most && left - most < MIN_SIZE && !last) {
                length = left <= MAX_SIZE ? left : left / 2 / BLOCK_SIZE * BLOCK_SIZE;
            }
            parts.add(run.between(start, start + length));
            start += length;
        }
    }

    /** The tail's part with this number, whose content has these runs up to its end. */
    static PlannedPart ofTail(int number, ByteRange range, List<Run> runs, boolean isObjectsEnd) {
        List<Run> joined = join(runs);
        boolean copied = joined.size() == 1 && (range.length() >= MIN_SIZE || isObjectsEnd);
        return new PlannedPart(number, copied ? joined.getFirst() : Run.sent(range));
    }
}
