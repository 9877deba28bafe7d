package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Generates well-formed pages of listings, with every XML construct that a server might send. */
final class ListingDocuments {
    private static final String CHARACTERS = "abcXYZ019/-_.~ +%&<>\"'=]\t\n\räß€漢\ud83d\ude00\u0085\u2028\ufffd";

    private final RandomGenerator random;
    private final boolean encodes;
    private final String prefix;

    ListingDocuments(RandomGenerator random) {
        this.random = random;
        this.encodes = random.nextBoolean();
        this.prefix = random.nextInt(4) == 0 ? "s3:" : "";
    }

    byte[] page() {
        List<String> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            parts.add(object());
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            parts.add(element("CommonPrefixes", element("Prefix", name())));
        }
        if (encodes) {
            parts.add(element("EncodingType", "url"));
        }
        if (random.nextBoolean()) {
            boolean goesOn = random.nextBoolean();
            parts.add(element("IsTruncated", Boolean.toString(goesOn)));
            if (goesOn || random.nextBoolean()) {
                parts.add(element("NextContinuationToken", text(anything())));
            }
        }
        parts.add(element("KeyCount", "7"));
        String namespace = prefix.isEmpty() ? "xmlns" : "xmlns:s3";
        return (pick("", "", "\ufeff")
                        + pick(
                                "",
                                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
                                "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>",
                                "<?xml version=\"1.0\"?>\n<!-- before -->")
                        + "<" + prefix + "ListBucketResult " + namespace + "='http://s3.amazonaws.com/doc/2006-03-01/'>"
                        + shuffled(parts) + "</" + prefix + "ListBucketResult>" + pick("", "\n", "<!-- after -->\r\n"))
                .getBytes(UTF_8);
    }

    private String object() {
        List<String> parts = new ArrayList<>();
        parts.add(element("Key", name()));
        parts.add(element("Size", Long.toString(random.nextLong(1L << 43))));
        parts.add(element("LastModified", time()));
        if (random.nextInt(4) > 0) {
            parts.add(element("ETag", text(pick("\"0123abc\"", "", anything()))));
        }
        if (random.nextInt(4) > 0) {
            parts.add(element("StorageClass", pick("STANDARD", "GLACIER", "DEEP_ARCHIVE", text(anything()))));
        }
        if (random.nextInt(4) == 0) {
            parts.add(element("Owner", element("ID", text(anything())) + element("DisplayName", "")));
            parts.add("<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress></RestoreStatus>");
            parts.add(element("ChecksumAlgorithm", "CRC32"));
            parts.add(element("ChecksumAlgorithm", "SHA256"));
        }
        return element("Contents", shuffled(parts));
    }

    private String time() {
        Instant second = Instant.ofEpochSecond(random.nextLong(-62_000_000_000L, 250_000_000_000L));
        return second.plusNanos(pickOne(0, 999_000_000, random.nextInt(1_000_000_000)))
                .toString();
    }

    /** In any order, with elements between them that a reader must skip. */
    private String shuffled(List<String> parts) {
        Collections.shuffle(parts, Random.from(random));
        StringBuilder all = new StringBuilder();
        for (String part : parts) {
            all.append(between()).append(part);
        }
        return all.append(between()).toString();
    }

    private String between() {
        return switch (random.nextInt(12)) {
            case 0 -> "\r\n  ";
            case 1 -> "<!-- <Key>no</Key> & -->";
            case 2 -> "<Unknown a='1 &amp; &#x9;' b = \"'>\" ><Contents><Key>no</Key></Contents><Key/></Unknown>";
            case 3 -> "<x:New xmlns:x='urn:x' x:y='z' y2=''/>";
            case 4 -> "<Text>" + text(anything()) + "</Text>";
            case 5 -> "text";
            default -> "";
        };
    }

    private String element(String name, String content) {
        if (content.isEmpty() && random.nextBoolean()) {
            return "<" + prefix + name + pick("/>", " />");
        }
        return "<" + prefix + name + pick(">", ">", "\n>") + content + "</" + prefix + name + pick(">", ">", " >");
    }

    /** A key or a prefix; never empty. */
    private String name() {
        String name = "k" + anything();
        return text(encodes ? URLEncoder.encode(name, UTF_8) : name);
    }

    private String anything() {
        StringBuilder text = new StringBuilder();
        int[] choice = CHARACTERS.codePoints().toArray();
        for (int i = random.nextInt(random.nextInt(20) == 0 ? 3000 : 12); i > 0; i--) {
            text.appendCodePoint(choice[random.nextInt(choice.length)]);
        }
        return text.toString();
    }

    /** The text as XML, each character in one of its possible forms. */
    private String text(String text) {
        StringBuilder xml = new StringBuilder();
        text.codePoints().forEach(c -> {
            boolean plain = "&<>\r]".indexOf(c) < 0;
            xml.append(
                    switch (random.nextInt(plain ? 40 : 4)) {
                        case 0 -> "&#" + c + ";";
                        case 1 -> "&#x" + pick("", "0") + Integer.toHexString(c) + ";";
                        case 2 -> c == '\r' ? "&#13;" : "<![CDATA[" + Character.toString(c) + "]]>";
                        case 3 -> pick("", "<!-- within -->") + entity(c);
                        default -> Character.toString(c);
                    });
        });
        return xml.toString();
    }

    private static String entity(int c) {
        return switch (c) {
            case '&' -> "&amp;";
            case '<' -> "&lt;";
            case '>' -> "&gt;";
            case '"' -> "&quot;";
            case '\'' -> "&apos;";
            default -> "&#x" + Integer.toHexString(c).toUpperCase(Locale.ROOT) + ";";
        };
    }

    private String pick(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private int pickOne(int... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
