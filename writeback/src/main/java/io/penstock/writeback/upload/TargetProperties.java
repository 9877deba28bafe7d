package io.penstock.writeback.upload;

import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The properties of the object that an upload makes: those of the object that it replaces, else those that follow
 * from its name. They are requested once for each name of a written file, before the first request that needs them;
 * later changes by others are lost with the next commit. Safe for use by any number of threads.
 *
 * @param known of the file, over all of its uploads; null until it is
 * @param kept headers that the object is to have whatever it had, as {@link ObjectProperties#with} takes them
 */
public record TargetProperties(
        String key,
        Over over,
        AtomicReference<@Nullable ObjectProperties> known,
        AtomicReference<SortedMap<String, String>> kept) {
    private static final Logger log = LoggerFactory.getLogger(TargetProperties.class);

    /** The object that an upload writes over. */
    public enum Over {
        /** Nothing, for all that is known: the object is new. */
        NOTHING,
        /** An object of whose bytes none stays, so that their encoding does not either. */
        OTHER_CONTENT,
        /** An object of whose bytes some stay. */
        SAME_CONTENT
    }

    public ObjectProperties get(ObjectStore store) throws ObjectStoreException, InterruptedException {
        ObjectProperties before = known.get();
        if (before == null) { // racy on purpose: two parts may both ask
            before = over == Over.NOTHING ? ObjectProperties.ofNew(key) : ask(store);
        }
        ObjectProperties now = over == Over.OTHER_CONTENT ? before.withoutEncoding() : before;
        known.set(now);
        return now.with(kept.get());
    }

    /** {@link #get} for content that has changed: times that programs have set beside it do not count any more. */
    public ObjectProperties ofNewContent(ObjectStore store) throws ObjectStoreException, InterruptedException {
        ObjectProperties now = get(store).withoutTimes();
        return now.with(kept.get());
    }

    private ObjectProperties ask(ObjectStore store) throws ObjectStoreException, InterruptedException {
        try {
            return store.properties(key);
        } catch (ObjectStoreException.NotFound e) {
            log.debug("'{}' is gone, and its properties with it", key, e);
            return ObjectProperties.ofNew(key);
        }
    }

    /** The object is a copy of another, which had these. @return those of the copy */
    public ObjectProperties ofCopy(ObjectProperties of) {
        known.set(of);
        return of.with(kept.get());
    }
}
