package io.penstock.cli.mount;

import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;

record Proof(BucketProof proof) implements io.penstock.share.BucketProof {
    @Override
    public String make() throws IOException, InterruptedException {
        try {
            return proof.make();
        } catch (ObjectStoreException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public boolean covers(String text, String key) {
        return proof.covers(text, key);
    }

    @Override
    public boolean holds(String text) throws IOException, InterruptedException {
        try {
            return proof.holds(text);
        } catch (ObjectStoreException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
