package io.penstock.embeddeds3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.Arrays;
import java.util.Set;

/**
 * One page of ListObjectsV2 over {@link SyntheticObjects}. Its cost depends only on its length, because the number of
 * any key is computed. For one use by one thread.
 */
final class SyntheticListing {
    private static final int MAX_KEYS = 1000;

    private static final Set<String> PARAMETERS = Set.of(
            "list-type",
            "prefix",
            "delimiter",
            "start-after",
            "continuation-token",
            "max-keys",
            "encoding-type",
            "fetch-owner");

    private static final byte[] CONTENTS_KEY = ascii("<Contents><Key>");
    private static final byte[] KEY_TIME = ascii("</Key><LastModified>");
    private static final byte[] TIME_ETAG = ascii(".000Z</LastModified><ETag>&quot;");
    private static final byte[] ETAG_SIZE = ascii("&quot;</ETag><Size>");
    private static final byte[] SIZE_CONTENTS = ascii("</Size><StorageClass>STANDARD</StorageClass></Contents>");
    private static final byte[] PREFIX = ascii("<CommonPrefixes><Prefix>");
    private static final byte[] PREFIX_END = ascii("</Prefix></CommonPrefixes>");

    /** {@code 2024-01-01T} and the following days. */
    private static final byte[][] DAYS = days();

    private static final int DAY_LENGTH = 11;
    private static final int TIME_LENGTH = DAY_LENGTH + "00:00:00".length();
    private static final int LONGEST_SIZE = 10;

    /** The maximum size in bytes of an object on a page. */
    private static final int OBJECT_LENGTH = CONTENTS_KEY.length
            + SyntheticObjects.KEY_LENGTH
            + KEY_TIME.length
            + TIME_LENGTH
            + TIME_ETAG.length
            + SyntheticObjects.ETAG_LENGTH
            + ETAG_SIZE.length
            + LONGEST_SIZE
            + SIZE_CONTENTS.length;

    private static final int PREFIX_LENGTH = PREFIX.length + SyntheticObjects.KEY_LENGTH + PREFIX_END.length;

    private final SyntheticObjects objects;
    private final Query query;
    private final byte[] prefix;
    private final byte[] delimiter;
    private final byte[] startAfter;
    private final int maxKeys;
    private final boolean encodes;

    /** The number of the first key that may be on the page. */
    private long next;

    /** The number of the first key after the prefix. */
    private final long end;

    private final byte[] page;
    private int length;

    /** The number of keys and common prefixes on the page. */
    private int items;

    /** @throws Refusal if the request is not for a page */
    SyntheticListing(SyntheticObjects objects, Query query) throws Refusal {
        String unknown = query.other(PARAMETERS);
        if (unknown != null || !query.parameter("list-type").equals("2")) {
            throw Refusal.notImplemented("A synthetic bucket supports ListObjectsV2 only.");
        }
        this.objects = objects;
        this.query = query;
        this.prefix = utf8("prefix");
        this.delimiter = utf8("delimiter");
        this.startAfter = utf8("start-after");
        this.maxKeys = (int) Math.min(MAX_KEYS, query.number("max-keys", MAX_KEYS, Integer.MAX_VALUE));
        String encoding = query.parameter("encoding-type");
        this.encodes = encoding.equals("url");
        if (!encodes && !encoding.isEmpty()) {
            throw Refusal.invalid("The encoding-type '" + encoding + "' is not url.");
        }
        long token = query.number("continuation-token", 0, objects.count());
        this.next = Math.max(Math.max(token, objects.firstFrom(prefix)), firstAfter(startAfter));
        this.end = objects.firstBehind(prefix);
        this.page = new byte
                [(int) Math.min(maxKeys, Math.max(0, end - next))
                        * (delimiter.length == 0 ? OBJECT_LENGTH : Math.max(OBJECT_LENGTH, PREFIX_LENGTH))];
    }

    private byte[] utf8(String parameter) {
        return query.parameter(parameter).getBytes(UTF_8);
    }

    private long firstAfter(byte[] bound) {
        return bound.length == 0 ? 0 : objects.firstFrom(Arrays.copyOf(bound, bound.length + 1));
    }

