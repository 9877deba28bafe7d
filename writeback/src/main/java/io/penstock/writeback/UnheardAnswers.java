package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What may have been done to a file's object by requests whose answers nobody has heard, because a crash came before them
 * or the connection broke: it was made visible, or its name was removed or taken by another file.
 *
 * <p>What is sent may be more than what is staged, however often the latter is brought up to date first: staging may have no
 * room, which is a reason to commit; what the store is to copy is never staged; and writers go on until the commit begins.
 * So what a crash finds may be older than what was sent after it.
 */
final class UnheardAnswers {
    private static final Logger log = LoggerFactory.getLogger(UnheardAnswers.class);

    private final Shared shared;

    /** The file's, which guards all that is not volatile. */
    private final ReentrantLock lock;

    /** The content is of an earlier run, whose commit may have succeeded. */
    private boolean recovered;

    /** A request was sent that makes it visible, or may have been by an earlier run. */
    private volatile boolean perhapsVisible;

    /**
     * What requests may have made of the object.
     *
     * @param changes how many the content had; -1 if that was in an earlier run, before what is left of it was written
     * @param more whether it had more than these, which is lost
     */
    private record Doubt(long changes, boolean more, JournalRecord.Sent sent) {}

    private final List<Doubt> doubts = new ArrayList<>();

    /**
     * The object is what a request has made of it whose answer was lost.
     *
     * @param changes how many the content had
     * @param more whether it had more than these, which is not known here
     */
    record Landed(ObjectVersion version, long changes, boolean more) {}

    /** An earlier run was about to remove its name, or to have it taken by another file. */
    private boolean wasWithdrawn;

    /** That was done, as the store shows. */
    private boolean over;

    UnheardAnswers(Shared shared, ReentrantLock lock) {
        this.shared = shared;
        this.lock = lock;
    }

    /**
     * The content is of an earlier run, which may have sent anything. Before others have the file.
     *
     * @param found the content; what was sent since it was written has it, or more than was made durable
     * @param changes how many that is
     */
    void recovered(Recovery.Found found, long changes) {
        found.sentBefore().forEach(sent -> doubts.add(new Doubt(-1, false, sent)));
        for (JournalRecord.Sent sent : found.sentSince()) {
            doubts.add(new Doubt(changes, sent.size() != found.written().size(), sent));
        }
        recovered = true;
        perhapsVisible = true;
        wasWithdrawn = found.withdrawn();
    }

    /**
     * The request is about to be sent that makes it visible.
     *
     * @return what a crash from now on must not take for somebody else's; null if that is known, because the request is
     *     sent again and again as long as the store is away
     */
    JournalRecord.@Nullable Sent deciding(long changes, long size, OptionalInt crc32c) {
        Doubt doubt = new Doubt(changes, false, new JournalRecord.Sent(size, crc32c.isPresent(), crc32c.orElse(0)));
        lock.lock();
        try {
            perhapsVisible = true;
            if (doubts.contains(doubt)) {
                return null;
            }
            doubts.add(doubt);
            return doubt.sent();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the file can go on over whatever requests may have made of the object: else it has to be known what has
     * become of them before anything is staged over the version that they replace. With the lock held.
     */
    boolean areHarmless() {
        return doubts.stream().allMatch(doubt -> doubt.sent().recognisable() && !doubt.more());
    }

    /** What a crash from now on must not take for somebody else's. With the lock held. */
    List<JournalRecord.Sent> doubts() {
        return doubts.stream().map(Doubt::sent).distinct().toList();
    }

    /** What has become of the object if one of the requests in doubt was carried out: null if none was. */
    @Nullable
    Landed landed(String key, WriteCondition condition) throws ObjectStoreException, IOException, InterruptedException {
        List<Doubt> all;
        lock.lock();
        try {
            all = List.copyOf(doubts.reversed());
        } finally {
            lock.unlock();
        }
        ObjectVersion there;
        try {
            there = all.isEmpty() ? null : shared.other(key, condition);
        } catch (ObjectStoreException.AccessDenied e) {
            log.debug("What became of a commit of '{}' must not be read", key, e);
            return null; // who may only write loses nothing: the condition is still compared
        }
        if (there == null
                || all.stream()
                        .noneMatch(doubt ->
                                doubt.sent().recognisable() && doubt.sent().size() == there.size())) {
            return null;
        }
        int crc32c = shared.crc32c(there);
        for (Doubt doubt : all) {
            if (doubt.sent().equals(new JournalRecord.Sent(there.size(), true, crc32c))) {
                log.info("'{}' was committed by a request whose answer was lost", key);
                return new Landed(there, doubt.changes(), doubt.more());
            }
        }
        return null;
    }

    /** A commit has succeeded: all is known. With the lock held. */
    void committed() {
        recovered = false;
        perhapsVisible = false;
        doubts.clear();
    }

    /**
     * A commit has failed. With the lock held.
     *
     * @param looked whether it has looked for what earlier requests have made
     */
    void failed(Exception failure, boolean looked) {
        if (looked && failure instanceof ObjectStoreException.PreconditionFailed) {
            perhapsVisible = false; // what is there is somebody else's
            doubts.clear();
        }
    }

    /** Whether an earlier run may have committed just this content. */
    boolean isRecovered() {
        lock.lock();
        try {
            return recovered;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the store may have a version of it that nobody here has heard of. */
    boolean isPerhapsVisible() {
        return perhapsVisible;
    }

    /**
     * Whether a commit of what an earlier run left has failed because its name was removed, or taken by another file, just
     * before the crash. With the lock held.
     */
    boolean isOver() {
        return over;
    }

    /**
     * A commit has failed for good: asks the store whether that is because what an earlier run was about to do to the name
     * was done.
     */
    void ask(String key, WriteCondition condition) throws InterruptedException {
        if (!wasWithdrawn) {
            return;
        }
        boolean replaced;
        try {
            replaced = shared.isReplaced(key, condition);
        } catch (ObjectStoreException e) {
            log.debug("Whether '{}' was removed or replaced is not known: it is kept", key, e);
            return;
        }
        lock.lock();
        try {
            over = replaced;
        } finally {
            lock.unlock();
        }
    }
}
