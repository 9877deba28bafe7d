package io.penstock.objectstore.s3;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.StoredObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the response to ListObjectsV2. The SDK would build a tree of the document and two further layers of objects,
 * for more than ten times the CPU time (ADR 18). Skips unknown elements and refuses a page that it cannot understand.
 * Confined to one thread.
 */
final class ListingReader {
    private static final int MAX_DIGITS = 18;

    private final XmlScanner xml;
    private final boolean decodes;
    private final List<StoredObject> objects = new ArrayList<>();
    private final List<String> prefixes = new ArrayList<>();
    private @Nullable String encodingType;
    private @Nullable Boolean truncated;
    private @Nullable String nextToken;

    /** Whether a name has characters that decoding would change or reject. */
    private boolean encoded;

    private boolean wronglyEncoded;

    private String storageClass = ResponseValues.DEFAULT_STORAGE_CLASS;

    private ListingReader(XmlScanner xml, boolean decodes) {
        this.xml = xml;
        this.decodes = decodes;
    }

    /** The page; null if it is another document, such as an error. */
    static @Nullable ListPage read(byte[] document) throws UnreadableListingException {
        ListingReader reader = new ListingReader(new XmlScanner(document), true);
        if (!reader.readDocument()) {
            return null;
        }
        // Some servers report only after the names that they are encoded as requested, and some do not encode them.
        if (reader.encoded && !"url".equals(reader.encodingType)) {
            reader = new ListingReader(new XmlScanner(document), false);
            reader.readDocument();
        }
        return reader.page();
    }

    private ListPage page() throws UnreadableListingException {
        if (decodes && wronglyEncoded) {
            throw new UnreadableListingException("a name is not encoded correctly");
        }
        boolean goesOn = Boolean.TRUE.equals(truncated);
        if (goesOn && nextToken == null) {
            throw new UnreadableListingException("it is truncated and has no continuation token");
        }
        return new ListPage(objects, prefixes, goesOn ? nextToken : null);
    }

    private boolean readDocument() throws UnreadableListingException {
        if (!xml.openRoot().equals("ListBucketResult")) {
            return false;
        }
        while (xml.nextChild()) {
            switch (xml.name()) {
                case "Contents" -> readObject();
                case "CommonPrefixes" -> readPrefixes();
                case "EncodingType" -> encodingType = once(encodingType, xml.closeText());
                case "IsTruncated" -> truncated = once(truncated, bool());
                case "NextContinuationToken" -> nextToken = once(nextToken, xml.closeText());
                default -> xml.skip();
            }
        }
        xml.finish();
        return true;
    }

    private void readPrefixes() throws UnreadableListingException {
        while (xml.nextChild()) {
            if (xml.name().equals("Prefix")) {
                prefixes.add(name());
            } else {
                xml.skip();
            }
        }
    }

    private void readObject() throws UnreadableListingException {
        String key = null;
        String etag = null;
        Long size = null;
        Instant lastModified = null;
        String itsClass = null;
        while (xml.nextChild()) {
            switch (xml.name()) {
                case "Key" -> key = once(key, name());
                case "LastModified" -> lastModified = once(lastModified, time());
                case "ETag" -> etag = once(etag, xml.closeText());
                case "Size" -> size = once(size, number());
                case "StorageClass" -> itsClass = once(itsClass, storageClass());
                default -> xml.skip();
            }
        }
        if (key == null || key.isEmpty() || size == null || lastModified == null) {
            throw xml.failure("an object without key, size or time");
        }
        objects.add(new StoredObject(
                new ObjectVersion(key, ResponseValues.etag(etag), size, lastModified),
                itsClass == null ? ResponseValues.DEFAULT_STORAGE_CLASS : itsClass));
    }

    private <T> T once(@Nullable T before, T now) throws UnreadableListingException {
        if (before != null) {
            throw xml.failure("a duplicate element");
        }
        return now;
    }

    /** A key or a prefix. */
    private String name() throws UnreadableListingException {
        String name = xml.closeText();
        if (name.indexOf('%') < 0 && name.indexOf('+') < 0) {
            return name;
        }
        encoded = true;
        return decodes ? decoded(name) : name;
    }

    private String decoded(String name) {
        String decoded = UrlEncoding.decode(name);
        wronglyEncoded |= decoded == null;
        return decoded == null ? name : decoded;
    }

    private boolean bool() throws UnreadableListingException {
        String text = xml.closeText().strip();
        if (text.equalsIgnoreCase("true")) {
            return true;
        }
        if (text.equalsIgnoreCase("false")) {
            return false;
        }
        throw xml.failure("a value that is neither true nor false");
    }

    private long number() throws UnreadableListingException {
        String text = xml.closeText();
        long number = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw xml.failure("a value that is not a number");
            }
            number = number * 10 + digit;
        }
        if (text.isEmpty() || text.length() > MAX_DIGITS) {
            throw xml.failure("a value that is not a number of bytes");
        }
        return number;
    }

    private Instant time() throws UnreadableListingException {
        Instant time = ListingTime.parse(xml.closeText());
        if (time == null) {
            throw xml.failure("a value that is not a time");
        }
        return time;
    }

    /** There are few storage classes and very many objects: most have the same class as the previous object. */
    private String storageClass() throws UnreadableListingException {
        String text = xml.closeText();
        if (!text.equals(storageClass)) {
            storageClass = text.intern();
        }
        return storageClass;
    }
}
