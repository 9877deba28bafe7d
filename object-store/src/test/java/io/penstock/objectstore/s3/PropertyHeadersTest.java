package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.ObjectProperties;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PropertyHeadersTest {
    @ParameterizedTest
    @CsvSource({
        "page.html, text/html",
        "a.b/page.HTML, text/html",
        "style.css, text/css",
        "data.json, application/json",
        "picture.png, image/png",
        "notes.txt, text/plain",
        "model.safetensors, application/octet-stream",
        "html, application/octet-stream",
        "page.html/, application/octet-stream",
        ".html.x, application/octet-stream"
    })
    void ofNew_name_givesItsType(String key, String type) {
        assertThat(ObjectProperties.ofNew(key).headers()).containsOnly(Map.entry("content-type", type));
    }

    @Test
    void of_answerToAHead_keepsWhatIsTheObjects() {
        SortedMap<String, String> headers = of(
                Map.of(
                        "Content-Type", "text/html",
                        "Content-Length", "12",
                        "ETag", "\"x\"",
                        "x-amz-request-id", "1",
                        "X-Amz-Meta-Note", "a, b",
                        "x-amz-storage-class", "STANDARD_IA"),
                false);

        assertThat(headers)
                .containsOnly(
                        Map.entry("content-type", "text/html"),
                        Map.entry("x-amz-meta-note", "a, b"),
                        Map.entry("x-amz-storage-class", "STANDARD_IA"));
    }

    @Test
    void of_whatAPutWouldBeRefusedFor_isLeftOut() {
        SortedMap<String, String> headers = of(
                Map.of(
                        "x-amz-storage-class", "WARM-TIER",
                        "x-amz-server-side-encryption", "AES256",
                        "Content-Encoding", "aws-chunked"),
                true);

        assertThat(headers).isEmpty();
    }

    @Test
    void of_encryption_isKept() {
        Map<String, String> kms = Map.of(
                "x-amz-server-side-encryption", "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id", "arn:key",
                "x-amz-server-side-encryption-bucket-key-enabled", "true");
        Map<String, String> aes = Map.of("x-amz-server-side-encryption", "AES256");

        assertThat(of(kms, true)).hasSize(3);
        assertThat(of(aes, false)).hasSize(1);
    }

    @Test
    void withoutEncoding_leavesTheRest() {
        ObjectProperties properties = new ObjectProperties(
                of(
                        Map.of(
                                "Content-Encoding", "aws-chunked, gzip",
                                "Content-Type", "text/html",
                                "x-amz-storage-class", "GLACIER"),
                        false),
                Map.of("a", "b"));

        assertThat(properties.headers()).containsEntry("content-encoding", "gzip");
        assertThat(properties.withoutEncoding().storageClass()).isEqualTo("GLACIER");
        assertThat(properties.withoutEncoding().headers()).containsOnlyKeys("content-type", "x-amz-storage-class");
        assertThat(properties.withoutEncoding().tags()).isEqualTo(properties.tags());
    }

    @ParameterizedTest
    @CsvSource({
        "application/octet-stream, page.html, text/html",
        "application/octet-stream, page.part, application/octet-stream",
        "text/x-own, page.html, text/x-own"
    })
    void renamed_typeOfTheNewName_onlyWhereNoneWasKnown(String before, String key, String after) {
        ObjectProperties properties = new ObjectProperties(new TreeMap<>(Map.of("content-type", before)), Map.of());

        assertThat(properties.renamed(key).headers()).containsEntry("content-type", after);
    }

    @Test
    void of_tags_areEncodedAsAQuery() {
        ObjectProperties properties = new ObjectProperties(new TreeMap<>(), Map.of("team name", "a&b=c", "x", "+/ü"));

        assertThat(PropertyHeaders.of(properties))
                .containsOnly(Map.entry("x-amz-tagging", "team%20name=a%26b%3Dc&x=%2B%2F%C3%BC"));
    }

    /** In the form that servers send: bytes that the client reads as ISO 8859-1. */
    @ParameterizedTest
    @CsvSource({"Ã¼, =?UTF-8?B?w7w=?=", "a ü, =?UTF-8?B?YSDDvA==?=", "=?UTF-8?B?w7w=?=, =?UTF-8?B?w7w=?="})
    void of_metadataBeyondAscii_isAnEncodedWord(String value, String sent) {
        assertThat(of(Map.of("x-amz-meta-title", value), false)).containsExactly(Map.entry("x-amz-meta-title", sent));
    }

    @Test
    void of_otherHeaderBeyondAscii_isLeftOut() {
        List<String> leftOut = new ArrayList<>();

        SortedMap<String, String> headers = PropertyHeaders.of(
                Map.of("Content-Disposition", "attachment; filename=Ã¼", "Server", "Ã¼", "Content-Type", "text/html"),
                false,
                leftOut::add);

        assertThat(headers).containsOnlyKeys("content-type");
        assertThat(leftOut).containsExactly("content-disposition");
    }

    private static SortedMap<String, String> of(Map<String, String> response, boolean isAws) {
        return PropertyHeaders.of(response, isAws, header -> {
            throw new AssertionError(header);
        });
    }
}
