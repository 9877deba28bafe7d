package io.penstock.testing;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import java.util.ArrayList;
import java.util.List;

/**
 * Records every call in the order in which they begin, including failed ones, for tests that assert the exact requests
 * of a scenario. Must be the outermost store: decorators below it may split a call. Thread-safe.
 */
public final class RecordingObjectStore extends ForwardingObjectStore {
    @GuardedBy("this")
    private final List<Call> calls = new ArrayList<>();

    @GuardedBy("this")
    private final List<Deadline> deadlines = new ArrayList<>();

    @GuardedBy("this")
    private final List<Integer> batches = new ArrayList<>();

    private final InFlight gets = new InFlight();
    private final InFlight uploads = new InFlight();
    private final InFlight others = new InFlight();

    public RecordingObjectStore(ObjectStore store) {
        super(store);
    }

    /** The number of objects in each {@link #deleteAll} so far; its single deletions are recorded as calls, too. */
    public synchronized List<Integer> batches() {
        return List.copyOf(batches);
    }

    @Override
    public List<ObjectVersion> deleteAll(List<ObjectVersion> versions)
            throws ObjectStoreException, InterruptedException {
        synchronized (this) {
            batches.add(versions.size());
        }
        return super.deleteAll(versions);
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

    /** The requested listing pages so far. */
    public List<Call.List> lists() {
        return only(Call.List.class);
    }

    /** The calls so far that change something. */
    public List<Call> writes() {
        return calls().stream().filter(Call::isWrite).toList();
    }

    /** The calls of one kind so far. */
    public <T extends Call> List<T> only(Class<T> kind) {
        return calls().stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** The bytes sent so far, including those of failed calls. */
    public long uploadedBytes() {
        return calls().stream()
                .mapToLong(call -> switch (call) {
                    case Call.Put put -> put.size();
                    case Call.UploadPart part -> part.size();
                    default -> 0;
                })
                .sum();
    }

    /** Bytes that the store copied into parts so far. */
    public long copiedBytes() {
        return only(Call.CopyPart.class).stream()
                .mapToLong(part -> part.range().length())
                .sum();
    }

    /** The deadlines of the calls so far, without duplicates. */
    public synchronized List<Deadline> deadlines() {
        return List.copyOf(deadlines);
    }

    /** Returns all calls so far and drops them. */
    public synchronized List<Call> drain() {
        List<Call> drained = calls();
        calls.clear();
        deadlines.clear();
        return drained;
    }

    /** GETs that have begun but not ended; 0 at the end of every test without a leak. */
    public synchronized int getsInFlight() {
        return gets.now;
    }

    /** The maximum number of GETs in flight at the same time. */
    public synchronized int mostGetsInFlight() {
        return gets.most;
    }

    /** {@linkplain Call#isUpload Uploads} that have begun but not ended. */
    public synchronized int uploadsInFlight() {
        return uploads.now;
    }

    /** The maximum number of {@linkplain Call#isUpload uploads} in flight at the same time. */
    public synchronized int mostUploadsInFlight() {
        return uploads.most;
    }

    @Override
    protected <T, X extends Exception> T around(Call call, UploadBody body, Request<T, X> request)
            throws ObjectStoreException, InterruptedException, X {
        InFlight kind = call instanceof Call.Get ? gets : call.isUpload() ? uploads : others;
        begin(call, kind);
        try {
            return request.send(body);
        } finally {
            end(kind);
        }
    }

    private synchronized void begin(Call call, InFlight kind) {
        calls.add(call);
        Deadline deadline = Deadline.current();
        if (deadline != null && !deadlines.contains(deadline)) {
            deadlines.add(deadline);
        }
        kind.now++;
        kind.most = Math.max(kind.most, kind.now);
    }

    private synchronized void end(InFlight kind) {
        kind.now--;
    }

    /** Guarded by the store. */
    private static final class InFlight {
        int now;
        int most;
    }
}
