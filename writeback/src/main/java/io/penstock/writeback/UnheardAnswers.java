package io.penstock.writeback;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What may have been done to a file's object by requests whose answers nobody has heard, because a crash came before them
 * or the connection broke: it was made visible, or its name was removed or taken by another file.
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

    /** An earlier run was about to remove its name, or to have it taken by another file. */
    private boolean wasWithdrawn;

    /** That was done, as the store shows. */
    private boolean over;

    UnheardAnswers(Shared shared, ReentrantLock lock) {
        this.shared = shared;
        this.lock = lock;
    }

    /** The content is of an earlier run, which may have sent anything. Before others have the file. */
    void recovered(boolean withdrawn) {
        recovered = true;
        perhapsVisible = true;
        wasWithdrawn = withdrawn;
    }

    /** The request is about to be sent that makes it visible. */
    void deciding() {
        perhapsVisible = true;
    }

    /** A commit has succeeded: all is known. With the lock held. */
    void committed() {
        recovered = false;
        perhapsVisible = false;
    }

    /** A commit has failed. With the lock held. */
    void failed(Exception failure) {
        if (failure instanceof ObjectStoreException.PreconditionFailed) {
            perhapsVisible = false; // what is there is somebody else's
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
