package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.CommitTiming.RetrySchedule;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of one written file, except its bytes: its handles, the state of its name, the state of its commits, and
 * which of its changes are durable and committed. Pure: every method is a transition or a query; none waits or does
 * I/O. Each cell of the table of states and commands in docs/CONCURRENCY.md is a line here. Guarded by the file's lock.
 *
 * <pre>
 *   name:     NAMED ──hold──▶ HELD ──resume──▶ NAMED        a rename copies the object
 *             NAMED, HELD ──withdraw──▶ WITHDRAWN           the name is about to be removed or replaced
 *             WITHDRAWN ──reinstate──▶ as before            that failed
 *             WITHDRAWN ──detach──▶ DETACHED                that succeeded: nothing more is committed
 *             NAMED, DETACHED ──last handle, nothing to commit──▶ ENDED
 *             any ──the mount ends, and no commit runs──▶ ENDED
 *
 *   commits:  IDLE ──begin──▶ RUNNING ──ended──▶ IDLE
 *                               └─preempt─▶ YIELDING ──staged──▶ IDLE or RUNNING     fsync does not wait for the store
 * </pre>
 */
final class FileState {
    /** The state of the file's name. */
    sealed interface Name {
        /** The file has its name, and commits may begin. */
        record Named() implements Name {}

        /** A rename copies the object: only the rename's commits begin. */
        record Held() implements Name {}

        /**
         * The name is about to be removed or given to another file: no commit begins.
         *
         * @param before the state to return to if that fails
         */
        record Withdrawn(Name before) implements Name {}

        /** The name is gone: nothing more is committed. */
        record Detached() implements Name {}

        /** No handle is left, and nothing remains to be committed. */
        record Ended(Name before) implements Name {}
    }

    /** The state of the file's commits. */
    sealed interface Commits {
        /** @param next the schedule of a commit that begins once the name allows it; null if none is requested */
        record Idle(@Nullable RetrySchedule next) implements Commits {}

        /** @param next the schedule of the following commit; null if none is requested */
        record Running(Commit commit, @Nullable RetrySchedule next) implements Commits {}

        /**
         * The file is being staged. The next commit begins afterwards.
         *
         * @param leaving the commit that yielded, until it has ended
         */
        record Yielding(@Nullable Commit leaving, @Nullable RetrySchedule next) implements Commits {}
    }

    private static final Name NAMED = new Name.Named();
    private static final Commits IDLE = new Commits.Idle(null);

    private Name name = NAMED;
    private Commits commits = IDLE;
    private String key;

    /** The object that the file's first commit replaces; null if there is none, or after the first commit. */
    private @Nullable ObjectVersion replaced;

    private Instant modified;

    /** Open handles: 0 for a file of an earlier run that no program has opened. */
    private int handles;

    /** Counts changes. The file is dirty while {@code committed} is less. */
    private long changes;

    /** The changes that would survive a crash of the machine, in staging or committed. */
    private long durable;

    private long committed;

    /** The committed changes of which the listener was notified. Callers of a commit wait for this. */
    private long announced;

    /** How many commits yielded although the store had received some of them, since the last one that succeeded. */
    private int preemptions;

    FileState(String key, Instant modified, int handles) {
        this.key = key;
        this.modified = modified;
        this.handles = handles;
    }

    String key() {
        return key;
    }

    @Nullable
    ObjectVersion replaced() {
        return replaced;
    }

    void setReplaced(@Nullable ObjectVersion version) {
        replaced = version;
    }

    Instant modified() {
        return modified;
    }

    // ---- handles

    /** Adds a handle. False if the file has ended. */
    boolean retain() {
        handles += isEnded() ? 0 : 1;
        return !isEnded();
    }

    /** Removes a handle. */
    void release() {
        handles--;
    }

    /** Whether no handle is left, so that the file only waits to be committed. */
    boolean isInBackground() {
        return handles == 0;
    }

    // ---- changes

    /** A new file, or one of an earlier run: it must be committed even if it is empty. */
    void created(@Nullable ObjectVersion of) {
        replaced = of;
        changes = 1;
    }

    void changed(Instant now) {
        changes++;
        modified = now;
    }

    long changes() {
        return changes;
    }

    long durable() {
        return durable;
    }

    long committed() {
        return committed;
    }

    long announced() {
        return announced;
    }

    /** Whether the content differs from the base version. */
    boolean isChanged() {
        return changes > committed;
    }

    /** Whether a commit would change the object. */
    boolean isDirty() {
        return isChanged() && hasName();
    }

    /** Whether another run may have to commit it if this one ends now: a name about to be removed still counts. */
    boolean isFoundAgain() {
        return isChanged() && !(name instanceof Name.Detached);
    }

    /** This many changes would survive a crash. */
    void durable(long upTo) {
        durable = Math.max(durable, upTo);
    }

    /** The object now has the content with this many changes. */
    void committed(long upTo, Instant at) {
        durable(upTo);
        committed = upTo;
        if (changes == committed) {
            modified = at;
        }
    }

    /** The listener was notified of everything committed. */
    void announce() {
        announced = committed;
    }

    // ---- the name

    Name name() {
        return name;
    }

    /** Whether the file is committed under a name, or may be again. */
    boolean hasName() {
        return hasName(name);
    }

    private static boolean hasName(Name name) {
        return switch (name) {
            case Name.Named _, Name.Held _ -> true;
            case Name.Withdrawn _, Name.Detached _ -> false;
            case Name.Ended(Name before) -> hasName(before);
        };
    }

