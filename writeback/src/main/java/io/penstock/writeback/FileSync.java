package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.content.RemovedRanges;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.FileJournal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes one file's content durable in staging: first the data, then the journal that refers to it. It interleaves reads
 * under the file's lock with writes without it.
 */
final class FileSync {
    private static final Logger log = LoggerFactory.getLogger(FileSync.class);

    /** How often a commit's undisturbed time doubles: up to eight seconds. */
    private static final int MOST_DOUBLED = 3;

    private final FileCommits file;
    private final FileBytes bytes;
    private final WholeCopy copies;

    /** One sync at a time, in the order of records. Held during I/O and while waiting; taken before the file's lock. */
    private final ReentrantLock syncs = new ReentrantLock(true);

    FileSync(FileCommits file, WholeCopy copies) {
        this.file = file;
        this.bytes = file.bytes;
        this.copies = copies;
    }

    /** Whether all written content would survive a crash, under the file's name. Caller holds the lock. */
    boolean isDurable() {
        boolean isFound = file.state.durable() <= file.state.committed() || file.object.isNameJournalled();
        return file.state.durable() >= file.state.changes() && isFound;
    }

    /** The content is as an earlier run made it durable. Called before other threads have the file. */
    void found() {
        file.state.durable(file.state.changes());
        file.object.setJournalled(file.object.identity());
    }

    /**
     * If older content is durable, makes the content durable that is about to be committed: after a crash, the staged
     * content must not be older than what the store may have by then.
     *
     * @param reporting whether to throw the failure of a commit in the background
     */
    void renew(boolean reporting) throws ObjectStoreException, IOException, InterruptedException {
        boolean older;
        bytes.lock().lock();
        try {
            file.join();
            older = file.state.durable() > file.state.committed() && file.state.durable() < file.state.changes();
        } finally {
            bytes.lock().unlock();
        }
        if (older && !staged(reporting)) {
            log.debug("The staged content of '{}' stays older than the committed content", file.key());
        }
    }

    /**
     * Returns once all earlier writes would survive a crash of the machine.
     *
     * @return false if that is impossible here, because the disk is full or broken, or the store has yet to copy
     *     something: the file must be committed instead
     */
    boolean staged() throws ObjectStoreException, IOException, InterruptedException {
        return staged(true);
    }

    /** @param reporting whether to throw the failure of a commit in the background */
    private boolean staged(boolean reporting) throws ObjectStoreException, IOException, InterruptedException {
        syncs.lockInterruptibly();
        try {
            while (true) {
                BaseLayer layer;
                long wanted;
                bytes.lock().lock();
                try {
                    if (reporting) {
                        file.error.report(true);
                    }
                    wanted = file.state.changes();
                    bytes.content().noteSize();
                    if (!file.state.hasName() || isDurable()) {
                        return true;
                    }
                    if (file.object.isCopied()) {
                        return false; // after a crash it must not depend on the object it is copied from
                    }
                    if (isCommitInTheWay()) {
                        awaitOrPreempt();
                        continue;
                    }
                    layer = bytes.layer().use(); // keeps it open while it is written
                } finally {
                    bytes.lock().unlock();
                }
                Boolean done;
                try {
                    done = attempt(layer, wanted);
                } finally {
                    layer.release();
                }
                if (done != null) {
                    return done;
                }
            }
        } finally {
            file.endPreemption();
            syncs.unlock();
        }
    }

    /** Whether the file cannot be staged yet: a commit has a snapshot of it or is about to report its outcome. */
    private boolean isCommitInTheWay() {
        Commit running = file.state.running();
        return bytes.committing() != null || (running != null && !running.isLeft());
    }

    /**
     * Waits while the running commit may end soon, longer if earlier ones yielded despite progress, so that one finally
     * succeeds. Then the commit yields, because the data file belongs to the version being committed (ADR 15); the next
     * begins once the file is staged. A deciding request in flight continues, and the file is staged over it.
     */
    private void awaitOrPreempt() throws InterruptedException {
        while (isCommitInTheWay()) {
            Commit commit = file.state.running();
            long nanos = commit == null ? Long.MAX_VALUE : nanosToWait(commit);
            if (commit == null || nanos > 0) {
                long _ = bytes.progress().awaitNanos(nanos);
                continue;
            }
            file.state.preempt(commit);
            if (commit.leave()) {
                bytes.leave();
            }
        }
    }

    private long nanosToWait(Commit commit) {
        if (!file.inDoubt.isHarmless()) {
            commit.join(file.context.deadline());
            return Long.MAX_VALUE; // data staged now might be based on a version that is gone
        }
        int doubled = Math.min(file.state.preemptions(), MOST_DOUBLED);
        return commit.nanosToWait(file.context.timing().patience() << doubled);
    }

    /** Null to try again; false if the content cannot be made durable here. */
    private @Nullable Boolean attempt(BaseLayer layer, long wanted) throws InterruptedException {
        if (!file.context.staging().isUsable() || layer.staged().isSuspect()) {
            return false;
        }
        try {
            if (bytes.staging().stageAll(null)) {
                return write(layer, wanted) ? Boolean.TRUE : null;
            }
            if (awaitHeld()) {
                return null;
            }
        } catch (IOException e) {
            log.debug("'{}' cannot be staged now", file.key(), e);
        }
        return isCurrent(layer) ? Boolean.FALSE : null;
    }

    /** Whether the file was neither committed nor removed since. Otherwise the failure says nothing about the disk. */
    private boolean isCurrent(BaseLayer layer) {
        return bytes.locked(() -> bytes.layer() == layer && file.state.hasName());
    }

