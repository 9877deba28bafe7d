package io.penstock.objectstore;

/** A bucket that cannot be used: every call fails with the same exception, except those that a subclass overrides. */
public class RefusingObjectStore extends ForwardingObjectStore {
    private final String bucket;
    private final ObjectStoreException why;

    /** @param why the exception that every call throws */
    @SuppressWarnings("NullAway") // No call is forwarded.
    public RefusingObjectStore(String bucket, ObjectStoreException why) {
        super(null);
        this.bucket = bucket;
        this.why = why;
    }

    @Override
    protected <T, X extends Exception> T around(Call call, UploadBody body, Request<T, X> request)
            throws ObjectStoreException {
        throw why;
    }

    @Override
    public String bucket() {
        return bucket;
    }

    @Override
    public RetryPolicy retries() {
        return RetryPolicy.DEFAULT;
    }

    @Override
    public boolean checksDuplicates() {
        return true;
    }

    @Override
    public void close() {}
}
