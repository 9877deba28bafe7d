package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Pacing.Pace;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One commit of one file, on a thread of its own, so that who waits for it may be interrupted and it goes on. */
final class Commit implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Commit.class);

    private final FileCommits file;
    private final Upload upload;
    private final long uploadedBefore;
    private final StillContent content;
    private final long changes;
    private final WriteCondition condition;

    /** Nobody waits for it: what may be over in a while is tried again. */
    private volatile boolean behind;

    /** Of the attempt that runs, or ran last. */
    private volatile Deadline deadline;

    /** What makes the object is not all known here: an earlier run has sent what was staged, or more. */
    private boolean perhapsMore; // of the thread that runs

    private @Nullable Thread thread; // guarded by this
    private boolean cancelled; // guarded by this

    /** What it does, in this order but for attempts that are repeated. */
    private enum Step {
        /** Brings the store what it needs to decide. */
        PREPARING,
        /** Waits until it tries again. */
        PAUSING,
        /** The request is under way that makes it visible. */
        DECIDING,
        ENDED
    }

    private Step step = Step.PREPARING; // guarded by this
    private long stepBegan = System.nanoTime(); // guarded by this

    /** The file goes on without it: whatever comes of it, what there is by then is to be committed. Guarded by this. */
    private boolean left;

    private Pace pace; // guarded by this

    /**
     * @param changes how many changes the content has
     * @param deadline of its first attempt
     */
    Commit(
            FileCommits file,
            Upload upload,
            StillContent content,
            long changes,
            WriteCondition condition,
            boolean behind,
            Pace pace,
            Deadline deadline) {
        this.file = file;
        this.upload = upload;
        this.uploadedBefore = upload.uploadedBytes();
        this.content = content;
        this.changes = changes;
        this.condition = condition;
        this.behind = behind;
        this.pace = pace;
        this.deadline = deadline;
    }

    Upload upload() {
        return upload;
    }

    long changes() {
        return changes;
    }

    /** Bytes of what it commits. */
    long size() {
        return content.size();
    }

    boolean isBehind() {
        return behind;
    }

    /** Somebody waits for it now: it fails rather than being tried again. */
    synchronized void awaited() {
        if (behind) {
            behind = false;
            deadline.restart(); // who waits from now on waits for all of it
        }
        notifyAll();
    }

    @Override
    public void run() {
        Exception failure = null;
        try {
            begin();
            pause();
            if (behind) {
                deadline.restart();
            }
            ObjectVersion version = commitOrAskWhy();
            if (finish()) { // an interrupt from now on would only close the files that it finds in use
                if (!perhapsMore) {
                    file.shared().pages().keep(version, content);
                }
                file.succeeded(this, version);
            } else {
                file.succeededLeft(this, version);
            }
        } catch (InterruptedException e) {
            failure = new IOException("'" + content.key() + "' is not committed: the mount ends", e);
        } catch (Exception e) {
            failure = e;
        } catch (Error e) { // who waits for it would wait for ever
            log.error("Unforeseen while '{}' was committed", content.key(), e);
            failure = new IOException("'" + content.key() + "' is not committed: " + e, e);
        } finally {
            boolean _ = finish();
        }
        file.ended(this, failure);
    }

    private ObjectVersion commitOrAskWhy() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return commit();
        } catch (ObjectStoreException e) {
            if (outlook(e) == Outlook.FINAL) {
                file.unheard().ask(content.key(), condition);
            }
            throw e;
        }
    }

    private ObjectVersion commit() throws ObjectStoreException, IOException, InterruptedException {
        while (true) {
            try {
                return deadline.call(this::commitOnce);
            } catch (ObjectStoreException e) {
                if (!behind || outlook(e) != Outlook.PASSES) {
                    throw e;
                }
                begin();
                long seconds = TimeUnit.NANOSECONDS.toSeconds(fail());
                log.warn("'{}' cannot be committed now: {}. Again in {} s.", content.key(), e.getMessage(), seconds);
                pause();
                deadline = file.shared().deadlineBehind();
            }
        }
    }

    private ObjectVersion commitOnce() throws ObjectStoreException, IOException, InterruptedException {
        boolean perhapsVisible = file.unheard().isPerhapsVisible();
        try {
            ObjectVersion earlier = file.unheard().isRecovered() ? earlierCommit() : null;
            if (earlier == null) {
                earlier = unheard();
            }
            return earlier == null ? send() : earlier;
        } catch (ObjectStoreException.PreconditionFailed e) {
            if (isLeft()) {
                throw e; // its content is no more: the next one finds out
            }
            ObjectVersion earlier = perhapsVisible ? earlierCommit() : null;
            if (earlier == null) {
                earlier = unheard();
            }
            if (earlier == null) {
                throw e;
            }
            return earlier;
        }
    }

    private ObjectVersion send() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return upload.commit(content.size(), condition, this::decide);
        } catch (IOException e) {
            if (e.getCause() instanceof ObjectStoreException cause) {
                throw cause; // of a body, part of which is in the version beneath
            }
            throw e;
        }
    }

    /** What comes of another attempt. */
    enum Outlook {
        /** It may succeed in a while: the store is out of reach, or in trouble. */
        PASSES,
        /** It fails until somebody mends something: rights, room, or the disk here. */
        NEEDS_MENDING,
        /** It fails for ever: the object is not what it was, or the store does not take such a request. */
        FINAL
    }

    static Outlook outlook(Exception failure) {
        if (!(failure instanceof ObjectStoreException ofStore)) {
            return Outlook.NEEDS_MENDING;
        }
        return switch (ofStore) {
            case ObjectStoreException.Throttled _, ObjectStoreException.Unavailable _ -> Outlook.PASSES;
            case ObjectStoreException.PreconditionFailed _,
                    ObjectStoreException.NotFound _,
                    ObjectStoreException.Refused _ -> Outlook.FINAL;
            case ObjectStoreException.AccessDenied _,
                    ObjectStoreException.InvalidState _,
                    ObjectStoreException.Corrupt _,
                    ObjectStoreException.QuotaExceeded _,
                    ObjectStoreException.OutOfSpace _ -> Outlook.NEEDS_MENDING;
        };
    }

    /**
     * What an earlier request, of this run or of one before, has made of the object unheard, so that there is nothing left
     * to do: null if there is no such thing.
     */
    private @Nullable ObjectVersion earlierCommit() throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion there = file.shared().earlierCommit(content);
        if (there != null) {
            log.info("'{}' was committed already, by a request whose answer was lost", content.key());
            upload.abandon();
        }
        return there;
    }

    /**
     * The object, if a request whose answer was lost has made it just what this commits: null if none has. If one has made
     * it what the file was before, the file goes on over that, and this ends.
     */
    private @Nullable ObjectVersion unheard() throws ObjectStoreException, IOException, InterruptedException {
        UnheardAnswers.Landed landed = file.unheard().landed(content.key(), condition);
        boolean same = landed != null && landed.changes() == changes;
        if (landed == null || (landed.more() && !same && content.content().baseEnd() > 0)) {
            return null; // or what was not changed here is not there any more: a conflict like with somebody else
        }
        upload.abandon();
        if (same) {
            perhapsMore = file.unheard().isRecovered();
            return landed.version();
        }
        synchronized (this) {
            cancelled = true;
            left = true;
        }
        file.landed(landed.version());
        throw new InterruptedException();
    }

    private synchronized void begin() throws InterruptedException {
        if (cancelled) {
            throw new InterruptedException();
        }
        thread = Thread.currentThread();
        enter(Step.PREPARING);
    }

    private void decide(OptionalInt crc32c) throws InterruptedException {
        file.deciding(this, content.size(), crc32c);
        synchronized (this) {
            begin();
            enter(Step.DECIDING);
        }
    }

    /** @return nanoseconds until the next attempt */
    private synchronized long fail() {
        long pause = pace.pause();
        pace = pace.afterAFailure();
        return pause;
    }

    /** Waits until the next attempt is due, or somebody waits for this. */
    private void pause() throws InterruptedException {
        if (nanosToPause() > 0) {
            enter(Step.PAUSING);
            file.pausing();
            awaitPause();
        }
    }

    private synchronized void awaitPause() throws InterruptedException {
        for (long rest = nanosToPause(); rest > 0; rest = nanosToPause()) {
            wait(TimeUnit.NANOSECONDS.toMillis(rest) + 1);
        }
        enter(Step.PREPARING);
    }

    private synchronized long nanosToPause() {
        return behind ? pace.notBefore() - System.nanoTime() : 0;
    }

    /** Of the next, after this has failed or was left. */
    synchronized Pace nextPace() {
        return pace.afterAFailure();
    }

    /** Whether the store has taken some of it: it may succeed if it is left alone. */
    boolean isGettingOn() {
        return !isPausing() && upload.uploadedBytes() != uploadedBefore;
    }

    private synchronized boolean isPausing() {
        return step == Step.PAUSING;
    }

    private synchronized void enter(Step next) {
        step = next;
        stepBegan = System.nanoTime();
    }

    /** @return whether the file still waits for it */
    private synchronized boolean finish() {
        thread = null;
        step = Step.ENDED;
        Thread.interrupted(); // a late cancellation
        return !left;
    }

    /**
     * How long whoever wants the file staged should wait for this: 0 once it is to be {@linkplain #leave left}. With the
     * file's lock held.
     */
    synchronized long nanosToWait(long patience) {
        if (left) {
            return Long.MAX_VALUE; // it ends at once
        }
        long passed = System.nanoTime() - stepBegan;
        return switch (step) {
            case PREPARING -> Math.max(0, patience - passed);
            case PAUSING -> 0;
            case DECIDING -> Math.max(0, file.shared().pacing().patience() - passed);
            case ENDED -> Long.MAX_VALUE; // what is left is done here
        };
    }

    /**
     * The file goes on without it: it ends, but not the request that decides.
     *
     * @return whether that is under way
     */
    synchronized boolean leave() {
        left = true;
        withdraw();
        return step == Step.DECIDING;
    }

    /** Whether what there is by now is to be committed when this has ended, whatever came of it. */
    synchronized boolean isLeft() {
        return left;
    }

    /** Ends it, but not the request that decides, whose outcome nobody would know: that still ends one way or the other. */
    synchronized void withdraw() {
        cancelled = true;
        if (step != Step.DECIDING) {
            cancel();
        }
    }

    synchronized void cancel() {
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
    }
}
