package io.penstock.metadata.attributes;

import static io.penstock.objectstore.ObjectProperties.USER_METADATA;

import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.OperationId;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The attributes of files as user metadata of objects. The keys written are those of AWS DataSync and File Gateway
 * ({@code file-permissions} and the like), and Penstock's for what those lack. They are also read; where they are
 * missing, those of s3fs and rclone are read ({@code mode}, with the kind of the file, {@code uid}, {@code gid},
 * {@code mtime}). A value that cannot be read is ignored. docs/SEMANTICS.md has the table.
 */
public final class AttributeHeaders {
    /** The maximum size of an object's attributes: its user metadata, without the id of an operation. Bytes. */
    public static final int MOST_BYTES = ObjectProperties.MOST_METADATA_BYTES - OperationId.BYTES;

    private static final Logger LOG = LoggerFactory.getLogger(AttributeHeaders.class);

    private static final String PERMISSIONS = USER_METADATA + "file-permissions";
    private static final String OWNER = USER_METADATA + "file-owner";
    private static final String GROUP = USER_METADATA + "file-group";
    private static final String MODIFIED = USER_METADATA + "file-mtime";
    private static final String ACCESSED = USER_METADATA + "file-atime";
    private static final String KIND = USER_METADATA + "penstock-kind";
    private static final String TARGET = USER_METADATA + "penstock-target";
    private static final String DEVICE = USER_METADATA + "penstock-device";
    private static final String EXTENDED = USER_METADATA + "penstock-xattrs";
    private static final String BELOW = USER_METADATA + "penstock-attributes-below";

    private static final String S3FS_MODE = USER_METADATA + "mode";
    private static final String S3FS_OWNER = USER_METADATA + "uid";
    private static final String S3FS_GROUP = USER_METADATA + "gid";
    private static final String S3FS_MODIFIED = USER_METADATA + "mtime";

    private static final Set<String> KEPT =
            Set.of(PERMISSIONS, OWNER, GROUP, MODIFIED, ACCESSED, KIND, TARGET, DEVICE, EXTENDED);

    private static final int PERMISSION_BITS = 07777;

    /** A number with more digits is not a time, and may take very long to process. */
    private static final int MOST_DIGITS = 40;

    private static final int S_IFDIR = 0040000;
    private static final int OCTAL = 8;
    private static final int NANO_DIGITS = 9;
    private static final String NANOS = "ns";

    private AttributeHeaders() {}

    /** The headers that make an object keep these attributes, with empty values for those that it must not have. */
    public static SortedMap<String, String> of(ObjectAttributes attributes) {
        SortedMap<String, String> headers = new TreeMap<>();
        headers.put(PERMISSIONS, text(attributes.permissions(), bits -> "0%03o".formatted(bits)));
        headers.put(OWNER, text(attributes.uid(), Integer::toUnsignedString));
        headers.put(GROUP, text(attributes.gid(), Integer::toUnsignedString));
        headers.put(MODIFIED, text(attributes.modified(), AttributeHeaders::nanos));
        headers.put(ACCESSED, text(attributes.accessed(), AttributeHeaders::nanos));
        FileKind kind = attributes.kind();
        headers.put(KIND, kind == FileKind.REGULAR ? "" : kind.name().toLowerCase(Locale.ROOT));
        headers.put(TARGET, text(attributes.target(), AttributeHeaders::encoded));
        headers.put(DEVICE, attributes.device() == 0 ? "" : Integer.toUnsignedString(attributes.device()));
        headers.put(EXTENDED, extended(attributes.extended()));
        return headers;
    }

    /** The header of a marker whose directory has objects that may have kept attributes. */
    static Map<String, String> below() {
        return Map.of(BELOW, "yes");
    }

    static boolean isBelow(SortedMap<String, String> headers) {
        return headers.containsKey(BELOW);
    }

    /** Whether these are headers of an object with kept attributes. */
    static boolean areKept(ObjectProperties properties) {
        return properties.headers().keySet().stream().anyMatch(KEPT::contains);
    }

