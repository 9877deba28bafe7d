package io.penstock.writeback;

import io.penstock.writeback.Commit.Outlook;
import io.penstock.writeback.bytes.FileBytes;
import java.util.Objects;

/** The changes of a file, up to some number, that a caller waits for. */
final class AwaitedChanges implements AwaitedFile {
    private static final Progress VISIBLE = new Progress.Visible();

    private final FileCommits commits;
    private final FileState state;
    private final FileBytes bytes;
    private final long changes;

    AwaitedChanges(FileCommits commits, long changes) {
        this.commits = commits;
        this.state = commits.state();
        this.bytes = commits.bytes();
        this.changes = changes;
    }

    @Override
    public String key() {
        return bytes.locked(state::key);
    }

    @Override
    public Progress progress() {
        return bytes.locked(() -> {
            boolean isRemoved = !state.hasName() && !state.isUndecided();
            if (state.announced() >= changes || isRemoved) {
                return VISIBLE;
            }
            Exception failure = commits.error().unreported();
            boolean isOver = state.isEnded() || !state.isCommitUnderWay();
            if (isOver && failure != null && Commit.outlook(failure) != Outlook.PASSES) {
                return new Progress.Failed(Objects.requireNonNullElse(failure.getMessage(), failure.toString()));
            } else if (state.isEnded()) {
                return VISIBLE; // an earlier run removed or replaced its name
            } else if (isOver && !commits.context().isClosed()) {
                commits.beginInBackground();
            }
            return new Progress.Waiting(
                    Math.max(0, bytes.content().size() - commits.object().uploadedBytes()));
        });
    }
}
