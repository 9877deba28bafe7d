package io.penstock.tools.doctor;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.ZeroBody;
import io.penstock.serve.mount.Target;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The rights of the credentials, and what each is needed for. */
record Rights(Target target, boolean readOnly) {
    /** An action that an IAM policy must allow. */
    enum Right {
        LIST("s3:ListBucket", "Nothing can be mounted", false),
        READ("s3:GetObject", "No file can be read", false),
        WRITE("s3:PutObject", "Closing written files, mkdir and rename fail", true),
        DELETE("s3:DeleteObject", "rm, rmdir and rename fail", true),
        ABORT("s3:AbortMultipartUpload", "Parts of abandoned uploads stay in the bucket, and cost money", true),
        LIST_PARTS("s3:ListMultipartUploadParts", "Uploads interrupted by a crash start over", true);

        private final String action;
        private final String without;
        private final boolean writes;

        Right(String action, String without, boolean writes) {
            this.action = action;
            this.without = without;
            this.writes = writes;
        }

        /** Its name in a policy. */
        String action() {
            return action;
        }

        /** The consequence of lacking it. */
        String without() {
            return without;
        }

        /** Whether a read-only mount can do without it. */
        boolean writes() {
            return writes;
        }

        /** The policy statement that grants it for the mounted part of the bucket. */
        String statement(Target target) {
            String bucket = "arn:aws:s3:::" + target.bucket();
            if (this != LIST) {
                return "{\"Effect\": \"Allow\", \"Action\": \"%s\", \"Resource\": \"%s/%s*\"}"
                        .formatted(action, bucket, target.prefix());
            }
            String condition = target.prefix().isEmpty()
                    ? ""
                    : ", \"Condition\": {\"StringLike\": {\"s3:prefix\": \"%s*\"}}".formatted(target.prefix());
            return "{\"Effect\": \"Allow\", \"Action\": \"%s\", \"Resource\": \"%s\"%s}"
                    .formatted(action, bucket, condition);
        }
    }

    /**
     * The rights of the credentials.
     *
     * @param granted those that were tried successfully
     * @param denied those that the store refused, with its message
     * @param failed those that were tried but neither granted nor denied, with the reason
     */
    record Facts(Set<Right> granted, Map<Right, String> denied, Map<Right, String> failed) {}

    void check(Facts rights, Findings findings) {
        rights.denied().forEach((right, said) -> {
            String found = right.action() + " is not allowed: " + said;
            String remedy =
                    "Allow it: " + right.statement(target) + (right.writes() ? "; or mount with read-only" : "");
            if (right == Right.ABORT || right == Right.LIST_PARTS) {
                findings.warning(found, right.without(), remedy);
            } else {
                findings.error(found, right.without(), remedy);
            }
        });
        rights.failed()
                .forEach((right, said) -> findings.warning(
                        right.action() + " could not be tried: " + said,
                        right.without() + " if it is not allowed",
                        ""));
        if (!rights.granted().isEmpty()) {
            findings.ok("allowed: " + names(rights.granted()));
        }
        Set<Right> untried = EnumSet.allOf(Right.class);
        untried.removeAll(rights.granted());
        untried.removeAll(rights.denied().keySet());
        untried.removeAll(rights.failed().keySet());
        untried.removeIf(right -> right.writes() && readOnly);
        if (!untried.isEmpty()) {
            boolean areWrites = untried.stream().allMatch(Right::writes);
            findings.note("not tried: " + names(untried)
                    + (areWrites
                            ? "; --write tries them with a temporary object"
                            : ", because there is no object to read"));
        }
    }

    private static String names(Set<Right> rights) {
        return rights.stream().sorted().map(Right::action).collect(Collectors.joining(", "));
    }

    /** Tries the rights of credentials that may list the bucket. Confined to one thread. */
    static final class Trial {
        private final ObjectStore store;
        private final String key;
        private final List<StoredObject> objects;

        private final Set<Right> granted = EnumSet.of(Right.LIST);
        private final Map<Right, String> denied = new EnumMap<>(Right.class);
        private final Map<Right, String> failed = new EnumMap<>(Right.class);

        /**
         * @param key the key of temporary objects
         * @param objects some objects of the bucket
         */
        Trial(ObjectStore store, String key, List<StoredObject> objects) {
            this.store = store;
            this.key = key;
            this.objects = objects;
        }

        /** An attempt to do something. */
        private interface Attempt {
            void make() throws ObjectStoreException, IOException, InterruptedException;
        }

        Facts run(boolean write) throws InterruptedException {
            for (StoredObject object :
                    objects.stream().filter(Trial::isReadable).limit(1).toList()) {
                attempt(Right.READ, "", () -> store.get(object.version(), new ByteRange(0, 1), new DiscardingSink()));
            }
            if (write) {
                tryWriting();
            }
            return new Facts(granted, denied, failed);
        }

        private void tryWriting() throws InterruptedException {
            String stays = "; remove the temporary object '" + key + "'";
            if (attempt(Right.WRITE, "", () -> store.put(key, new ZeroBody(1), WriteCondition.ALWAYS))) {
                attempt(Right.DELETE, stays, () -> store.delete(key));
                attempt(Right.ABORT, "; a lifecycle rule can abort the upload of '" + key + "'", this::tryUpload);
            }
        }

        private void tryUpload() throws ObjectStoreException, InterruptedException {
            MultipartUpload upload = store.createUpload(key);
            attempt(Right.LIST_PARTS, "", () -> store.parts(upload));
            store.abort(upload);
        }

        /** @param stays the end of the message if it does not succeed: how to remove the object or upload left behind */
        private boolean attempt(Right right, String stays, Attempt attempt) throws InterruptedException {
            try {
                attempt.make();
                granted.add(right);
                return true;
            } catch (ObjectStoreException.AccessDenied e) {
                denied.put(right, e.getMessage() + stays);
            } catch (ObjectStoreException | IOException e) {
                failed.put(right, e.getMessage() + stays);
            }
            return false;
        }

        /** Whether the object has bytes, and is not in an archive. */
        static boolean isReadable(StoredObject object) {
            return object.version().size() > 0
                    && !Set.of("GLACIER", "DEEP_ARCHIVE").contains(object.storageClass());
        }
    }

    /** Discards the few bytes that a trial reads. Used by one thread at a time. */
    static final class DiscardingSink implements BodySink {
        private final ByteBuffer buffer = ByteBuffer.allocate(64);

        @Override
        public ByteBuffer buffer() {
            return buffer.clear();
        }

        @Override
        public void filled(int bytes) {}
    }
}
