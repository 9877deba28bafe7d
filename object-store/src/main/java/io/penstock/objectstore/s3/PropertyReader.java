package io.penstock.objectstore.s3;

import io.penstock.objectstore.ObjectStoreException;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.model.GetObjectTaggingRequest;
import software.amazon.awssdk.services.s3.model.Tag;

/**
 * Reads the properties of objects that a write repeats. Logs once each property that cannot be repeated. Safe for use
 * by any number of threads.
 */
final class PropertyReader {
    private static final Logger LOG = LoggerFactory.getLogger(PropertyReader.class);

    private final RequestExecutor requests;

    /** The headers that objects lose, as logged so far. */
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    PropertyReader(RequestExecutor requests) {
        this.requests = requests;
    }

    SortedMap<String, String> headers(String key, ObjectHead head) {
        return PropertyHeaders.of(head.headers(), requests.config.server().isAws(), header -> {
            if (warned.add(header)) {
                LOG.warn(
                        "The header {} of {} has characters beyond printable ASCII, which no request can carry: an"
                                + " object written over it lacks that header",
                        header,
                        requests.errors.object(key));
            }
        });
    }

    Map<String, String> tags(String key) throws ObjectStoreException, InterruptedException {
        GetObjectTaggingRequest request = GetObjectTaggingRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .requestPayer(requests.payer)
                .build();
        try {
            return requests
                    .ask(requests.errors.object(key), () -> requests.client.getObjectTagging(request))
                    .tagSet()
                    .stream()
                    .collect(Collectors.toMap(Tag::key, Tag::value));
        } catch (ObjectStoreException.AccessDenied | ObjectStoreException.Refused e) {
            if (e instanceof ObjectStoreException.AccessDenied denied) {
                denied.throwUnlessNotAllowed();
            }
            if (warned.add(PropertyHeaders.TAGS)) {
                LOG.warn(
                        "The tags of {} cannot be read, so an object written over it has none: allow"
                                + " s3:GetObjectTagging to keep tags ({})",
                        requests.errors.object(key),
                        e.getMessage());
            }
            return Map.of();
        }
    }
}
