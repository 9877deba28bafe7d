package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests of one file with unknown outcomes, because a crash preceded the response or the connection broke. They may
 * have made the object visible, or removed or replaced it.
 *
 * <p>A request may have sent more than is staged, although staging is updated first: staging may have no room, which is
 * a reason to commit; a copied object is never staged; and writers continue until the commit begins. So the content
 * found after a crash may be older than the content sent.
 *
 * <p>Safe for use by any number of threads, by the file's lock.
 */
final class InDoubt {
    private static final Logger log = LoggerFactory.getLogger(InDoubt.class);

    private final ObjectStore store;

    /** Its lock guards the following fields. */
    private final FileBytes bytes;

    private Origin origin = Origin.HERE;
    private final List<Doubt> doubts = new ArrayList<>();

    /** Changes with the list. */
    private int listed;

    /** The origin of the content that the next commit sends. */
    private enum Origin {
        /** This run: all requests are known. */
        HERE,
        /** An earlier run, which may have committed the content. */
        RECOVERED,
        /** An earlier run, which was about to remove the name or give it to another file. */
        RECOVERED_WITHDRAWN,
        /** Like RECOVERED_WITHDRAWN, and the store shows that it was done. */
        SUPERSEDED,
        /** An earlier run, which did not commit the content: a commit found another writer's object. */
        CONFLICTING
    }

    /**
     * A request that may have made the object.
     *
     * @param changes number of changes in its content; -1 if an earlier run sent it before writing the rest
     * @param more whether it had more changes than these, now lost
     */
    private record Doubt(long changes, boolean more, JournalRecord.Sent sent) {}

    /**
     * The version made by a request in doubt.
     *
     * @param changes number of changes in its content
     * @param more whether it had more changes than these, unknown here
     */
    record Landed(ObjectVersion version, long changes, boolean more) {}

    InDoubt(ObjectStore store, FileBytes bytes) {
        this.store = store;
        this.bytes = bytes;
    }

    /**
     * The content is from an earlier run, which may have sent anything. Called before other threads have the file.
     *
     * @param found the content; requests sent since it was written have it, or more than was made durable
     * @param changes number of changes in it
     */
    void recovered(Recovery.Found found, long changes) {
        found.state().sentBefore().forEach(sent -> doubts.add(new Doubt(-1, false, sent)));
        for (JournalRecord.Sent sent : found.state().sentSince()) {
            doubts.add(new Doubt(changes, sent.size() != found.written().size(), sent));
        }
        origin = found.state().withdrawn() ? Origin.RECOVERED_WITHDRAWN : Origin.RECOVERED;
    }

    /**
     * The deciding request is about to be sent.
     *
     * @return whether the journal must record it first: not if an equal one is already in doubt
     */
    boolean sends(long changes, JournalRecord.Sent sent) {
        Doubt doubt = new Doubt(changes, false, sent);
        return bytes.locked(() -> {
            listed++;
            return !doubts.contains(doubt) && doubts.add(doubt);
        });
    }

    /** The store has refused this request, and no attempt at it is in doubt. */
    void refused(JournalRecord.Sent sent) {
        bytes.locked(() -> {
            listed++;
            doubts.removeIf(doubt -> doubt.sent().equals(sent));
        });
    }

    /**
     * Whether the file can be based on any version that the requests may have made. If not, their outcome must be known
     * before anything is staged over the version that they replace. Caller holds the lock.
     */
    boolean isHarmless() {
        return doubts.stream().noneMatch(Doubt::more);
    }

    /**
     * The records that the journal must contain, so that a later run does not take the object for another writer's.
     * Caller holds the lock.
     */
    List<JournalRecord.Sent> sent() {
        return doubts.stream().map(Doubt::sent).distinct().toList();
    }

    /** Changes with {@link #sent}. Caller holds the lock. */
    int listed() {
        return listed;
    }

