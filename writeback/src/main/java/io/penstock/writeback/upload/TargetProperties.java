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
 * The properties of the object that an upload makes: those of the object that it replaces, or else those that follow
 * from its name. They are requested once per name of a written file, before the first request that needs them. The next
 * commit loses later changes by others. Safe for use by any number of threads.
 *
 * @param known of the file, shared by all its uploads; null until known
 * @param headers headers set for the object, whatever it had before, as {@link ObjectProperties#with} accepts them
 */
public record TargetProperties(
        String key,
        Over over,
        AtomicReference<@Nullable ObjectProperties> known,
        AtomicReference<SortedMap<String, String>> headers) {
    private static final Logger log = LoggerFactory.getLogger(TargetProperties.class);

    /** The object over which an upload writes. */
    public enum Over {
        /** None is known: the object is new. */
        NOTHING,
        /** An object of which no bytes stay, and so no encoding either. */
        OTHER_CONTENT,
        /** An object of which some bytes stay. */
        SAME_CONTENT
    }

    public ObjectProperties get(ObjectStore store) throws ObjectStoreException, InterruptedException {
        ObjectProperties before = known.get();
        if (before == null) { // racy on purpose: two parts may both ask
            before = over == Over.NOTHING ? ObjectProperties.ofNew(key) : ask(store);
        }
        ObjectProperties now = over == Over.OTHER_CONTENT ? before.withoutEncoding() : before;
        known.set(now);
        return now.with(headers.get());
    }

    /** {@link #get} for changed content: times that programs have set no longer apply. */
    public ObjectProperties ofNewContent(ObjectStore store) throws ObjectStoreException, InterruptedException {
        ObjectProperties now = get(store).withoutTimes();
        return now.with(headers.get());
    }

    private ObjectProperties ask(ObjectStore store) throws ObjectStoreException, InterruptedException {
        try {
            return store.properties(key);
        } catch (ObjectStoreException.NotFound e) {
            log.debug("'{}' is gone, and its properties with it", key, e);
            return ObjectProperties.ofNew(key);
        }
    }

    /** The object is a copy of another with these properties. @return the copy's properties */
    public ObjectProperties ofCopy(ObjectProperties of) {
        known.set(of);
        return of.with(headers.get());
    }
}
