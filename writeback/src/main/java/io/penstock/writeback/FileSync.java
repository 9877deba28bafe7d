package io.penstock.writeback;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.staging.FileJournal;
import io.penstock.writeback.staging.JournalRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes one file's content durable in staging: data first, then the journal that speaks of it. This class is the
 * order of reads under the file's lock and of writes without it, which is why it is long.
 */
final class FileSync {
    private static final Logger log = LoggerFactory.getLogger(FileSync.class);

    private final FileCommits file;
    private final FileBytes bytes;
    private final StagingTurn turn;

    /** One at a time, in the order of their records. Held across I/O and while waiting; taken before the file's. */
    private final ReentrantLock syncs = new ReentrantLock(true);

    /** Changes that are durable in staging, or committed. */
    @GuardedBy("bytes.lock()")
    private long durableChanges;

    /** The file's identity in the journal, as far as it was written here; null if the journal may lack it. */
    @GuardedBy("bytes.lock()")
    private JournalRecord.@Nullable Opened said;

    FileSync(FileCommits file) {
        this.file = file;
        this.bytes = file.bytes();
        this.turn = new StagingTurn(file);
    }

    /** With the file's lock held, as the next. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    void checkInvariants() {
        if (durableChanges > file.state().changes()) {
            throw new IllegalStateException(durableChanges + " changes are durable: " + file.state());
        }
    }

    /** Whether all that is written would survive a crash of the machine, under the file's name. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    boolean isDurable() {
        return durableChanges >= file.state().changes() && !isNameUnsaid();
    }

    /** Whether the journal may lack the name under which a crash is to find the durable content. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    private boolean isNameUnsaid() {
        return durableChanges > file.state().committed()
                && (said == null || !said.key().equals(file.state().key()));
    }

    /** Changes that would survive a crash of the machine, or are visible. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    long durableChanges() {
        return durableChanges;
    }

    @SuppressWarnings("GuardedBy") // the caller holds it
    void committed(long changes) {
        durableChanges = Math.max(durableChanges, changes);
    }

    /** The file's content is as an earlier run made it durable. Before other threads have the file. */
    @SuppressWarnings("GuardedBy") // no other thread has the file
    void found() {
        durableChanges = file.state().changes();
        said = file.object().identity();
    }

    /**
     * Makes the content that is about to be committed durable, if an older one is: after a crash, the staged content
     * must not be older than the one that the store may have by then.
     *
     * @param reporting whether to fail as a commit in the background has
     */
    void renew(boolean reporting) throws ObjectStoreException, IOException, InterruptedException {
        boolean older;
        bytes.lock().lock();
        try {
            file.awaited();
            older = durableChanges > file.state().committed()
                    && durableChanges < file.state().changes();
        } finally {
            bytes.lock().unlock();
        }
        if (older && !staged(reporting)) {
            log.debug("The staged content of '{}' stays older than the committed one", bytes.key());
        }
    }

    /**
     * Returns once all writes until now would survive a crash of the machine.
     *
     * @return false if it cannot be made so here, because the disk is full or broken, or something is still to be copied
     *     by the store: it has to be committed
     */
    boolean staged() throws ObjectStoreException, IOException, InterruptedException {
        return staged(true);
    }

