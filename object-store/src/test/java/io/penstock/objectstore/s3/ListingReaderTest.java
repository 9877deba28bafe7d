package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Seeded;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.utils.DateUtils;
import software.amazon.awssdk.utils.http.SdkHttpUtils;

/** Pages as servers send them or could send them, intact and damaged, compared with the JDK's parser. */
@Timeout(120)
final class ListingReaderTest {
    private static final int DOCUMENTS = 1_500;
    private static final String ODD = "<>&;#/\"'=]-!?:%+ex0 \r\n\0\u0001\u0080\u00c3\u00ff";
    private static final String SMALL = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        + "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
        + "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t+%</NextContinuationToken>"
        + "<Contents><Key>a%20b+%C3%A4</Key><LastModified>2026-02-28T23:59:58.999Z</LastModified>"
        + "<ETag>&quot;x&#34;</ETag><Size>12</Size><StorageClass>GLACIER</StorageClass><Owner><ID>me</ID></Owner></Contents><CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes><!--"
        + " c --></ListBucketResult>";

    @Test
    void read_page_hasAllThatItSays() throws Exception {
        ListPage page = read(SMALL.getBytes(UTF_8));

        assertThat(page)
                .isEqualTo(new ListPage(
                        List.of(new StoredObject(
                                new ObjectVersion("a b ä", "\"x\"", 12, Instant.parse("2026-02-28T23:59:58Z")),
                                "GLACIER")),
                        List.of("p/"),
                        "t+%"));
    }

