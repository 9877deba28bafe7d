package io.penstock.tools.doctor;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.s3.S3Config;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.objectstore.s3.S3ObjectStore.FoundCredentials;
import io.penstock.serve.mount.Target;
import io.penstock.tools.measure.RangeMeasurement;
import io.penstock.tools.measure.RangeSpeed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Gathers the facts about a bucket and its server, with the requests of a mount. It writes only if asked to, below a
 * name that no mount shows, and removes its objects. Used by one thread at a time.
 */
final class Store implements QuirksTrial.Server, AutoCloseable {
    /** The doctor reports failures; it does not wait until a request succeeds. */
    private static final RetryPolicy SHORT = new RetryPolicy(Duration.ofSeconds(3), Duration.ofSeconds(3));

    /** The duration of the measurement at each concurrency. */
    private static final Duration MEASURED = Duration.ofSeconds(2);

    /** Smaller objects show how long a request takes, not how fast bytes arrive. */
    private static final long SMALLEST = 1L << 20;

    private final Target target;
    private final S3Config config;

    /** Written by the thread that opens it, and read by those of later checks. */
    private volatile @Nullable S3ObjectStore opened;

    /** Some objects; written and read like {@link #opened}. */
    private volatile List<StoredObject> objects = List.of();

    Store(Target target, S3Config mounts) {
        this.target = target;
        this.config = impatient(mounts, mounts.integrity());
    }

    Access.Server server() throws InterruptedException {
        try {
            return new Access.Server(null, S3ObjectStore.clockOffset(config).orElse(null));
        } catch (ObjectStoreException e) {
            return new Access.Server(e.getMessage(), null);
        }
    }

    Access.Key credentials() {
        if (config.requester().credentials() instanceof Credentials.Anonymous) {
            return new Access.Key.Anonymous();
        }
        try {
            FoundCredentials found = S3ObjectStore.credentials(config);
            Duration left = found.expires()
                    .map(expires -> Duration.between(Instant.now(), expires))
                    .orElse(null);
            return new Access.Key.Found(found.accessKeyId(), found.source(), left);
        } catch (ObjectStoreException e) {
            return new Access.Key.Missing(String.valueOf(e.getMessage()));
        }
    }

    /** Opens the bucket, which the methods below need. */
    Access.Bucket open() throws InterruptedException {
        try {
            S3ObjectStore store = S3ObjectStore.connect(config, target.prefix());
            opened = store;
            objects = store.list(ListRequest.of(target.prefix(), "")).objects();
            return new Access.Bucket(null, false);
        } catch (ObjectStoreException.AccessDenied e) {
            return new Access.Bucket(e, isPublic());
        } catch (ObjectStoreException e) {
            return new Access.Bucket(e, false);
        }
    }

    private boolean isPublic() throws InterruptedException {
        S3Config anonymous = config.withCredentials(new Credentials.Anonymous());
        try (S3ObjectStore store = S3ObjectStore.connect(anonymous, target.prefix())) {
            return !store.bucket().isEmpty();
        } catch (ObjectStoreException e) {
            return false;
        }
    }

    /** @param write whether a temporary object may be written */
    Rights.Facts rights(boolean write) throws InterruptedException {
        return new Rights.Trial(store(), temporaryKey(), objects).run(write);
    }

    /** @param write whether temporary objects may be written */
    Quirks.Facts quirks(boolean write) throws InterruptedException, ObjectStoreException {
        return new QuirksTrial(store(), this, config.integrity(), target.prefix(), temporaryKey(), objects).run(write);
    }

    /**
     * Measures the network between this machine and the store.
     *
     * @param rangeBytes the most bytes of one GET
     * @return by ascending concurrency; empty if no object is large enough
     */
    List<RangeSpeed> network(long rangeBytes) throws ObjectStoreException, InterruptedException {
        Optional<ObjectVersion> largest = objects.stream()
                .filter(Rights.Trial::isReadable)
                .map(StoredObject::version)
                .max(Comparator.comparingLong(ObjectVersion::size))
                .filter(object -> object.size() >= SMALLEST);
        List<RangeSpeed> speeds = new ArrayList<>();
        if (largest.isPresent()) {
            RangeMeasurement ranges = new RangeMeasurement(
                    store(), largest.get(), Math.min(rangeBytes, largest.get().size()), MEASURED);
            for (int concurrency : RangeMeasurement.CONCURRENCIES) {
                speeds.add(ranges.at(concurrency));
            }
        }
        return speeds;
    }

    private S3ObjectStore store() {
        return Objects.requireNonNull(opened, "the bucket is not open");
    }

    @Override
    public Set<String> gaps() {
        return store().gaps();
    }

    @Override
    public Map<String, Boolean> conditions() throws ObjectStoreException, InterruptedException {
        return store().conditions();
    }

    @Override
    public S3ObjectStore connect(Integrity integrity) throws ObjectStoreException, InterruptedException {
        return S3ObjectStore.connect(impatient(config, integrity), target.prefix());
    }

    private String temporaryKey() {
        return target.prefix() + ".penstock/doctor-" + UUID.randomUUID();
    }

    private static S3Config impatient(S3Config config, Integrity integrity) {
        return new S3Config(
                config.bucket(),
                config.server(),
                config.requester(),
                config.httpClient(),
                config.limits(),
                integrity,
                SHORT);
    }

    @Override
    public void close() {
        if (opened != null) {
            opened.close();
        }
    }
}
