package io.penstock.embeddeds3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testing.Seeded;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SyntheticListingTest {
    private static final int SETS = 60;
    private static final int REQUESTS_OF_A_SET = 20;
    private static final List<String> DELIMITERS =
            List.of("", "", "/", "/", "0", "00", "1/", ".jpg", "g", "imgs/", "x", "é");

    @Test
    void pages_ofRandomRequests_areThoseOfANaiveListing() {
        Seeded.check(SETS, random -> {
            int count = 1 + random.nextInt(2_500);
            SyntheticObjects objects = new SyntheticObjects(count, 1 + random.nextInt(300));
            List<String> keys =
                    LongStream.range(0, count).mapToObj(objects::key).toList();
            assertThat(keys).isSorted();
            for (int i = 0; i < REQUESTS_OF_A_SET; i++) {
                String delimiter = DELIMITERS.get(random.nextInt(DELIMITERS.size()));
                String prefix = random.nextBoolean() ? "" : text(keys, random);
                String startAfter = random.nextBoolean() ? "" : text(keys, random);
                int maxKeys = random.nextBoolean() ? 1000 : 1 + random.nextInt(40);
                assertThat(pages(objects, prefix, delimiter, startAfter, maxKeys))
                        .as("prefix '%s', delimiter '%s', start-after '%s'", prefix, delimiter, startAfter)
                        .isEqualTo(chunks(naive(keys, prefix, delimiter, startAfter), maxKeys));
            }
        });
    }

    /** The beginning of a key, or a text close to one. */
    private static String text(List<String> keys, RandomGenerator random) {
        String key = keys.get(random.nextInt(keys.size()));
        String beginning = key.substring(0, random.nextInt(key.length() + 1));
        return switch (random.nextInt(6)) {
            case 0 -> beginning + "é";
            case 1 -> beginning + (char) random.nextInt(' ', 127);
            case 2 -> key + "/";
            default -> beginning;
        };
    }

    private static List<String> naive(List<String> keys, String prefix, String delimiter, String startAfter) {
        Set<String> items = new LinkedHashSet<>();
        for (String key : keys) {
            int at = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
            String item = at < 0 ? key : key.substring(0, at + delimiter.length());
            if (key.startsWith(prefix) && item.compareTo(startAfter) > 0) {
                items.add(item);
            }
        }
        return List.copyOf(items);
    }

    /** An empty listing has one page. */
    private static List<List<String>> chunks(List<String> items, int size) {
        List<List<String>> chunks = new ArrayList<>();
        for (int from = 0; from < Math.max(1, items.size()); from += size) {
            chunks.add(items.subList(from, Math.min(from + size, items.size())));
        }
        return chunks;
    }

    private static List<List<String>> pages(
            SyntheticObjects objects, String prefix, String delimiter, String startAfter, int maxKeys)
            throws Exception {
        Map<String, String> request = new LinkedHashMap<>();
        request.put("prefix", prefix);
        request.put("delimiter", delimiter);
        request.put("start-after", startAfter);
        request.put("max-keys", Integer.toString(maxKeys));
        List<List<String>> pages = new ArrayList<>();
        String token = "";
        while (token != null) {
            request.put("continuation-token", token);
            ReceivedPage page = page(objects, request);
            pages.add(page.items());
            token = page.nextToken();
        }
        return pages;
    }

    private static ReceivedPage page(SyntheticObjects objects, Map<String, String> parameters) throws Exception {
        ByteArrayOutputStream document = new ByteArrayOutputStream();
        for (byte[] piece : new SyntheticListing(objects, query(parameters)).document()) {
            document.writeBytes(piece);
        }
        return ReceivedPage.parse(document.toByteArray());
    }

    private static Query query(Map<String, String> parameters) throws Refusal {
        StringBuilder uri = new StringBuilder("http://127.0.0.1/made-up?list-type=2");
        parameters.forEach(
                (name, value) -> uri.append('&').append(name).append('=').append(URLEncoder.encode(value, UTF_8)));
        return Query.of(URI.create(uri.toString()));
    }

    @Test
    void object_onAPage_isAsItsNumberSays() throws Exception {
        SyntheticObjects objects = new SyntheticObjects(100_000_000, 10_000);
        long number = 76_543_210;
        ReceivedPage page = page(objects, Map.of("start-after", objects.key(number - 1), "max-keys", "1"));
        assertThat(page.texts("Key")).containsExactly("imgs/07654/076543210.jpg");
        assertThat(page.texts("ETag")).containsExactly(objects.etag(number));
        assertThat(page.texts("Size")).containsExactly(Integer.toString(objects.size(number)));
        assertThat(page.texts("LastModified"))
                .containsExactly(objects.lastModified(number).toString().replace("Z", ".000Z"));
    }

    @Test
    void folders_ofAVeryLargeBucket_areListedByTheThousand() throws Exception {
        ReceivedPage page =
                page(new SyntheticObjects(100_000_000, 10_000), Map.of("prefix", "imgs/", "delimiter", "/"));
        assertThat(page.commonPrefixes())
                .hasSize(1000)
                .startsWith("imgs/00000/")
                .endsWith("imgs/00999/");
    }

    @Test
    void parameters_thatXmlCannotHold_areRepeatedEncoded() throws Exception {
        ReceivedPage page = page(new SyntheticObjects(3, 3), Map.of("prefix", "a b/\u0001<é", "encoding-type", "url"));
        assertThat(page.texts("EncodingType")).containsExactly("url");
        assertThat(page.texts("Prefix")).containsExactly("a+b/%01%3C%C3%A9");
    }

    @Test
    void parameters_withMarkup_areEscaped() throws Exception {
        ReceivedPage page = page(new SyntheticObjects(3, 3), Map.of("prefix", "</Prefix>&\""));
        assertThat(page.texts("Prefix")).containsExactly("</Prefix>&\"");
    }

    @Test
    void maxKeys_ofZero_isAnEmptyPageAndTheLast() throws Exception {
        ReceivedPage page = page(new SyntheticObjects(3, 3), Map.of("max-keys", "0"));
        assertThat(page.items()).isEmpty();
        assertThat(page.nextToken()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"max-keys=many", "max-keys=-1", "continuation-token=4", "encoding-type=base64"})
    void parameter_thatIsWrong_isRefused(String parameter) throws Exception {
        Query query = Query.of(URI.create("http://127.0.0.1/made-up?list-type=2&" + parameter));
        assertThatThrownBy(() -> new SyntheticListing(new SyntheticObjects(3, 3), query))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining(parameter.replaceAll("=.*", ""));
    }
}
