package io.penstock.writeback;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.Pacing.Pace;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.upload.FileUpload;
import java.io.IOException;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One commit of one file, on a thread of its own, so that it goes on when a caller that waits for it is interrupted.
 * The step that it is at decides whether it may be cancelled, so that both are here: hence its length.
 *
 * <pre>
 *   PREPARING ──▶ DECIDING ──▶ ENDED
 *    ▲     │         │
 *    │     └──failed─┤ in the background: tried again
 *    └── PAUSING ◀───┘
 * </pre>
 */
final class Commit implements Background.Task, FileUpload.Decision {
    private static final Logger log = LoggerFactory.getLogger(Commit.class);

    private final FileCommits file;
    private final MountContext context;
    private final InDoubt inDoubt;
    private final FileUpload upload;
    private final long uploadedBefore;
    private final Snapshot content;
    private final long changes;
    private final WriteCondition condition;

    /** Of the attempt that runs, or ran last. */
    private volatile Deadline deadline;

    private volatile Mode mode;

    @GuardedBy("this")
    private @Nullable Thread thread;

    @GuardedBy("this")
    private Order order = Order.GO_ON;

    @GuardedBy("this")
    private Step step = Step.PREPARING;

    @GuardedBy("this")
    private long stepBegan = System.nanoTime();

    @GuardedBy("this")
    private Pace pace;

    /** The effect of a failure that may pass. */
    enum Mode {
        /** No caller waits: the commit is tried again. */
        BACKGROUND,
        /** A caller waits, and is told. */
        AWAITED
    }

    private enum Step {
        /** Brings the store what it needs to decide. */
        PREPARING,
        /** Waits until it tries again. */
        PAUSING,
        /**
         * The request is under way that makes the content visible. It is never cancelled: its outcome would stay
         * unknown.
         */
        DECIDING,
        ENDED
    }

    /** The file's order to the commit; only ever a stronger one. */
    private enum Order {
        GO_ON,
        /** End as soon as the outcome is known. */
        END,
        /** The same, and the file goes on without waiting for that: it is committed again whatever the outcome is. */
        LEAVE
    }

    /**
     * The version that the commit has made.
     *
     * @param isContent whether it has just the commit's content; an earlier run may have sent more
     * @param hasHeaders whether it has the headers to be kept, because a request of this run has made it; not known of others
     */
    private record Made(ObjectVersion version, boolean isContent, boolean hasHeaders) {}

    /**
     * @param changes how many changes the content has
     * @param deadline of its first attempt
     */
    Commit(
            FileCommits file,
            FileUpload upload,
            Snapshot content,
            long changes,
            WriteCondition condition,
            Mode mode,
            Pace pace,
            Deadline deadline) {
        this.file = file;
        this.context = file.context();
        this.inDoubt = file.inDoubt();
        this.upload = upload;
        this.uploadedBefore = upload.uploadedBytes();
        this.content = content;
        this.changes = changes;
        this.condition = condition;
        this.mode = mode;
        this.pace = pace;
        this.deadline = deadline;
    }

    FileUpload upload() {
        return upload;
    }

    long changes() {
        return changes;
    }

    /** Bytes of the content. */
    long size() {
        return content.size();
    }

    boolean isInBackground() {
        return mode == Mode.BACKGROUND;
    }

    /** A caller waits for it now, until this deadline: it fails rather than being tried again. */
    synchronized void awaited(Deadline until) {
        if (mode == Mode.BACKGROUND) {
            mode = Mode.AWAITED;
            deadline.extendTo(until);
        }
        notifyAll();
    }

    @Override
    public void run() {
        Exception failure = null;
        CommitEvent event = new CommitEvent();
        event.begin();
        try {
            prepare();
            pause();
            if (mode == Mode.BACKGROUND) {
                deadline.restart();
            }
            Made made = commitOrAskWhy();
            if (finish() == Order.LEAVE) {
                file.succeededLeft(this, made.version);
            } else { // an interrupt from now on would only close the files that it finds in use
                if (made.isContent) {
                    context.pages().keep(made.version, content);
                }
                file.succeeded(this, made.version, made.hasHeaders);
            }
        } catch (InterruptedException e) {
            failure = new IOException("'" + content.key() + "' is not committed: the mount ends", e);
        } catch (Exception e) {
            failure = e;
        } catch (Error e) { // callers that wait for it would wait for ever
            log.error("Unforeseen while '{}' was committed", content.key(), e);
            failure = new IOException("'" + content.key() + "' is not committed: " + e, e);
        } finally {
            Order _ = finish();
        }
        record(event, failure);
        file.ended(this, failure);
    }

