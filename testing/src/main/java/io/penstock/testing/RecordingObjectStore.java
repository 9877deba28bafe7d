package io.penstock.testing;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Remembers every call in the order in which they began, failed ones included, for tests that assert the exact
 * requests of a scenario. Put it outermost: decorators within may split a call. Thread-safe.
 */
public final class RecordingObjectStore implements ObjectStore {
    private final ObjectStore store;

    // Guarded by this.
    private final List<Call> calls = new ArrayList<>();
    private int getsInFlight;
    private int mostGetsInFlight;

    public RecordingObjectStore(ObjectStore store) {
        this.store = store;
    }

    /** All calls so far. */
    public synchronized List<Call> calls() {
        return List.copyOf(calls);
    }

    /** The GETs so far. */
    public List<Call.Get> gets() {
        return only(Call.Get.class);
    }

    /** The GETs of one key so far. */
    public List<Call.Get> gets(String key) {
        return gets().stream().filter(get -> get.key().equals(key)).toList();
    }

    /** The HEADs so far. */
    public List<Call.Head> heads() {
        return only(Call.Head.class);
    }

    /** The listings' pages so far. */
    public List<Call.List> lists() {
        return only(Call.List.class);
    }

    /** All calls so far, which are then forgotten. */
    public synchronized List<Call> drain() {
        List<Call> drained = calls();
        calls.clear();
        return drained;
    }

    /** GETs that have begun and not ended; 0 at the end of every test that leaks none. */
    public synchronized int getsInFlight() {
        return getsInFlight;
    }

    /** The most GETs that were in flight at once. */
    public synchronized int mostGetsInFlight() {
        return mostGetsInFlight;
    }

    @Override
    public String bucket() {
        return store.bucket();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        begin(new Call.Get(version.key(), range, version.etag()));
        try {
            store.get(version, range, sink);
        } finally {
            end();
        }
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        record(new Call.Head(key));
        return store.head(key);
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        record(new Call.List(request));
        return store.list(request);
    }

    @Override
    public void close() {
        store.close();
    }

    private synchronized void record(Call call) {
        calls.add(call);
    }

    private synchronized void begin(Call.Get get) {
        calls.add(get);
        getsInFlight++;
        mostGetsInFlight = Math.max(mostGetsInFlight, getsInFlight);
    }

    private synchronized void end() {
        getsInFlight--;
    }

    private <T extends Call> List<T> only(Class<T> kind) {
        return calls().stream().filter(kind::isInstance).map(kind::cast).toList();
    }
}