    /** Those of {@link #sent} that have this number of changes, or that have another. Caller holds the lock. */
    List<JournalRecord.Sent> sent(long changes, boolean isThat) {
        return doubts.stream()
                .filter(doubt -> (doubt.changes() == changes) == isThat)
                .map(Doubt::sent)
                .distinct()
                .toList();
    }

    /** The version made by a request in doubt; null if none was carried out. */
    @Nullable
    Landed landed(String key) throws ObjectStoreException, InterruptedException {
        List<Doubt> all = bytes.locked(() -> List.copyOf(doubts.reversed()));
        if (all.isEmpty()) {
            return null;
        }
        ObjectDescription found;
        try {
            found = store.describe(key);
        } catch (ObjectStoreException.NotFound _) {
            return null;
        } catch (ObjectStoreException.AccessDenied e) {
            log.debug("The outcome of a commit of '{}' cannot be read: access denied", key, e);
            return null; // harmless for a user with only the right to write: the condition is still compared
        }
        for (Doubt doubt : all) {
            ObjectVersion made = found.madeBy(doubt.sent().operation());
            if (made != null && made.size() == doubt.sent().size()) {
                log.info("'{}' was committed by a request whose response was lost", key);
                return new Landed(made, doubt.changes(), doubt.more());
            }
        }
        return null;
    }

    /** A commit has succeeded: no outcome is unknown. Caller holds the lock. */
    void committed() {
        origin = Origin.HERE;
        listed++;
        doubts.clear();
    }

    /** A commit looked for objects of earlier requests and found another writer's. Caller holds the lock. */
    void conflict() {
        listed++;
        doubts.clear();
        if (origin == Origin.RECOVERED) {
            origin = Origin.CONFLICTING;
        }
    }

    /** Whether an earlier run may have committed exactly this content. */
    boolean isRecovered() {
        return bytes.locked(() -> origin != Origin.HERE);
    }

    /** Whether the store may have a version of the file that is unknown here. */
    boolean isAny() {
        return bytes.locked(() -> (origin != Origin.HERE && origin != Origin.CONFLICTING) || !doubts.isEmpty());
    }

    /**
     * Whether the commit of a file of an earlier run failed because its name was removed or given to another file just
     * before the crash. Caller holds the lock.
     */
    boolean isSuperseded() {
        return origin == Origin.SUPERSEDED;
    }

    /**
     * Asks the store whether an earlier run removed the name or gave it to another file, unless a request of this file
     * is in doubt.
     */
    boolean wasSuperseded(String key, WriteCondition condition) throws InterruptedException {
        if (!bytes.locked(doubts::isEmpty)) {
            return false;
        }
        askWhy(key, condition);
        return bytes.locked(this::isSuperseded);
    }

    /** A commit has failed permanently: asks the store whether an earlier run removed or replaced the object. */
    void askWhy(String key, WriteCondition condition) throws InterruptedException {
        if (bytes.locked(() -> origin != Origin.RECOVERED_WITHDRAWN)) {
            return;
        }
        boolean replaced;
        try {
            replaced = isReplaced(key, condition);
        } catch (ObjectStoreException e) {
            log.debug("Whether '{}' was removed or replaced is unknown, so it is kept", key, e);
            return;
        }
        bytes.locked(() -> {
            if (replaced && origin == Origin.RECOVERED_WITHDRAWN) {
                origin = Origin.SUPERSEDED;
            }
        });
    }

    /** Whether the store shows that the condition does not hold. */
    private boolean isReplaced(String key, WriteCondition condition) throws ObjectStoreException, InterruptedException {
        StoredObject found = store.find(key);
        if (found == null) {
            store.list(new ListRequest(
                    key, "", null, null, 1)); // a HEAD does not distinguish a missing object from a missing bucket
        }
        return switch (condition) {
            case WriteCondition.Always _ -> false;
            case WriteCondition.Absent _ -> found != null;
            case WriteCondition.Unchanged(String etag) ->
                found == null || !etag.equals(found.version().etag());
        };
    }
}
