package io.penstock.serve.mount;

import io.penstock.settings.ByteSizes;
import io.penstock.writeback.AwaitedFile;
import io.penstock.writeback.AwaitedFile.Progress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Waits until all files closed or fsynced before it began are in the bucket. */
final class SyncJob extends Job {
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final int failedBefore;
    private final String recovery;

    /** Confined to the job's thread. */
    private final List<AwaitedFile> left;

    private final UnaryOperator<String> shown;
    private final @Nullable Duration timeout;
    private volatile long sent;

    /**
     * @param failedBefore the number of files that could not be uploaded before
     * @param recovery the command that lists them
     * @param files those that have been closed or fsynced and are not in the bucket
     * @param shown maps a key to a path for users
     * @param timeout after which files that are not in the bucket count as failed; null for never
     */
    SyncJob(
            int failedBefore,
            String recovery,
            List<AwaitedFile> files,
            UnaryOperator<String> shown,
            @Nullable Duration timeout) {
        super("sync", List.of());
        this.failedBefore = failedBefore;
        this.recovery = recovery;
        this.left = new ArrayList<>(files);
        this.shown = shown;
        this.timeout = timeout;
    }

    @Override
    long bytes() {
        return sent;
    }

    @Override
    void work() throws InterruptedException {
        long began = System.nanoTime();
        if (failedBefore > 0) {
            problem(
                    "earlier writes",
                    failedBefore + (failedBefore == 1 ? " file" : " files") + " could not be uploaded; " + recovery
                            + " lists them");
        }
        int files = left.size();
        long all = look();
        total(files, all);
        while (!left.isEmpty()) {
            if (timeout != null && Duration.ofNanos(System.nanoTime() - began).compareTo(timeout) >= 0) {
                left.forEach(this::overdue);
                return;
            }
            waitsFor(shown.apply(left.getFirst().key()));
            Thread.sleep(BETWEEN_LOOKS);
            sent = Math.max(sent, all - look());
        }
        sent = all;
    }

    /** Removes the files that are done. @return the bytes left to send */
    private long look() {
        long bytes = 0;
        for (Iterator<AwaitedFile> each = left.iterator(); each.hasNext(); ) {
            AwaitedFile file = each.next();
            switch (file.progress()) {
                case Progress.Waiting(long unsent) -> bytes += unsent;
                case Progress.Visible() -> {
                    done("visible");
                    each.remove();
                }
                case Progress.Failed(String why) -> {
                    done("failed");
                    problem(shown.apply(file.key()), why);
                    each.remove();
                }
            }
        }
        return bytes;
    }

    private void overdue(AwaitedFile file) {
        String rest = file.progress() instanceof Progress.Waiting(long unsent)
                ? ", " + ByteSizes.about(unsent) + " left"
                : "";
        problem(shown.apply(file.key()), "not in the bucket yet" + rest + "; the upload continues");
    }
}
