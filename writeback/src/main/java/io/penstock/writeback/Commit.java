package io.penstock.writeback;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.CommitTiming.RetrySchedule;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.upload.FileUpload;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One commit of one file, on its own thread: it continues when a waiting caller is interrupted. The current step
 * decides whether the commit may be cancelled.
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
    private final String key;
    private final FileUpload upload;
    private final long uploadedBefore;
    private final Snapshot content;
    private final long changes;
    private final WriteCondition condition;

    /** Of the current attempt, or of the last one. */
    private volatile Deadline deadline;

    private volatile Mode mode;

    private final OperationId operation;

    /** The last deciding request, unless an equal one is in doubt. Confined to the commit's thread. */
    private JournalRecord.@Nullable Sent sent;

    @GuardedBy("this")
    private @Nullable Thread thread;

    @GuardedBy("this")
    private Order order = Order.CONTINUE;

    @GuardedBy("this")
    private Step step = Step.PREPARING;

    @GuardedBy("this")
    private long stepBegan = System.nanoTime();

    @GuardedBy("this")
    private RetrySchedule schedule;

    /** The effect of a failure that may be temporary. */
    enum Mode {
        /** No caller waits: the commit is retried. */
        BACKGROUND,
        /** A caller waits and receives the failure. */
        AWAITED
    }

    private enum Step {
        /** Sends the store what the deciding request needs. */
        PREPARING,
        /** Waits for the next attempt. */
        PAUSING,
        /**
         * The request that makes the content visible is in flight. It is never cancelled: its outcome would stay
         * unknown.
         */
        DECIDING,
        ENDED
    }

    /** The file's order to the commit. It only becomes stronger. */
    private enum Order {
        CONTINUE,
        /** End as soon as the outcome is known. */
        END,
        /** Like END, but the file does not wait: it is committed again whatever the outcome is. */
        LEAVE
    }

    /**
     * The version that the commit made.
     *
     * @param isContent whether it has exactly the commit's content; an earlier run may have sent more
     * @param hasHeaders whether it surely has the headers set for the object: only if a request of this run made it
     */
    private record Made(ObjectVersion version, boolean isContent, boolean hasHeaders) {}

    /**
     * @param operation of the object, unless that is made by an upload that has its own
     * @param key of the file, which does not change while a commit runs
     * @param changes number of changes in the content
     * @param deadline of the first attempt
     */
    Commit(
            FileCommits file,
            OperationId operation,
            String key,
            FileUpload upload,
            Snapshot content,
            long changes,
            WriteCondition condition,
            Mode mode,
            RetrySchedule schedule,
            Deadline deadline) {
        this.file = file;
        this.operation = operation;
        this.context = file.context;
        this.inDoubt = file.inDoubt;
        this.key = key;
        this.upload = upload;
        this.uploadedBefore = upload.uploadedBytes();
        this.content = content;
        this.changes = changes;
        this.condition = condition;
        this.mode = mode;
        this.schedule = schedule;
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

    /** A caller now waits for it, until this deadline. From now on it fails instead of being retried. */
    synchronized void join(Deadline until) {
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
            } else { // from now on an interrupt would only close the files that it finds in use
                if (made.isContent) {
                    file.made(made.version);
                    context.pages().cache(made.version, content);
                }
                file.succeeded(this, made.version, made.hasHeaders);
            }
        } catch (InterruptedException e) {
            failure = new IOException("'" + key + "' was not committed: the mount is ending", e);
        } catch (Exception e) {
            failure = e;
        } catch (Error e) { // waiting callers would wait forever
            log.error("Committing '{}' failed unexpectedly", key, e);
            failure = new IOException("'" + key + "' is not committed: " + e, e);
        } finally {
            Order _ = finish();
        }
        record(event, failure);
        file.ended(this, failure);
    }

    private void record(CommitEvent event, @Nullable Exception failure) {
        event.end();
        if (event.shouldCommit()) {
            event.key = key;
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
            if (outlook(e) == Outlook.PERMANENT) {
                inDoubt.askWhy(key, condition);
            }
            throw e;
        }
    }

    private Made commit() throws ObjectStoreException, IOException, InterruptedException {
        while (true) {
            try {
                return deadline.call(this::commitOnce);
            } catch (ObjectStoreException e) {
                if (mode == Mode.AWAITED || outlook(e) != Outlook.TEMPORARY) {
                    throw e;
                }
                prepare();
                long seconds = TimeUnit.NANOSECONDS.toSeconds(fail());
                log.warn("'{}' cannot be committed now: {}. Retrying in {} s.", key, e.getMessage(), seconds);
                pause();
                deadline = context.retries().forWriting();
            }
        }
    }

    private Made commitOnce() throws ObjectStoreException, IOException, InterruptedException {
        Made landed = landed();
        if (landed != null) {
            return landed;
        }
        try {
            return new Made(send(), true, true);
        } catch (ObjectStoreException.PreconditionFailed e) {
            landed = isLeft() ? null : landed(); // an earlier request arrived late; if left, the next commit finds out
            if (landed == null) {
                throw e;
            }
            return landed;
        }
    }

    private ObjectVersion send() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return upload.commit(content.size(), condition, this);
        } catch (IOException e) {
            if (e.getCause() instanceof ObjectStoreException cause) {
                throw cause; // from a body that is partly in the base version
            }
            throw e;
        }
    }

    /** Whether another attempt can succeed. */
    enum Outlook {
        /** It may succeed later: the store is unreachable or in trouble. */
        TEMPORARY,
        /** It fails until an administrator fixes something: permissions, space, or the local disk. */
        NEEDS_REPAIR,
        /** It always fails: the object is another version, or the store does not accept such a request. */
        PERMANENT
    }

    static Outlook outlook(Exception failure) {
        if (!(failure instanceof ObjectStoreException ofStore)) {
            return Outlook.NEEDS_REPAIR;
        }
        return switch (ofStore) {
            case ObjectStoreException.Away _ -> Outlook.TEMPORARY;
            case ObjectStoreException.PreconditionFailed _,
                    ObjectStoreException.OutcomeUnknown _,
                    ObjectStoreException.NotFound _,
                    ObjectStoreException.Refused _ -> Outlook.PERMANENT;
            case ObjectStoreException.AccessDenied _,
                    ObjectStoreException.InvalidState _,
                    ObjectStoreException.Corrupt _,
                    ObjectStoreException.QuotaExceeded _,
                    ObjectStoreException.OutOfSpace _ -> Outlook.NEEDS_REPAIR;
        };
    }

    /**
     * The object, if a request in doubt gave it this content; null if none did. If one gave it an earlier content of
     * the file, that version becomes the base version, and this commit ends.
     */
    private @Nullable Made landed() throws ObjectStoreException, InterruptedException {
        InDoubt.Landed landed = inDoubt.landed(key);
        boolean same = landed != null && landed.changes() == changes;
        if (landed == null || (landed.more() && !same && content.content().baseEnd() > 0)) {
            return null; // or bytes that were not changed here are lost: a conflict, as with another writer
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
        if (order != Order.CONTINUE) {
            throw new InterruptedException();
        }
        thread = Thread.currentThread();
        enter(Step.PREPARING);
    }

    @Override
    public OperationId operation() {
        return operation;
    }

    @Override
    public void begin(OperationId operation) throws InterruptedException {
        JournalRecord.Sent next = new JournalRecord.Sent(operation, content.size());
        sent = file.deciding(this, next) ? next : null;
        synchronized (this) {
            prepare();
            enter(Step.DECIDING);
        }
    }

    @Override
    public void refused() {
        if (sent != null) {
            inDoubt.refused(sent);
        }
    }

    @Override
    public void postpone() throws InterruptedException {
        prepare();
    }

    /** @return nanoseconds until the next attempt */
    private synchronized long fail() {
        long pause = schedule.pause();
        schedule = schedule.afterFailure();
        return pause;
    }

    /** Waits until the next attempt is due or a caller waits for this commit. */
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
        return mode == Mode.BACKGROUND ? schedule.notBefore() - System.nanoTime() : 0;
    }

    /** The schedule of the commit that follows this one, which has failed or was left. */
    synchronized RetrySchedule nextSchedule() {
        return schedule.afterFailure();
    }

    /** Whether the store has received some of it: it may succeed if it is not disturbed. */
    boolean hasProgressed() {
        return !isPausing() && upload.uploadedBytes() != uploadedBefore;
    }

    private synchronized boolean isPausing() {
        return step == Step.PAUSING;
    }

    private synchronized void enter(Step next) {
        step = next;
        stepBegan = System.nanoTime();
    }

    /** @return the final order */
    private synchronized Order finish() {
        thread = null;
        step = Step.ENDED;
        Thread.interrupted(); // clears a late cancellation
        return order;
    }

    /**
     * How long a caller that wants the file staged should wait for this commit: 0 if it must be
     * {@linkplain #leave left} now. Caller holds the file's lock.
     *
     * @param patience with steps that can be ended; nanoseconds
     */
    synchronized long nanosToWait(long patience) {
        if (order == Order.LEAVE) {
            return Long.MAX_VALUE; // it ends immediately
        }
        long passed = System.nanoTime() - stepBegan;
        return switch (step) {
            case PREPARING -> Math.max(0, patience - passed);
            case PAUSING -> 0;
            case DECIDING -> Math.max(0, context.timing().patience() - passed);
            case ENDED -> Long.MAX_VALUE; // only cleanup is left
        };
    }

    /**
     * The file continues without it. It ends, except for a deciding request in flight.
     *
     * @return whether such a request is in flight
     */
    synchronized boolean leave() {
        order(Order.LEAVE);
        return step == Step.DECIDING;
    }

    /**
     * {@link #leave}, unless the deciding request is in flight.
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

    /** Whether the file must be committed again after this ends, whatever the outcome. */
    synchronized boolean isLeft() {
        return order == Order.LEAVE;
    }

    /** Ends it, except for a deciding request in flight, which completes. */
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

    /** The mount ends. Interrupts even the deciding request. */
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