    /** Waits for a body that prevents a block from being staged. False if there is none: then the cause is the disk. */
    private boolean awaitHeld() throws InterruptedException {
        bytes.lock().lock();
        try {
            boolean waited = false;
            while (bytes.committing() == null
                    && bytes.content().blocks().stream().anyMatch(Block::waitsForOriginal)) {
                bytes.progress().await();
                waited = true;
            }
            return waited || bytes.committing() != null;
        } finally {
            bytes.lock().unlock();
        }
    }

    /** False if a commit or a change of name intervened. */
    private boolean write(BaseLayer layer, long wanted) throws IOException {
        FileJournal journal = new FileJournal(layer.staged(), file.object::identity);
        List<JournalRecord> records = new ArrayList<>();
        List<JournalRecord.Sent> sent;
        BlockMap content;
        RemovedRanges removed;
        JournalRecord.Opened identity;
        bytes.lock().lock();
        try {
            content = bytes.content();
            if (bytes.layer() != layer
                    || bytes.committing() != null
                    || !file.state.hasName()
                    || file.object.isCopied()) {
                return false;
            }
            identity = file.object.identity();
            if (!identity.equals(file.object.journalled())) {
                records.add(identity);
            }
            removed = content.takeSinceJournal();
            records.addAll(layer.staged().speakOf(layer.data()));
            sent = file.inDoubt.sent();
            records.addAll(sent);
            records.add(written(removed));
        } finally {
            bytes.lock().unlock();
        }
        boolean durable = false;
        try {
            journal.write(layer.data(), records);
            durable = true;
        } finally {
            if (!durable) {
                putBack(layer, removed);
            }
        }
        if (!madeDurable(layer, wanted, identity, sent)) {
            return false;
        }
        layer.staged().spoken(layer.data());
        layer.staged().compactJournal();
        return true;
    }

    /**
     * Keeps removals that could not be journalled for the next attempt. Not once the file has been committed: they
     * would hide its new content.
     */
    private void putBack(BaseLayer layer, RemovedRanges removed) {
        bytes.locked(() -> {
            if (bytes.layer().staged() == layer.staged()) {
                bytes.content().putBack(removed);
                bytes.content().blocks().forEach(block -> block.setJournalled(false)); // also forks of journalled ones
            }
        });
    }

    private boolean madeDurable(
            BaseLayer layer, long wanted, JournalRecord.Opened identity, List<JournalRecord.Sent> sent) {
        bytes.lock().lock();
        try {
            if (bytes.layer().staged() == layer.staged()) {
                file.object.setJournalled(identity);
            }
            if (bytes.layer() != layer
                    || !file.object.identity().equals(identity)
                    || !sent.containsAll(file.inDoubt.sent())) {
                return false;
            }
            file.state.durable(wanted);
            return true;
        } finally {
            bytes.lock().unlock();
        }
    }

    /** The changes since the last such record, except appends since this sync began. Caller holds the file's lock. */
    private JournalRecord.Written written(RemovedRanges removed) {
        BlockMap content = bytes.content();
        long size = content.leastSize();
        List<ByteRange> data = new ArrayList<>();
        for (Block block : content.blocks()) {
            if (!block.isJournalled()) {
                Ranges stored = block.stored().copy();
                block.setJournalled(stored.nextIn(size) == Ranges.NONE);
                stored.remove(size, Ranges.NONE);
                data.addAll(stored.toList());
            }
        }
        return new JournalRecord.Written(
                size,
                content.baseEnd(),
                removed.cut(),
                file.state.modified(),
                removed.zeroed().toList(),
                data,
                file.object.headers());
    }

    /** From now on, a change of the name just before a crash must not be taken for a conflict. */
    void withdrawn() {
        syncs.lock();
        try {
            boolean _ = file.object.journal().amend(new JournalRecord.Withdrawn());
        } finally {
            syncs.unlock();
        }
    }

    /** The durable content must be found under the file's current name. */
    void journalName() {
        syncs.lock();
        try {
            JournalRecord.Opened identity = file.object.identity();
            boolean isWritten = file.object.journal().amend(identity);
            bytes.locked(
                    () -> file.object.setJournalled(isWritten ? identity : null)); // if null, the next fsync writes it
        } finally {
            syncs.unlock();
        }
    }

    /** Keeps content for {@code penstock recover} because its commit failed. */
    void saveForRecovery(Exception failure) {
        String reason = String.valueOf(failure.getMessage());
        try {
            if (stagedFor(reason)) {
                log.error(
                        "'{}' could not be committed: {}. The written data is kept in {}: penstock mounts"
                                + " shows the penstock recover command for it.",
                        file.key(),
                        reason,
                        bytes.locked(bytes::layer).staged().where());
                return;
            }
        } catch (ObjectStoreException | IOException e) {
            log.debug("Cannot keep '{}'", file.key(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        log.error(
                "'{}' could not be committed: {}. The written data is LOST, because the staging disk cannot store it"
                        + " either.",
                file.key(),
                reason);
    }

    /**
     * The process ends: makes all earlier writes durable.
     *
     * @return whether they survive that
     */
    boolean leave() {
        try {
            copies.materialise();
            return staged(false);
        } catch (ObjectStoreException | IOException e) {
            log.debug("'{}' cannot be left in staging", file.key(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return bytes.locked(this::isDurable); // it may have been durable before
    }

    private boolean stagedFor(String reason) throws ObjectStoreException, IOException, InterruptedException {
        copies.materialise();
        syncs.lockInterruptibly();
        try {
            if (!staged(false)) {
                return false;
            }
            return file.object.journal().amend(new JournalRecord.Failed(reason));
        } finally {
            syncs.unlock();
        }
    }
}