    /** The document, in pieces. */
    byte[][] document() {
        while (next < end && items < maxKeys) {
            int folded = folded(next);
            if (folded < 0) {
                writeObject(next++);
                items++;
            } else {
                writePrefix(Arrays.copyOf(objects.keyBytes(next), folded));
            }
        }
        return new byte[][] {ascii(head()), Arrays.copyOf(page, length), ascii("</ListBucketResult>")};
    }

    /** The length of the common prefix that the key is rolled up into; -1 if the page shows the key itself. */
    private int folded(long number) {
        if (delimiter.length == 0) {
            return -1;
        }
        byte[] key = objects.keyBytes(number);
        for (int at = prefix.length; at + delimiter.length <= key.length; at++) {
            if (Arrays.equals(key, at, at + delimiter.length, delimiter, 0, delimiter.length)) {
                return at + delimiter.length;
            }
        }
        return -1;
    }

    /** The first key after {@code start-after} may have a common prefix that is not after it, which is skipped. */
    private void writePrefix(byte[] common) {
        if (Arrays.compareUnsigned(common, startAfter) > 0) {
            write(PREFIX);
            write(common);
            write(PREFIX_END);
            items++;
        }
        next = objects.firstBehind(common);
    }

    private void writeObject(long number) {
        write(CONTENTS_KEY);
        objects.writeKey(number, page, length);
        length += SyntheticObjects.KEY_LENGTH;
        write(KEY_TIME);
        writeTime(objects.second(number));
        write(TIME_ETAG);
        objects.writeEtag(number, page, length);
        length += SyntheticObjects.ETAG_LENGTH;
        write(ETAG_SIZE);
        writeNumber(objects.size(number));
        write(SIZE_CONTENTS);
    }

    private void writeTime(int second) {
        write(DAYS[second / 86_400]);
        int ofDay = second % 86_400;
        writeTwoDigits(ofDay / 3600, ':');
        writeTwoDigits(ofDay / 60 % 60, ':');
        int ofMinute = ofDay % 60;
        page[length++] = (byte) ('0' + ofMinute / 10);
        page[length++] = (byte) ('0' + ofMinute % 10);
    }

    private void writeTwoDigits(int value, char then) {
        page[length++] = (byte) ('0' + value / 10);
        page[length++] = (byte) ('0' + value % 10);
        page[length++] = (byte) then;
    }

    /** @param value more than 0 */
    private void writeNumber(int value) {
        int digits = 0;
        for (int rest = value; rest > 0; rest /= 10) {
            digits++;
        }
        int at = length + digits;
        for (int rest = value; rest > 0; rest /= 10) {
            page[--at] = (byte) ('0' + rest % 10);
        }
        length += digits;
    }

    private void write(byte[] bytes) {
        System.arraycopy(bytes, 0, page, length, bytes.length);
        length += bytes.length;
    }

    /** The elements that S3 sends before the objects. */
    private String head() {
        boolean truncated = next < end && maxKeys > 0;
        StringBuilder head = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
        element(head, "Name", query.bucket());
        element(head, "Prefix", text("prefix"));
        if (delimiter.length > 0) {
            element(head, "Delimiter", text("delimiter"));
        }
        if (startAfter.length > 0) {
            element(head, "StartAfter", text("start-after"));
        }
        if (!query.parameter("continuation-token").isEmpty()) {
            element(head, "ContinuationToken", Xml.text(query.parameter("continuation-token")));
        }
        if (encodes) {
            element(head, "EncodingType", "url");
        }
        element(head, "KeyCount", Integer.toString(items));
        element(head, "MaxKeys", Integer.toString(maxKeys));
        element(head, "IsTruncated", Boolean.toString(truncated));
        if (truncated) {
            element(head, "NextContinuationToken", Long.toString(next));
        }
        return head.toString();
    }

    private static void element(StringBuilder to, String name, String text) {
        to.append('<')
                .append(name)
                .append('>')
                .append(text)
                .append("</")
                .append(name)
                .append('>');
    }

    /** A parameter as the response repeats it. Keys are the same in every encoding. */
    private String text(String parameter) {
        String value = query.parameter(parameter);
        return encodes ? URLEncoder.encode(value, UTF_8).replace("%2F", "/") : Xml.text(value);
    }

    private static byte[][] days() {
        byte[][] days = new byte[SyntheticObjects.DAYS][];
        for (int day = 0; day < days.length; day++) {
            days[day] = ascii(SyntheticObjects.day(day).toString().substring(0, DAY_LENGTH));
        }
        return days;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(UTF_8);
    }
}