    private void record(CommitEvent event, @Nullable Exception failure) {
        event.end();
        if (event.shouldCommit()) {
            event.key = content.key();
            event.bytes = content.size();
            event.cause = mode.name().toLowerCase(Locale.ROOT);
            event.failure = failure == null ? "" : String.valueOf(failure.getMessage());
            event.commit();
        }
    }

    private Made commitOrAskWhy() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return commit();
        } catch (ObjectStoreException e) {
            if (outlook(e) == Outlook.FINAL) {
                inDoubt.askWhy(content.key(), condition);
            }
            throw e;
        }
    }

    private Made commit() throws ObjectStoreException, IOException, InterruptedException {
        while (true) {
            try {
                return deadline.call(this::commitOnce);
            } catch (ObjectStoreException e) {
                if (mode == Mode.AWAITED || outlook(e) != Outlook.PASSES) {
                    throw e;
                }
                prepare();
                long seconds = TimeUnit.NANOSECONDS.toSeconds(fail());
                log.warn("'{}' cannot be committed now: {}. Again in {} s.", content.key(), e.getMessage(), seconds);
                pause();
                deadline = context.retries().forWriting();
            }
        }
    }

    private Made commitOnce() throws ObjectStoreException, IOException, InterruptedException {
        boolean perhapsVisible = inDoubt.isAny();
        try {
            Made earlier = inDoubt.isRecovered() ? earlierCommit() : null;
            return earlier == null ? landedOr(null) : earlier;
        } catch (ObjectStoreException.PreconditionFailed e) {
            Made earlier = perhapsVisible && !isLeft() ? earlierCommit() : null;
            if (earlier == null && isLeft()) {
                throw e; // its content is no more: the next commit finds out
            }
            return earlier == null ? landedOr(e) : earlier;
        }
    }

    /** The version that a request in doubt has made; if none has, the commit is sent, or has failed for this reason. */
    private Made landedOr(ObjectStoreException.@Nullable PreconditionFailed failure)
            throws ObjectStoreException, IOException, InterruptedException {
        Made landed = landed();
        if (landed != null) {
            return landed;
        } else if (failure != null) {
            throw failure;
        }
        return new Made(send(), true, true);
    }

    private ObjectVersion send() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return upload.commit(content.size(), condition, this);
        } catch (IOException e) {
            if (e.getCause() instanceof ObjectStoreException cause) {
                throw cause; // of a body, part of which is in the base version
            }
            throw e;
        }
    }

    /** The outlook of another attempt. */
    enum Outlook {
        /** It may succeed in a while: the store is out of reach, or in trouble. */
        PASSES,
        /** It fails until an administrator mends something: rights, room, or the disk here. */
        NEEDS_MENDING,
        /** It fails for ever: the object is another version, or the store does not take such a request. */
        FINAL
    }

    static Outlook outlook(Exception failure) {
        if (!(failure instanceof ObjectStoreException ofStore)) {
            return Outlook.NEEDS_MENDING;
        }
        return switch (ofStore) {
            case ObjectStoreException.Away _ -> Outlook.PASSES;
            case ObjectStoreException.PreconditionFailed _,
                    ObjectStoreException.OutcomeUnknown _,
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
     * The object, if a request of this run or of an earlier one, whose response was lost, has made it this content; null if
     * none has, or if the content was left while it was compared.
     */
    private @Nullable Made earlierCommit() throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion found = context.lookup().earlierCommit(content);
        if (found == null || isLeft()) {
            return null;
        }
        log.info("'{}' was committed already, by a request whose response was lost", content.key());
        upload.abandon();
        return new Made(found, true, false);
    }

    /**
     * The object, if a request in doubt has made it this content; null if none has. If one has made it an earlier content of
     * the file, the file goes on over that version, and this commit ends.
     */
    private @Nullable Made landed() throws ObjectStoreException, IOException, InterruptedException {
        InDoubt.Landed landed = inDoubt.landed(content.key(), condition);
        boolean same = landed != null && landed.changes() == changes;
        if (landed == null || (landed.more() && !same && content.content().baseEnd() > 0)) {
            return null; // or bytes that were not changed here are gone: a conflict as with another writer
        }
        upload.abandon();
        if (same) {
            boolean ofThisRun = !inDoubt.isRecovered();
            return new Made(landed.version(), ofThisRun, ofThisRun && !upload.mayLackProperties(landed.version()));
        }
        order(Order.LEAVE);
        file.landed(landed.version());
        throw new InterruptedException();
    }

    private synchronized void prepare() throws InterruptedException {
        if (order != Order.GO_ON) {
            throw new InterruptedException();
        }
        thread = Thread.currentThread();
        enter(Step.PREPARING);
    }

    @Override
    public void begin(OptionalInt crc32c) throws InterruptedException {
        file.deciding(this, content.size(), crc32c);
        synchronized (this) {
            prepare();
            enter(Step.DECIDING);
        }
    }

    @Override
    public void postpone() throws InterruptedException {
        prepare();
    }

    /** @return nanoseconds until the next attempt */
    private synchronized long fail() {
        long pause = pace.pause();
        pace = pace.afterAFailure();
        return pause;
    }

    /** Waits until the next attempt is due, or a caller waits for this commit. */
    private void pause() throws InterruptedException {
        if (nanosToPause() > 0) {
            enter(Step.PAUSING);
            file.pausing();
        }
        awaitAttempt();
    }

    private synchronized void awaitAttempt() throws InterruptedException {
        for (long rest = nanosToPause(); rest > 0; rest = nanosToPause()) {
            wait(TimeUnit.NANOSECONDS.toMillis(rest) + 1);
        }
        enter(Step.PREPARING);
    }

    private synchronized long nanosToPause() {
        return mode == Mode.BACKGROUND ? pace.notBefore() - System.nanoTime() : 0;
    }

    /** Of the commit that follows this one, which has failed or was left. */
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

    /** @return the last order; no other follows */
    private synchronized Order finish() {
        thread = null;
        step = Step.ENDED;
        Thread.interrupted(); // a late cancellation
        return order;
    }

    /**
     * How long a caller that wants the file staged should wait for this: 0 once it is to be {@linkplain #leave left}. With
     * the file's lock held.
     *
     * @param patience with steps that can be ended; nanoseconds
     */
    synchronized long nanosToWait(long patience) {
        if (order == Order.LEAVE) {
            return Long.MAX_VALUE; // it ends at once
        }
        long passed = System.nanoTime() - stepBegan;
        return switch (step) {
            case PREPARING -> Math.max(0, patience - passed);
            case PAUSING -> 0;
            case DECIDING -> Math.max(0, context.pacing().patience() - passed);
            case ENDED -> Long.MAX_VALUE; // the rest is done here
        };
    }

    /**
     * The file goes on without it: it ends, but not the request that decides.
     *
     * @return whether that is under way
     */
    synchronized boolean leave() {
        order(Order.LEAVE);
        return step == Step.DECIDING;
    }

    /**
     * {@link #leave}, unless the request that decides is under way.
     *
     * @return whether it ends
     */
    synchronized boolean leaveUnlessDeciding() {
        if (step == Step.DECIDING) {
            return false;
        }
        order(Order.LEAVE);
        return true;
    }

    /** Whether the file is to be committed again once this has ended, whatever came of it. */
    synchronized boolean isLeft() {
        return order == Order.LEAVE;
    }

    /** Ends it, but not the request that decides, which ends one way or the other. */
    synchronized void withdraw() {
        order(Order.END);
    }

    private synchronized void order(Order wanted) {
        if (wanted.compareTo(order) > 0) {
            order = wanted;
        }
        if (step != Step.DECIDING) {
            interrupt();
        }
    }

    /** The mount ends: the request that decides is interrupted, too. */
    @Override
    public synchronized void cancel() {
        order(Order.END);
        interrupt();
    }

    @GuardedBy("this")
    private void interrupt() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
