package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the response to ListObjectsV2. The SDK would build a tree of the document and two further layers of objects,
 * for more than ten times the CPU time (ADR 18). It skips unknown elements and refuses a page that it cannot
 * understand. Confined to one thread.
 */
final class ListingReader {
    private static final byte[] ROOT = ascii("ListBucketResult");
    private static final byte[] ENCODING_TYPE = ascii("EncodingType");
    private static final byte[] IS_TRUNCATED = ascii("IsTruncated");
    private static final byte[] NEXT_CONTINUATION_TOKEN = ascii("NextContinuationToken");
    private static final byte[] COMMON_PREFIXES = ascii("CommonPrefixes");
    private static final byte[] PREFIX = ascii("Prefix");
    private static final byte[] CONTENTS = ascii("Contents");
    private static final byte[] KEY = ascii("Key");
    private static final byte[] LAST_MODIFIED = ascii("LastModified");
    private static final byte[] ETAG = ascii("ETag");
    private static final byte[] SIZE = ascii("Size");
    private static final byte[] STORAGE_CLASS = ascii("StorageClass");
    private static final int MAX_DIGITS = 18;

    private final XmlScanner xml;
    private final boolean decodes;
    private final List<StoredObject> objects = new ArrayList<>();
    private final List<String> prefixes = new ArrayList<>();
    private @Nullable String encodingType;
    private @Nullable Boolean truncated;
    private @Nullable String nextToken;

    /** A name has characters that decoding would change or reject. */
    private boolean encoded;

    private boolean wronglyEncoded;

    private String storageClass = ResponseValues.DEFAULT_STORAGE_CLASS;
    private byte[] storageClassBytes = ascii(storageClass);

    private ListingReader(XmlScanner xml, boolean decodes) {
        this.xml = xml;
        this.decodes = decodes;
    }

    /**
     * @param document as {@link XmlScanner} takes it
     * @return null if it is another document, for instance an error
     */
    static @Nullable ListPage read(byte[] document, int length) throws UnreadableListingException {
        ListingReader reader = new ListingReader(new XmlScanner(document, length), true);
        if (!reader.readDocument()) {
            return null;
        }
        // Some servers say only after the names that they are encoded, as was requested, and some do not encode them.
        if (reader.encoded && !"url".equals(reader.encodingType)) {
            reader = new ListingReader(new XmlScanner(document, length), false);
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
        xml.openRoot();
        if (!xml.is(ROOT)) {
            return false;
        }
        while (xml.nextChild()) {
            if (xml.is(CONTENTS)) {
                readObject();
            } else if (xml.is(COMMON_PREFIXES)) {
                readPrefixes();
            } else if (xml.is(ENCODING_TYPE)) {
                encodingType = once(encodingType, string());
            } else if (xml.is(IS_TRUNCATED)) {
                truncated = once(truncated, bool());
            } else if (xml.is(NEXT_CONTINUATION_TOKEN)) {
                nextToken = once(nextToken, string());
            } else {
                xml.skip();
            }
        }
        xml.finish();
        return true;
    }

    private void readPrefixes() throws UnreadableListingException {
        while (xml.nextChild()) {
            if (xml.is(PREFIX)) {
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
            if (xml.is(KEY)) {
                key = once(key, name());
            } else if (xml.is(LAST_MODIFIED)) {
                lastModified = once(lastModified, time());
            } else if (xml.is(ETAG)) {
                etag = once(etag, string());
            } else if (xml.is(SIZE)) {
                size = once(size, number());
            } else if (xml.is(STORAGE_CLASS)) {
                itsClass = once(itsClass, storageClass());
            } else {
                xml.skip();
            }
        }
        if (key == null || key.isEmpty() || size == null || lastModified == null) {
            throw xml.failure("the end of an object without key, size or time");
        }
        objects.add(new StoredObject(
                new ObjectVersion(key, ResponseValues.etag(etag), size, lastModified),
                itsClass == null ? ResponseValues.DEFAULT_STORAGE_CLASS : itsClass));
    }

    private <T> T once(@Nullable T before, T now) throws UnreadableListingException {
        if (before != null) {
            throw xml.failure("an element that must not occur twice");
        }
        return now;
    }

    private String string() throws UnreadableListingException {
        xml.closeText();
        return xml.textAsString();
    }

    /** A key or a prefix. */
    private String name() throws UnreadableListingException {
        xml.closeText();
        byte[] text = xml.text();
        int length = xml.textLength();
        for (int i = 0; i < length; i++) {
            if (text[i] == '%' || text[i] == '+') {
                encoded = true;
                return decodes ? decoded(xml.textAsString()) : xml.textAsString();
            }
        }
        return xml.textAsString();
    }

    private String decoded(String name) {
        String decoded = UrlEncoding.decode(name);
        wronglyEncoded |= decoded == null;
        return decoded == null ? name : decoded;
    }

    private boolean bool() throws UnreadableListingException {
        String text = string().strip();
        if (text.equalsIgnoreCase("true")) {
            return true;
        }
        if (text.equalsIgnoreCase("false")) {
            return false;
        }
        throw xml.failure("the end of a value that is neither true nor false");
    }

    private long number() throws UnreadableListingException {
        xml.closeText();
        byte[] text = xml.text();
        int length = xml.textLength();
        long number = 0;
        for (int i = 0; i < length; i++) {
            int digit = text[i] - '0';
            if (digit < 0 || digit > 9) {
                throw xml.failure("the end of a value that is no number");
            }
            number = number * 10 + digit;
        }
        if (length == 0 || length > MAX_DIGITS) {
            throw xml.failure("the end of a value that is no number of bytes");
        }
        return number;
    }

    private Instant time() throws UnreadableListingException {
        xml.closeText();
        Instant time = ListingTime.parse(xml.text(), xml.textLength());
        if (time == null) {
            throw xml.failure("the end of a value that is no time");
        }
        return time;
    }

    /** There are few storage classes and very many objects: most have the same class as the object before. */
    private String storageClass() throws UnreadableListingException {
        xml.closeText();
        byte[] text = xml.text();
        int length = xml.textLength();
        if (!Arrays.equals(text, 0, length, storageClassBytes, 0, storageClassBytes.length)) {
            storageClass = xml.textAsString().intern();
            storageClassBytes = Arrays.copyOf(text, length);
        }
        return storageClass;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(US_ASCII);
    }
}