    /** @param reporting whether to fail as a commit in the background has */
    private boolean staged(boolean reporting) throws ObjectStoreException, IOException, InterruptedException {
        syncs.lockInterruptibly();
        try {
            while (true) {
                BaseLayer layer;
                long wanted;
                bytes.lock().lock();
                try {
                    if (reporting) {
                        file.error().report(true);
                    }
                    wanted = file.state().changes();
                    bytes.content().noteSize();
                    if (!file.state().hasName() || isDurable()) {
                        return true;
                    }
                    if (file.object().isCopied()) {
                        return false; // a crash must not leave it dependent on the object that it is copied from
                    }
                    if (turn.isToCome()) {
                        turn.await();
                        continue;
                    }
                    layer = bytes.layer().use(); // so that nothing is closed while it is written
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
            turn.end();
            syncs.unlock();
        }
    }

    /** Null if it has to be tried again; false if it cannot be made durable here. */
    private @Nullable Boolean attempt(BaseLayer layer, long wanted) throws InterruptedException {
        if (!file.context().staging().isUsable() || layer.staged().isSuspect()) {
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
            log.debug("'{}' cannot be staged now", bytes.key(), e);
        }
        return isCurrent(layer) ? Boolean.FALSE : null;
    }

    /** Whether the file has been neither committed nor removed since: else the failure says nothing of the disk. */
    private boolean isCurrent(BaseLayer layer) {
        return bytes.locked(() -> bytes.layer() == layer && file.state().hasName());
    }

    /** Waits for a body that keeps a block from being staged. False if there is none: it is the disk. */
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

    /** False if a commit or another name came in between. */
    private boolean write(BaseLayer layer, long wanted) throws IOException {
        FileJournal journal = new FileJournal(layer.staged(), file.object()::identity);
        List<JournalRecord> records = new ArrayList<>();
        List<JournalRecord.Sent> sent;
        BlockMap content;
        BlockMap.Removals removed;
        JournalRecord.Opened identity;
        bytes.lock().lock();
        try {
            content = bytes.content();
            if (bytes.layer() != layer
                    || bytes.committing() != null
                    || !file.state().hasName()
                    || file.object().isCopied()) {
                return false;
            }
            identity = file.object().identity();
            if (!identity.equals(said)) {
                records.add(identity);
            }
            removed = content.takeSinceJournal();
            records.addAll(layer.staged().speakOf(layer.data()));
            sent = file.inDoubt().sent();
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
     * Removals that could not be journalled are to be the next time, unless the file is committed by now: it would hide
     * that.
     */
    private void putBack(BaseLayer layer, BlockMap.Removals removed) {
        bytes.locked(() -> {
            if (bytes.layer().staged() == layer.staged()) {
                bytes.content().putBack(removed);
                bytes.content().blocks().forEach(block -> block.setJournalled(false)); // forks of those it was of, too
            }
        });
    }

    private boolean madeDurable(
            BaseLayer layer, long wanted, JournalRecord.Opened identity, List<JournalRecord.Sent> sent) {
        bytes.lock().lock();
        try {
            if (bytes.layer().staged() == layer.staged()) {
                said = identity;
            }
            if (bytes.layer() != layer
                    || !file.object().identity().equals(identity)
                    || !sent.containsAll(file.inDoubt().sent())) {
                return false;
            }
            durableChanges = Math.max(durableChanges, wanted);
            return true;
        } finally {
            bytes.lock().unlock();
        }
    }

    /** The changes since the last of these; without the appends since this sync began. With the file's lock held. */
    private JournalRecord.Written written(BlockMap.Removals removed) {
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
                file.state().modified(),
                removed.zeroed().toList(),
                data,
                file.object().kept());
    }

    /** After a crash from now on, a change of its name must not be taken for a conflict. */
    void withdrawn() {
        syncs.lock();
        try {
            boolean _ = file.object().journal().amend(new JournalRecord.Withdrawn());
        } finally {
            syncs.unlock();
        }
    }

    /** The durable content is found under the name that the file has now, which is its own. */
    void journalName() {
        syncs.lock();
        try {
            JournalRecord.Opened identity = file.object().identity();
            boolean isSaid = file.object().journal().amend(identity);
            bytes.lock().lock();
            try {
                said = isSaid ? identity : null; // the next fsync says it
            } finally {
                bytes.lock().unlock();
            }
        } finally {
            syncs.unlock();
        }
    }

    /** Keeps content that cannot be committed for {@code penstock recover}. */
    void keep(Exception failure) {
        String reason = String.valueOf(failure.getMessage());
        try {
            if (stagedFor(reason)) {
                log.error(
                        "'{}' could not be committed: {}. The written data is kept in {}: penstock mounts"
                                + " shows the penstock recover command for it.",
                        bytes.key(),
                        reason,
                        bytes.layer().staged().where());
                return;
            }
        } catch (ObjectStoreException | IOException e) {
            log.debug("Cannot keep '{}'", bytes.key(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        log.error(
                "'{}' could not be committed: {}. The written data is LOST, because the staging disk does not take it"
                        + " either.",
                bytes.key(),
                reason);
    }

    /**
     * The process ends: makes all writes until now durable.
     *
     * @return whether it survives that
     */
    boolean leave() {
        try {
            new WholeCopy(file).materialise();
            return staged(false);
        } catch (ObjectStoreException | IOException e) {
            log.debug("'{}' cannot be left in staging", bytes.key(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return bytes.locked(this::isDurable); // it was so before
    }

    private boolean stagedFor(String reason) throws ObjectStoreException, IOException, InterruptedException {
        new WholeCopy(file).materialise();
        syncs.lockInterruptibly();
        try {
            if (!staged(false)) {
                return false;
            }
            return file.object().journal().amend(new JournalRecord.Kept(reason));
        } finally {
            syncs.unlock();
        }
    }
}
