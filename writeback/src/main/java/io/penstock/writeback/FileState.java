package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.Pacing.Pace;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of one written file, but for its bytes: the state of its name, the state of its commits, and which of its
 * changes are committed. Pure: every method is a transition or a question, none waits or does I/O. docs/CONCURRENCY.md
 * has the table of state × command, and each cell is a line here, which is why this class is long. Guarded by the
 * file's lock.
 *
 * <pre>
 *   name:     NAMED ──hold──▶ HELD ──resume──▶ NAMED        a rename copies the object
 *             NAMED, HELD ──withdraw──▶ WITHDRAWN           the name is about to go
 *             WITHDRAWN ──reinstate──▶ as before            it did not
 *             WITHDRAWN ──detach──▶ DETACHED                it did: nothing is committed any more
 *             NAMED, DETACHED ──last handle, nothing to commit──▶ ENDED
 *             any ──the mount ends, and no commit runs──▶ ENDED
 *
 *   commits:  IDLE ──begin──▶ RUNNING ──ended──▶ IDLE
 *                               └─makeWay─▶ YIELDING ──staged──▶ IDLE or RUNNING     fsync does not wait for the store
 * </pre>
 */
final class FileState {
    /** The state of the file's name. */
    sealed interface Name {
        /** The name is the file's, and commits may begin. */
        record Named() implements Name {}

        /** A rename has the object copied: only its own commits begin. */
        record Held() implements Name {}

        /**
         * The name is about to be removed, or taken by another file: no commit begins.
         *
         * @param before the state that the name goes back to if that fails
         */
        record Withdrawn(Name before) implements Name {}

        /** The name is gone: nothing is committed any more. */
        record Detached() implements Name {}

        /** No handle is left, and nothing to commit. */
        record Ended(Name before) implements Name {}
    }

    /** The state of the file's commits. */
    sealed interface Commits {
        /** @param next the pace of a commit that begins as soon as the name allows; null if none is wanted */
        record Idle(@Nullable Pace next) implements Commits {}

        /** @param next the pace of a commit that is to follow; null if none is wanted */
        record Running(Commit commit, @Nullable Pace next) implements Commits {}

        /**
         * The file is being staged, and the next commit begins after that.
         *
         * @param leaving the commit that made way, until it has ended
         */
        record Yielding(@Nullable Commit leaving, @Nullable Pace next) implements Commits {}
    }

    private static final Name NAMED = new Name.Named();
    private static final Commits IDLE = new Commits.Idle(null);

    private Name name = NAMED;
    private Commits commits = IDLE;
    private String key;

    /** The object that the file's first commit replaces; null if there is none, or once something is committed. */
    private @Nullable ObjectVersion replaced;

    private Instant modified;

    /** Counts changes; the file is dirty while the committed ones are fewer. */
    private long changes;

    private long committed;

    /** The committed changes of which the listener was told: callers of a commit wait for that. */
    private long announced;

    /** How many commits made way although the store had taken some of them, since the last that got through. */
    private int madeWay;

    FileState(String key, Instant modified) {
        this.key = key;
        this.modified = modified;
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

    // ---- changes

    /** There is a new file, or one that an earlier run has left: it has to be committed even if it is empty. */
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

    /** Whether another run may have to commit it, if this one ends now: a name that is about to go has not gone. */
    boolean isFoundAgain() {
        return isChanged() && !(name instanceof Name.Detached);
    }

    /** The object is the content with so many changes. */
    void committed(long upTo, Instant at) {
        committed = upTo;
        if (changes == committed) {
            modified = at;
        }
    }

    /** The listener was told of all that is committed. */
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

    /** Whether a caller is about to decide on the name or the commits: the file does not end before. */
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
            commits = switch (commits) { // nothing is wanted any more
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

    /** The commit that runs, also one that makes way; null if none does. */
    @Nullable
    Commit running() {
        return switch (commits) {
            case Commits.Idle _ -> null;
            case Commits.Running(Commit commit, var _) -> commit;
            case Commits.Yielding(Commit leaving, var _) -> leaving;
        };
    }

    /** Whether a commit runs, or is to begin. */
    boolean isCommitUnderWay() {
        return running() != null || next() != null;
    }

    private @Nullable Pace next() {
        return switch (commits) {
            case Commits.Idle(Pace next) -> next;
            case Commits.Running(var _, Pace next) -> next;
            case Commits.Yielding(var _, Pace next) -> next;
        };
    }

    void begin(Commit commit) {
        commits = new Commits.Running(commit, null);
    }

    /**
     * A commit is wanted that no caller waits for.
     *
     * @return whether it begins now; if not, {@link #takeNext} has it later
     */
    boolean want(Pace pace) {
        if (isIdle() && name instanceof Name.Named) {
            return true;
        }
        Pace next = next() == null ? pace : next();
        commits = switch (commits) {
            case Commits.Idle _ -> new Commits.Idle(next);
            case Commits.Running(Commit commit, Pace before) -> new Commits.Running(commit, isHeld() ? next : before);
            case Commits.Yielding(Commit leaving, var _) -> new Commits.Yielding(leaving, next);
        };
        return false;
    }

    /** The pace of the commit that may begin now; null if none is wanted, or if none may begin. */
    @Nullable
    Pace takeNext() {
        if (commits instanceof Commits.Idle(Pace next) && name instanceof Name.Named) {
            commits = IDLE;
            return next;
        }
        return null;
    }

    /** The commit that runs makes way for staging; the next begins once the file is {@link #staged}. */
    void makeWay(Commit commit) {
        madeWay += commit.isGettingOn() ? 1 : 0;
        commits = new Commits.Yielding(commit, next());
    }

    int madeWayAlthoughGettingOn() {
        return madeWay;
    }

    /** A commit has got through. */
    void gotThrough() {
        madeWay = 0;
    }

    private boolean isYielding() {
        return commits instanceof Commits.Yielding;
    }

    /** The file is staged. @return whether a commit had made way for that */
    boolean staged() {
        if (!(commits instanceof Commits.Yielding(Commit leaving, Pace next))) {
            return false;
        }
        commits = leaving == null ? new Commits.Idle(next) : new Commits.Running(leaving, next);
        return true;
    }

    /**
     * The commit has ended.
     *
     * @param again the pace of one that is to follow; null if none is
     */
    void ended(@Nullable Pace again) {
        Pace next = name instanceof Name.Detached ? null : next() == null ? again : next();
        commits = isYielding() ? new Commits.Yielding(null, next) : new Commits.Idle(next);
    }

    /** @throws IllegalStateException if this is a state that no order of calls may lead to */
    void checkInvariants() {
        check(announced <= committed && committed <= changes, "announced ≤ committed ≤ changes");
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
        return key + ' ' + name + ' ' + commits + ' ' + announced + " ≤ " + committed + " ≤ " + changes;
    }
}