    boolean isHeld() {
        return name instanceof Name.Held
                || (name instanceof Name.Withdrawn(Name before) && before instanceof Name.Held);
    }

    boolean isEnded() {
        return name instanceof Name.Ended;
    }

    /** Whether the name or a commit awaits a decision: the file does not end before. */
    boolean isUndecided() {
        return name instanceof Name.Held || name instanceof Name.Withdrawn || !isIdle();
    }

    private boolean isIdle() {
        return commits instanceof Commits.Idle;
    }

    void hold() {
        name = switch (name) {
            case Name.Named _ -> new Name.Held();
            case Name.Withdrawn(Name.Named _) -> new Name.Withdrawn(new Name.Held());
            default -> name;
        };
    }

    void resume() {
        name = switch (name) {
            case Name.Held _ -> NAMED;
            case Name.Withdrawn(Name.Held _) -> new Name.Withdrawn(NAMED);
            default -> name;
        };
    }

    void withdraw() {
        name = switch (name) {
            case Name.Named _, Name.Held _ -> new Name.Withdrawn(name);
            case Name.Withdrawn _, Name.Detached _, Name.Ended _ -> name;
        };
    }

    void reinstate() {
        if (name instanceof Name.Withdrawn(Name before)) {
            name = before;
        }
    }

    void detach() {
        if (!isEnded()) {
            name = new Name.Detached();
            commits = switch (commits) { // no commit is requested now
                case Commits.Idle _ -> IDLE;
                case Commits.Running(Commit commit, var _) -> new Commits.Running(commit, null);
                case Commits.Yielding(Commit leaving, var _) -> new Commits.Yielding(leaving, null);
            };
        }
    }

    void rename(String to) {
        key = to;
    }

    void end() {
        name = new Name.Ended(name);
    }

    // ---- commits

    /** The running commit, including one that yields; null if none runs. */
    @Nullable
    Commit running() {
        return switch (commits) {
            case Commits.Idle _ -> null;
            case Commits.Running(Commit commit, var _) -> commit;
            case Commits.Yielding(Commit leaving, var _) -> leaving;
        };
    }

    /** Whether a commit runs or will begin. */
    boolean isCommitUnderWay() {
        return running() != null || next() != null;
    }

    private @Nullable RetrySchedule next() {
        return switch (commits) {
            case Commits.Idle(RetrySchedule next) -> next;
            case Commits.Running(var _, RetrySchedule next) -> next;
            case Commits.Yielding(var _, RetrySchedule next) -> next;
        };
    }

    void begin(Commit commit) {
        commits = new Commits.Running(commit, null);
    }

    /**
     * Requests a commit that no caller waits for.
     *
     * @return whether it begins now; if not, {@link #takeNext} returns its schedule later
     */
    boolean want(RetrySchedule schedule) {
        if (isIdle() && name instanceof Name.Named) {
            return true;
        }
        RetrySchedule next = next() == null ? schedule : next();
        commits = switch (commits) {
            case Commits.Idle _ -> new Commits.Idle(next);
            case Commits.Running(Commit commit, RetrySchedule before) ->
                new Commits.Running(commit, isHeld() ? next : before);
            case Commits.Yielding(Commit leaving, var _) -> new Commits.Yielding(leaving, next);
        };
        return false;
    }

    /** The schedule of the commit that may begin now; null if none is requested or none may begin. */
    @Nullable
    RetrySchedule takeNext() {
        if (commits instanceof Commits.Idle(RetrySchedule next) && name instanceof Name.Named) {
            commits = IDLE;
            return next;
        }
        return null;
    }

    /** The running commit yields to staging. The next begins once the file is {@link #staged}. */
    void preempt(Commit commit) {
        preemptions += commit.hasProgressed() ? 1 : 0;
        commits = new Commits.Yielding(commit, next());
    }

    int preemptions() {
        return preemptions;
    }

    /** A commit has succeeded. */
    void succeeded() {
        preemptions = 0;
    }

    private boolean isYielding() {
        return commits instanceof Commits.Yielding;
    }

    /** The file is staged. @return whether a commit had yielded for that */
    boolean staged() {
        if (!(commits instanceof Commits.Yielding(Commit leaving, RetrySchedule next))) {
            return false;
        }
        commits = leaving == null ? new Commits.Idle(next) : new Commits.Running(leaving, next);
        return true;
    }

    /**
     * The commit has ended.
     *
     * @param again the schedule of the following commit; null if there is none
     */
    void ended(@Nullable RetrySchedule again) {
        RetrySchedule next = name instanceof Name.Detached ? null : next() == null ? again : next();
        commits = isYielding() ? new Commits.Yielding(null, next) : new Commits.Idle(next);
    }

    /** @throws IllegalStateException if no order of calls may lead to this state */
    void checkInvariants() {
        check(
                announced <= committed && committed <= durable && durable <= changes,
                "announced ≤ committed ≤ durable ≤ changes");
        check(handles >= 0, "a handle is released once");
        check(!isEnded() || running() == null, "an ended file commits nothing");
        check(!(name instanceof Name.Detached) || next() == null, "nothing more is committed of a file without a name");
        check(!(name instanceof Name.Ended(Name before)) || !(before instanceof Name.Ended), "a file ends once");
    }

    private void check(boolean holds, String invariant) {
        if (!holds) {
            throw new IllegalStateException(invariant + ": " + this);
        }
    }

    @Override
    public String toString() {
        return key + ' ' + name + ' ' + commits + ' ' + announced + " ≤ " + committed + " ≤ " + durable + " ≤ "
                + changes + ", handles: " + handles;
    }
}
