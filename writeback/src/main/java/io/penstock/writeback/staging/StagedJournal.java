package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.journal.Journal;
import io.penstock.writeback.journal.JournalRecord;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a {@link StagedFile} has a journal. It is created with its first record, and exists until a crash must leave
 * nothing of the file. Safe for use by any number of threads.
 *
 * <pre>
 *   NONE ──first record──▶ OPEN ──forget──▶ NONE                         the content is committed, or its name is gone
 *                            └────forget, some uploads are left──▶ DROPPED ──the last has ended──▶ NONE
 *   NONE ──remove──▶ GONE                                                the file has ended
 *   DROPPED ──remove──▶ DROPPED ──the last has ended──▶ GONE
 * </pre>
 */
final class StagedJournal {
    private sealed interface State {
        /** There is no journal. */
        record None() implements State {}

        /**
         * A crash leaves its records.
         *
         * @param number of its name
         */
        record Open(Journal journal, int number) implements State {}

        /**
         * It exists only until its uploads are aborted.
         *
         * @param next the following state
         */
        record Dropped(int number, State next) implements State {}

        /** No more journals will be created. */
        record Gone() implements State {}
    }

    private static final State NONE = new State.None();
    private static final State GONE = new State.Gone();

    private final Staging staging;
    private final StagedNames names;
    private final String name;

    /** Guarded by this, which is held while the file is created or removed. */
    @GuardedBy("this")
    private State state = NONE;

    /** The uploads in its records that have been neither completed nor aborted. */
    @GuardedBy("this")
    private final Set<MultipartUpload> uploads = new HashSet<>();

    /** @param name of its file */
    StagedJournal(Staging staging, StagedNames names, String name) {
        this.staging = staging;
        this.names = names;
        this.name = name;
    }

    /** An earlier run left the journal, which names these uploads. */
    synchronized void found(Journal journal, Collection<MultipartUpload> named) {
        state = new State.Open(journal, StagedNames.FOUND);
        uploads.addAll(named);
    }

    /** The journal. If it is new, this becomes its first record. */
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
            staging.files().remove(name); // allows its creation once the disk has recovered
            throw e;
        }
    }

    /** The journal, if there is one. */
    synchronized @Nullable Journal get() {
        return state instanceof State.Open(Journal journal, int _) ? journal : null;
    }

    /** The journal now names this upload. */
    synchronized void uploadBegan(MultipartUpload upload) {
        uploads.add(upload);
    }

    /** The store has nothing left of the upload. False if no journal need record that. */
    synchronized boolean uploadEnded(MultipartUpload upload) {
        uploads.remove(upload);
        if (state instanceof State.Dropped(int number, State next) && uploads.isEmpty()) {
            state = next;
            delete(number);
        }
        return state instanceof State.Open;
    }

    /**
     * Nothing of the file may be found after a crash, even of the machine: it would be taken for newer content. Except
     * uploads still to be aborted.
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
                    staging.files().force(); // the durable name may still be that of a shorter journal
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

    /** {@link #forget}, permanently. */
    synchronized void remove() {
        forget();
        state = state instanceof State.Dropped(int number, State _) ? new State.Dropped(number, GONE) : GONE;
    }

    /** A journal that was not forgotten stays for the next run. */
    synchronized void close() throws IOException {
        if (state instanceof State.Open(Journal journal, int _)) {
            journal.close();
        }
    }
}