    @Test
    void read_cutAnywhere_isRefused() {
        byte[] whole = SMALL.getBytes(UTF_8);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> read(cut)).as("%s bytes", length).isInstanceOf(UnreadableListingException.class);
        }
    }

    @Test
    void read_anyByteChanged_isWhatTheJdkReadsOrRefused() {
        byte[] whole = SMALL.getBytes(UTF_8);
        for (int at = 0; at < whole.length; at++) {
            for (int odd = 0; odd < ODD.length(); odd++) {
                byte[] changed = whole.clone();
                changed[at] = (byte) ODD.charAt(odd);
                check(changed);
            }
        }
    }

    @Test
    void read_randomPages_areWhatTheJdkReads() {
        Seeded.check(DOCUMENTS, random -> {
            byte[] document = new ListingDocuments(random).page();
            assertThat(read(document)).isNotNull().isEqualTo(oracle(document));
        });
    }

    @Test
    void read_randomPagesDamaged_areWhatTheJdkReadsOrRefused() {
        Seeded.check(DOCUMENTS / 3, random -> {
            byte[] document = new ListingDocuments(random).page();
            for (int i = 0; i < 20; i++) {
                check(damaged(document, random));
            }
        });
    }

    @Test
    void read_whatMayNotBe_isRefused() {
        assertRefused("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "no continuation token");
        assertRefused("<ListBucketResult><IsTruncated>yes</IsTruncated></ListBucketResult>", "neither true nor false");
        assertRefused("<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>", "without key, size");
        assertRefused("<ListBucketResult></ListBucketResult><a/>", "malformed XML at byte 39");
        assertRefused("<!DOCTYPE x><ListBucketResult/>", "neither an element nor text");
        assertRefused("<ListBucketResult>" + "<a>".repeat(100_000), "levels");
        assertRefused(
                "<ListBucketResult><EncodingType>url</EncodingType><CommonPrefixes><Prefix>%4</Prefix></CommonPrefixes>"
                        + "</ListBucketResult>",
                "not encoded");
    }

    /** Otherwise each element would search all prefixes and attributes. */
    @Test
    void read_manyPrefixesOrAttributes_isRefusedAtOnce() {
        StringBuilder prefixes = new StringBuilder();
        StringBuilder attributes = new StringBuilder();
        for (int i = 0; i < 400_000; i++) {
            prefixes.append(" xmlns:p").append(i).append("='u'");
            attributes.append(" a").append(i).append("=''");
        }
        String elements = "<a/>".repeat(1_000_000) + "</ListBucketResult>";

        assertRefused("<ListBucketResult" + prefixes + ">" + elements, "a tag or text of more");
        assertRefused("<ListBucketResult" + attributes + ">" + elements, "a tag or text of more");
        assertRefused(
                "<ListBucketResult" + prefixes.substring(0, prefixes.indexOf(" xmlns:p17=")) + ">" + elements,
                "more than 16 attributes");
    }

    @Test
    void read_interruptedInALongPage_ends() {
        Thread.currentThread().interrupt();

        assertRefused(
                "<ListBucketResult>" + "<a/>".repeat(1_000_000) + "</ListBucketResult>", "abandoned by its reader");
        assertThat(Thread.interrupted()).isTrue(); // left for the caller
    }

    @Test
    void read_keysThatAreNotUtf8_areTwoWithHalvesOfSurrogatePairs() throws Exception {
        String key = "</Key><LastModified>2026-02-28T23:59:58Z</LastModified><Size>1</Size></Contents>";
        ListPage page =
                requireNonNull(read(("<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>raw/%FF%FE" + key
                                + "<Contents><Key>raw/%FE%C3%A4%E2%82" + key + "</ListBucketResult>")
                        .getBytes(UTF_8)));

        assertThat(page.objects())
                .extracting(object -> object.version().key())
                .containsExactly("raw/\udcff\udcfe", "raw/\udcfeä\udce2\udc82");
    }

    @Test
    void read_anotherDocument_isNone() throws Exception {
        assertThat(read("<Error><Code>InternalError</Code></Error>".getBytes(UTF_8)))
                .isNull();
    }

    @Test
    void read_namesNotSaidToBeEncoded_areAsTheyAre() throws Exception {
        ListPage page =
                read("<ListBucketResult><CommonPrefixes><Prefix>a+b%20%/</Prefix></CommonPrefixes></ListBucketResult>"
                        .getBytes(UTF_8));

        assertThat(page).isNotNull();
        assertThat(page.commonPrefixes()).containsExactly("a+b%20%/");
    }

    private static void assertRefused(String document, String why) {
        assertThatThrownBy(() -> read(document.getBytes(UTF_8)))
                .isInstanceOf(UnreadableListingException.class)
                .hasMessageContaining(why);
    }

    private static @Nullable ListPage read(byte[] document) throws UnreadableListingException {
        return ListingReader.read(document);
    }

    private static void check(byte[] document) {
        ListPage page;
        try {
            page = read(document);
        } catch (UnreadableListingException _) {
            return;
        }
        if (page != null) {
            ListPage expected;
            try {
                expected = oracle(document);
            } catch (XMLStreamException | IllegalArgumentException | DateTimeException | NullPointerException e) {
                throw new AssertionError("taken though the JDK refuses it: " + new String(document, UTF_8), e);
            }
            assertThat(flat(page)).as(new String(document, UTF_8)).isEqualTo(flat(requireNonNull(expected)));
        }
    }

    /** The JDK has one replacement character for several bytes that are not UTF-8. */
    private static String flat(ListPage page) {
        return page.toString().replaceAll("[\\x{dc80}-\\x{dcff}\\x{fffd}]+", "?");
    }

    private static byte[] damaged(byte[] document, RandomGenerator random) {
        int at = random.nextInt(document.length);
        int to = Math.min(document.length, at + random.nextInt(random.nextBoolean() ? 4 : 40));
        ByteArrayOutputStream damaged = new ByteArrayOutputStream();
        damaged.write(document, 0, at);
        switch (random.nextInt(5)) {
            case 0 -> damaged.write(random.nextInt(256));
            case 1 -> damaged.write(document, at, to - at); // duplicated
            case 2 -> damaged.write(ODD.charAt(random.nextInt(ODD.length())));
            case 3 -> at = to; // removed
            default -> {
                int from = random.nextInt(document.length);
                damaged.write(document, from, Math.min(to - at, document.length - from));
            }
        }
        int rest = Math.min(document.length, at + random.nextInt(2));
        damaged.write(document, rest, document.length - rest);
        return damaged.toByteArray();
    }

    /** An element; {@code text} excludes that of its children. */
    private record Element(String name, List<Element> children, String text) {
        List<Element> all(String child) {
            return children.stream().filter(c -> c.name().equals(child)).toList();
        }

        @Nullable
        String textOf(String child) {
            List<Element> found = all(child);
            return found.isEmpty() ? null : found.getFirst().text();
        }
    }

    /** The page according to the JDK's parser; null if the document is not a page. */
    private static @Nullable ListPage oracle(byte[] document) throws XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newInstance();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(document));
        while (reader.next() != XMLStreamConstants.START_ELEMENT) {
            // before the root element
        }
        Element root = element(reader);
        while (reader.hasNext()) {
            reader.next();
        }
        if (!root.name().equals("ListBucketResult")) {
            return null;
        }
        boolean encoded = "url".equals(root.textOf("EncodingType"));
        List<StoredObject> objects = new ArrayList<>();
        for (Element object : root.all("Contents")) {
            String storageClass = object.textOf("StorageClass");
            objects.add(new StoredObject(
                    new ObjectVersion(
                            name(object.textOf("Key"), encoded),
                            ResponseValues.etag(object.textOf("ETag")),
                            Long.parseLong(object.textOf("Size")),
                            DateUtils.parseIso8601Date(object.textOf("LastModified"))
                                    .truncatedTo(ChronoUnit.SECONDS)),
                    storageClass == null ? "STANDARD" : storageClass));
        }
        List<String> prefixes = root.all("CommonPrefixes").stream()
                .flatMap(p -> p.all("Prefix").stream())
                .map(p -> name(p.text(), encoded))
                .toList();
        String truncated = root.textOf("IsTruncated");
        return new ListPage(
                objects,
                prefixes,
                truncated != null && truncated.strip().equalsIgnoreCase("true")
                        ? root.textOf("NextContinuationToken")
                        : null);
    }

    private static String name(@Nullable String text, boolean encoded) {
        if (text == null) {
            throw new IllegalArgumentException("no name");
        }
        return encoded ? SdkHttpUtils.urlDecode(text) : text;
    }

    private static Element element(XMLStreamReader reader) throws XMLStreamException {
        String name = reader.getLocalName();
        List<Element> children = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        while (true) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> children.add(element(reader));
                case XMLStreamConstants.END_ELEMENT -> {
                    return new Element(name, children, text.toString());
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA, XMLStreamConstants.SPACE ->
                    text.append(reader.getText());
                default -> {}
            }
        }
    }
}
