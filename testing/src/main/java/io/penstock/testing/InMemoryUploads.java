package io.penstock.testing;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadedPart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalInt;
import java.util.TreeMap;

/** The multipart uploads of a bucket in memory that are neither completed nor aborted. Thread-safe. */
final class InMemoryUploads {
    @GuardedBy("this")
    private final Map<MultipartUpload, NavigableMap<Integer, Part>> uploads = new LinkedHashMap<>();

    @GuardedBy("this")
    private final Map<MultipartUpload, ObjectProperties> properties = new HashMap<>();

    @GuardedBy("this")
    private int created;

    synchronized MultipartUpload create(String key, ObjectProperties of) {
        MultipartUpload upload =
                new MultipartUpload(key, "upload-%06d".formatted(++created), requireNonNull(of.operation()));
        uploads.put(upload, new TreeMap<>());
        properties.put(upload, of);
        return upload;
    }

    /** The properties given at its creation, also once it is completed. */
    synchronized ObjectProperties properties(MultipartUpload upload) {
        return requireNonNull(properties.get(upload));
    }

    /** The open uploads, in the order of their creation. */
    synchronized List<MultipartUpload> open() {
        return List.copyOf(uploads.keySet());
    }

    synchronized boolean isOpen(MultipartUpload upload) {
        return uploads.containsKey(upload);
    }

    synchronized void remove(MultipartUpload upload) {
        uploads.remove(upload);
    }

    /** @param crc32c if it is known */
    synchronized UploadedPart put(MultipartUpload upload, int number, Content content, OptionalInt crc32c)
            throws ObjectStoreException {
        if (number < 1 || number > UploadedPart.MAX_NUMBER || content.size() > UploadedPart.MAX_SIZE) {
            throw refused("no part may have the number " + number + " or " + content.size() + " bytes");
        }
        UploadedPart part = new UploadedPart(number, content.etag(), content.size(), crc32c);
        partsOf(upload).put(number, new Part(part, content));
        return part;
    }

    synchronized List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException {
        return partsOf(upload).values().stream().map(Part::part).toList();
    }

    /** The object made of these parts. */
    synchronized Content compose(MultipartUpload upload, List<UploadedPart> parts) throws ObjectStoreException {
        NavigableMap<Integer, Part> there = partsOf(upload);
        List<Content> pieces = new ArrayList<>();
        int before = 0;
        int last = parts.isEmpty() ? 0 : parts.getLast().number();
        for (UploadedPart part : parts) {
            Part found = there.get(part.number());
            if (found == null || !found.part.etag().equals(part.etag())) {
                throw refused("InvalidPart: " + part + ", there is " + found);
            }
            if (part.number() <= before) {
                throw refused("InvalidPartOrder: " + part.number() + " after " + before);
            }
            if (part.size() < UploadedPart.MIN_SIZE && part.number() != last) {
                throw refused("EntityTooSmall: " + part);
            }
            before = part.number();
            pieces.add(found.content);
        }
        if (pieces.isEmpty()) {
            throw refused("MalformedXML: an upload of no parts");
        }
        return new Content.Composed(pieces);
    }

    @GuardedBy("this")
    private NavigableMap<Integer, Part> partsOf(MultipartUpload upload) throws ObjectStoreException {
        NavigableMap<Integer, Part> parts = uploads.get(upload);
        if (parts == null) {
            throw new ObjectStoreException.NotFound("NoSuchUpload: " + upload, null);
        }
        return parts;
    }

    /** Corresponds to S3's 400. */
    private static ObjectStoreException refused(String why) {
        return new ObjectStoreException.Refused("the store refused the request: " + why, null);
    }

    private record Part(UploadedPart part, Content content) {}
}