    /** The attributes in these headers, written here or by another program. */
    public static ObjectAttributes read(SortedMap<String, String> headers) {
        if (headers.tailMap(USER_METADATA).isEmpty()) {
            return ObjectAttributes.NONE;
        }
        FileKind kind = value(headers, KIND, name -> FileKind.valueOf(name.toUpperCase(Locale.ROOT)));
        Integer permissions = value(headers, PERMISSIONS, octal -> Integer.parseInt(octal, OCTAL) & PERMISSION_BITS);
        Integer uid = value(headers, OWNER, Integer::parseUnsignedInt);
        Integer gid = value(headers, GROUP, Integer::parseUnsignedInt);
        Instant modified = value(headers, MODIFIED, AttributeHeaders::ofNanos);
        Integer device = value(headers, DEVICE, Integer::parseUnsignedInt);
        Integer mode = value(headers, S3FS_MODE, AttributeHeaders::ofMode);
        FileKind kindOfMode = mode == null ? null : FileKind.of(mode & FileKind.TYPE_BITS);
        return new ObjectAttributes(
                kind != null ? kind : kindOfMode != null ? kindOfMode : FileKind.REGULAR,
                permissions != null || mode == null ? permissions : (Integer) (mode & PERMISSION_BITS),
                uid != null ? uid : value(headers, S3FS_OWNER, Integer::parseUnsignedInt),
                gid != null ? gid : value(headers, S3FS_GROUP, Integer::parseUnsignedInt),
                modified != null ? modified : value(headers, S3FS_MODIFIED, AttributeHeaders::ofSeconds),
                value(headers, ACCESSED, AttributeHeaders::ofNanos),
                value(headers, TARGET, AttributeHeaders::decoded),
                device == null ? 0 : device,
                extended(headers));
    }

    private static <T> @Nullable T value(
            SortedMap<String, String> headers, String name, Function<String, @Nullable T> reading) {
        String text = headers.get(name);
        if (text == null || text.isEmpty()) {
            return null;
        }
        try {
            return reading.apply(text.strip());
        } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
            LOG.debug("The header {} has a value that cannot be read", name, e);
            return null;
        }
    }

    private static <T> String text(@Nullable T value, Function<T, String> writing) {
        return value == null ? "" : writing.apply(value);
    }

    /** Nanoseconds since 1970, as DataSync writes them. */
    private static String nanos(Instant time) {
        return BigDecimal.valueOf(time.getEpochSecond())
                        .movePointRight(NANO_DIGITS)
                        .add(BigDecimal.valueOf(time.getNano()))
                        .toPlainString()
                + NANOS;
    }

    private static Instant ofNanos(String text) {
        String digits = text.endsWith(NANOS) ? text.substring(0, text.length() - NANOS.length()) : text;
        return instant(number(digits).movePointLeft(NANO_DIGITS));
    }

    private static Instant ofSeconds(String text) {
        return instant(number(text));
    }

    private static BigDecimal number(String text) {
        if (text.length() > MOST_DIGITS || !text.matches("-?[0-9]+(\\.[0-9]*)?")) {
            throw new IllegalArgumentException("not a number of seconds: " + text);
        }
        return new BigDecimal(text);
    }

    /** s3fs writes st_mode in decimal digits, rclone in octal ones: only one reading gives a valid file type. */
    private static int ofMode(String text) {
        int decimal = Integer.parseInt(text);
        boolean isDecimal =
                FileKind.of(decimal & ~PERMISSION_BITS) != null || decimal == S_IFDIR + (decimal & PERMISSION_BITS);
        return isDecimal ? decimal : Integer.parseInt(text, OCTAL);
    }

    /** Whether the object's content is the target of a symbolic link, as s3fs stores it. */
    static boolean isTargetContent(SortedMap<String, String> headers) {
        Integer mode = value(headers, S3FS_MODE, AttributeHeaders::ofMode);
        return mode != null && FileKind.of(mode & FileKind.TYPE_BITS) == FileKind.SYMLINK;
    }

    private static Instant instant(BigDecimal seconds) {
        BigDecimal whole = seconds.setScale(0, RoundingMode.FLOOR);
        return Instant.ofEpochSecond(
                whole.longValueExact(),
                seconds.subtract(whole).movePointRight(NANO_DIGITS).longValue());
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /**
     * Whether this is the name of an extended attribute that an object may keep. From any other name, programs like cp
     * would create capabilities and ACLs on local files, or attributes that look like Penstock's.
     */
    public static boolean isOfUsers(String name) {
        return name.startsWith("user.") && !name.startsWith("user.penstock.") && name.indexOf('\0') < 0;
    }

    /** {@code name=value} by name, separated by commas: the name URL-encoded, the value in Base64. */
    private static String extended(Map<String, byte[]> attributes) {
        StringBuilder text = new StringBuilder();
        attributes.forEach((name, value) -> text.append(text.isEmpty() ? "" : ",")
                .append(encoded(name))
                .append('=')
                .append(Base64.getUrlEncoder().withoutPadding().encodeToString(value)));
        return text.toString();
    }

    private static SortedMap<String, byte[]> extended(SortedMap<String, String> headers) {
        SortedMap<String, byte[]> attributes = new TreeMap<>();
        SortedMap<String, byte[]> read = value(headers, EXTENDED, text -> {
            for (String attribute : text.split(",", -1)) {
                int equals = attribute.indexOf('=');
                String name = decoded(attribute.substring(0, Math.max(0, equals)));
                byte[] content = Base64.getUrlDecoder().decode(attribute.substring(equals + 1));
                if (isOfUsers(name)) {
                    attributes.put(name, content);
                }
            }
            return attributes;
        });
        return read == null ? new TreeMap<>() : read;
    }
}
