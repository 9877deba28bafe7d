package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.staging.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests of one file whose outcome is not known, because a crash came before the response or the connection broke: they
 * may have made the object visible, or removed or replaced it.
 *
 * <p>A request may have sent more than is staged, however often staging is brought up to date first: staging may have no
 * room, which is a reason to commit; a copied object is never staged; and writers go on until the commit begins. So a crash
 * may find content that is older than the content sent.
 *
 * <p>Safe for use by any number of threads, by the file's lock.
 */
final class InDoubt {
    private static final Logger log = LoggerFactory.getLogger(InDoubt.class);

    private final ObjectStore store;

    /** Its lock guards all that follows. */
    private final FileBytes bytes;

    private Origin origin = Origin.HERE;
    private final List<Doubt> doubts = new ArrayList<>();

    /** Where the content is from that the next commit sends. */
    private enum Origin {
        /** This run: all requests are known. */
        HERE,
        /** An earlier run, which may have committed it. */
        RECOVERED,
        /** An earlier run, which was about to have its name removed or taken by another file. */
        RECOVERED_WITHDRAWN,
        /** The same, and that was done, as the store shows. */
        SUPERSEDED,
        /** An earlier run, which did not commit it: a commit has found another writer's object. */
        CONFLICTING
    }

    /**
     * A request that may have made the object.
     *
     * @param changes how many the content had; -1 if that was in an earlier run, before the rest of it was written
     * @param more whether it had more than these, which is lost
     */
    private record Doubt(long changes, boolean more, JournalRecord.Sent sent) {}

    /**
     * The version that a request in doubt has made.
     *
     * @param changes how many the content had
     * @param more whether it had more than these, which is not known here
     */
    record Landed(ObjectVersion version, long changes, boolean more) {}

    InDoubt(ObjectStore store, FileBytes bytes) {
        this.store = store;
        this.bytes = bytes;
    }

    /**
     * The content is of an earlier run, which may have sent anything. Before others have the file.
     *
     * @param found the content; requests since it was written have it, or more than was made durable
     * @param changes how many that is
     */
    void recovered(Recovery.Found found, long changes) {
        found.state().sentBefore().forEach(sent -> doubts.add(new Doubt(-1, false, sent)));
        for (JournalRecord.Sent sent : found.state().sentSince()) {
            doubts.add(new Doubt(changes, sent.size() != found.written().size(), sent));
        }
        origin = found.state().withdrawn() ? Origin.RECOVERED_WITHDRAWN : Origin.RECOVERED;
    }

    /**
     * The request is about to be sent that makes the content visible.
     *
     * @return whether the journal must have this first: not if an equal one is in doubt already
     */
    boolean sends(long changes, JournalRecord.Sent sent) {
        Doubt doubt = new Doubt(changes, false, sent);
        return bytes.locked(() -> !doubts.contains(doubt) && doubts.add(doubt));
    }

    /** The store has refused this request, and no attempt of it is in doubt. */
    void refused(JournalRecord.Sent sent) {
        bytes.locked(() -> {
            doubts.removeIf(doubt -> doubt.sent().equals(sent));
        });
    }

    /**
     * Whether the file can go on over whatever the requests may have made of the object: if not, their outcome has to be
     * known before anything is staged over the version that they replace. With the lock held.
     */
    boolean isHarmless() {
        return doubts.stream().noneMatch(Doubt::more);
    }

    /**
     * The records that the journal has to have, so that a later run does not take the object for another writer's. With
     * the lock held.
     */
    List<JournalRecord.Sent> sent() {
        return doubts.stream().map(Doubt::sent).distinct().toList();
    }

    /** The version that a request in doubt has made; null if none was carried out. */
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
            log.debug("The outcome of a commit of '{}' must not be read", key, e);
            return null; // a user with only the right to write loses nothing: the condition is still compared
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

    /** A commit has succeeded: all is known. With the lock held. */
    void committed() {
        origin = Origin.HERE;
        doubts.clear();
    }

    /**
     * A commit that has looked for the objects of earlier requests found another writer's object. With the lock held.
     */
    void conflict() {
        doubts.clear();
        if (origin == Origin.RECOVERED) {
            origin = Origin.CONFLICTING;
        }
    }

    /** Whether an earlier run may have committed this very content. */
    boolean isRecovered() {
        return bytes.locked(() -> origin != Origin.HERE);
    }

    /** Whether the store may have a version of the file that is not known here. */
    boolean isAny() {
        return bytes.locked(() -> (origin != Origin.HERE && origin != Origin.CONFLICTING) || !doubts.isEmpty());
    }

    /**
     * Whether the commit of a file of an earlier run has failed because its name was removed, or taken by another file,
     * just before the crash. With the lock held.
     */
    boolean isSuperseded() {
        return origin == Origin.SUPERSEDED;
    }

    /**
     * Asks the store whether an earlier run has had the name removed, or taken by another file, if nothing of this one was
     * sent that the store may have.
     */
    boolean wasSuperseded(String key, WriteCondition condition) throws InterruptedException {
        if (!bytes.locked(doubts::isEmpty)) {
            return false;
        }
        askWhy(key, condition);
        return bytes.locked(this::isSuperseded);
    }

    /** A commit has failed for good: asks the store whether an earlier run has removed or replaced the object. */
    void askWhy(String key, WriteCondition condition) throws InterruptedException {
        if (bytes.locked(() -> origin != Origin.RECOVERED_WITHDRAWN)) {
            return;
        }
        boolean replaced;
        try {
            replaced = isReplaced(key, condition);
        } catch (ObjectStoreException e) {
            log.debug("Whether '{}' was removed or replaced is not known: it is kept", key, e);
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
                    key, "", null, null, 1)); // a HEAD does not tell a missing object from a missing bucket
        }
        return switch (condition) {
            case WriteCondition.Always _ -> false;
            case WriteCondition.Absent _ -> found != null;
            case WriteCondition.Unchanged(String etag) ->
                found == null || !etag.equals(found.version().etag());
        };
    }
}
