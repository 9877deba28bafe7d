package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.MultipartUpload;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a {@link StagedFile} has a journal. It is made when there is something to note, and there until a crash is to find
 * nothing of the file any more. Safe for use by any number of threads.
 *
 * <pre>
 *   NONE ──first record──▶ OPEN ──forget──▶ NONE                            the content is committed, or its name is gone
 *                            └────forget, some uploads are left──▶ DROPPED ──the last has ended──▶ NONE
 *   NONE ──remove──▶ GONE                                                   the file has ended
 *   DROPPED ──remove──▶ DROPPED ──the last has ended──▶ GONE
 * </pre>
 */
final class StagedJournal {
    private sealed interface State {
        /** There is none. */
        record None() implements State {}

        /**
         * A crash finds its records.
         *
         * @param number of its name
         */
        record Open(Journal journal, int number) implements State {}

        /**
         * It is only there until its uploads are aborted.
         *
         * @param next the state that follows then
         */
        record Dropped(int number, State next) implements State {}

        /** None is made any more. */
        record Gone() implements State {}
    }

    private static final State NONE = new State.None();
    private static final State GONE = new State.Gone();

    private final Staging staging;
    private final StagedNames names;
    private final String name;

    /** Guarded by this, which is held while the file is made or removed. */
    @GuardedBy("this")
    private State state = NONE;

    /** Those that it names and that have neither been completed nor aborted. */
    @GuardedBy("this")
    private final Set<MultipartUpload> uploads = new HashSet<>();

    /** @param name of its file */
    StagedJournal(Staging staging, StagedNames names, String name) {
        this.staging = staging;
        this.names = names;
        this.name = name;
    }

    /** An earlier run has left it, and it names these uploads. */
    synchronized void found(Journal journal, Collection<MultipartUpload> named) {
        state = new State.Open(journal, StagedNames.FOUND);
        uploads.addAll(named);
    }

    /** The journal; it begins with this record if it is new. */
    synchronized Journal open(JournalRecord.Opened opened) throws IOException {
        return switch (state) {
            case State.Open(Journal journal, int _) -> journal;
            case State.None _ -> {
                Journal fresh = create(opened);
                state = new State.Open(fresh, names.add());
                yield fresh;
            }
            case State.Dropped _ -> throw new IOException("it waits until its uploads are aborted: " + name);
            case State.Gone _ -> throw new IOException("used after it was removed: " + name);
        };
    }

    private Journal create(JournalRecord.Opened opened) throws IOException {
        Journal fresh = Journal.create(staging.files(), name);
        try {
            fresh.append(opened);
            return fresh;
        } catch (IOException e) {
            fresh.close();
            staging.files().remove(name); // so that it can be made once the disk is well
            throw e;
        }
    }

    /** The journal, if there is one. */
    synchronized @Nullable Journal get() {
        return state instanceof State.Open(Journal journal, int _) ? journal : null;
    }

    /** It tells of an upload now. */
    synchronized void uploadBegan(MultipartUpload upload) {
        uploads.add(upload);
    }

    /** There is nothing left of it at the store. False if no journal is to say so. */
    synchronized boolean uploadEnded(MultipartUpload upload) {
        uploads.remove(upload);
        if (state instanceof State.Dropped(int number, State next) && uploads.isEmpty()) {
            state = next;
            delete(number);
        }
        return state instanceof State.Open;
    }

    /**
     * Nothing of the file is found again after a crash, not even of the machine: else it would be taken for newer
     * content. But an upload that is yet to be aborted is.
     */
    synchronized void forget() {
        if (!(state instanceof State.Open(Journal journal, int number))) {
            return;
        }
        state = NONE;
        try (journal) {
            if (!uploads.isEmpty()) {
                journal.append(new JournalRecord.Dropped());
                if (names.isDurable(number)) {
                    journal.force();
                    staging.files().force(); // its name may be that of a shorter one since
                }
                state = new State.Dropped(number, NONE);
            }
        } catch (IOException e) {
            staging.failed("write to a journal", e);
            state = NONE;
        }
        if (state instanceof State.None) {
            delete(number);
        }
    }

    private void delete(int number) {
        try {
            staging.files().remove(name);
            if (names.isDurable(number)) {
                staging.files().force();
            }
        } catch (IOException e) {
            staging.failed("remove a journal", e);
        }
    }

    /** {@link #forget}, for good. */
    synchronized void remove() {
        forget();
        state = state instanceof State.Dropped(int number, State _) ? new State.Dropped(number, GONE) : GONE;
    }

    /** A journal that was not forgotten stays for another run. */
    synchronized void close() throws IOException {
        if (state instanceof State.Open(Journal journal, int _)) {
            journal.close();
        }
    }
}
