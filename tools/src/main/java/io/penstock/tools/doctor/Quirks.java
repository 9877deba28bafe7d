package io.penstock.tools.doctor;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A server's differences from S3.
 *
 * @param equalParts whether the settings require parts of equal size
 */
record Quirks(boolean equalParts) {
    /**
     * How the server behaves where servers differ. A trial that was not made is null, or not in the map.
     *
     * @param ifMatchOnGet whether a GET of another version is refused
     * @param startAfter whether a listing begins after the requested key
     * @param namesKept whether a key with special characters is listed unchanged
     * @param unequalParts whether an upload may have parts of unequal size
     * @param upload how bodies must be sent for the server to accept them
     * @param gaps requests and headers that the server does not implement and Penstock does without, by their S3 names
     * @param conditions whether conditions are checked, by kind of request
     */
    record Facts(
            @Nullable Boolean ifMatchOnGet,
            @Nullable Boolean startAfter,
            @Nullable Boolean namesKept,
            @Nullable Boolean unequalParts,
            @Nullable Upload upload,
            Set<String> gaps,
            Map<String, Boolean> conditions) {}

    /** The outcome of sending a body. */
    sealed interface Upload {
        /** As configured. */
        record AsSet() implements Upload {}

        /**
         * Only with other settings.
         *
         * @param refusal the server's message for the present settings
         * @param settings such as {@code write.checksums=md5}
         */
        record Otherwise(String refusal, String settings) implements Upload {}

        /** Not at all. */
        record Refused(String refusal) implements Upload {}
    }

    void check(Facts quirks, Findings findings) {
        if (Boolean.FALSE.equals(quirks.ifMatchOnGet())) {
            findings.warning(
                    "the server ignores If-Match on GetObject",
                    "Penstock detects it by the response's ETag, but only once the whole body was sent: reads of a"
                            + " replaced object fail (EIO)",
                    "Replace objects only while no program reads them, or use another server");
        }
        if (Boolean.FALSE.equals(quirks.startAfter())) {
            findings.error(
                    "the server ignores start-after of ListObjectsV2",
                    "Large folders are listed wrongly",
                    "Set metadata.list-concurrency to 1 and metadata.preload to off, or use another server");
        }
        if (Boolean.FALSE.equals(quirks.namesKept())) {
            findings.error(
                    "the server changes special characters of keys in listings",
                    "Such files are shown under wrong names, and cannot be opened",
                    "Use plain names, or another server");
        }
        if (Boolean.FALSE.equals(quirks.unequalParts()) && !equalParts) {
            findings.warning(
                    "the server refuses uploads with parts of unequal sizes",
                    "The first upload of each mount is sent twice",
                    "Set upload.parts to equal");
        }
        switch (quirks.upload()) {
            case null -> {}
            case Upload.AsSet() -> {}
            case Upload.Otherwise(String refusal, String settings) ->
                findings.error(
                        "the server refuses uploads: " + refusal, "Closing written files fails", "Set " + settings);
            case Upload.Refused(String refusal) ->
                findings.error(
                        "the server refuses uploads: " + refusal,
                        "Closing written files fails",
                        "Mount with read-only, or use another server");
        }
        if (!quirks.gaps().isEmpty()) {
            findings.warning(
                    "the server does not implement " + String.join(", ", quirks.gaps()),
                    "Penstock works around it: it downloads and uploads what S3 would copy, and checks before a copy"
                            + " what S3 would compare, so edits and renames take longer",
                    "No action is needed, but a server that implements them is faster");
        }
        List<String> ignored = ignored(quirks.conditions());
        if (!ignored.isEmpty()) {
            findings.warning(
                    "the server ignores conditions on " + String.join(", ", ignored),
                    "A write by another node between Penstock's check and its request is lost",
                    "Let only one node write a file, or use a server that honours If-Match");
        }
        if (findings.isEmpty()) {
            findings.ok("behaves like S3" + (quirks.conditions().isEmpty() ? ", as far as reads show" : ""));
        }
    }

    private static List<String> ignored(Map<String, Boolean> conditions) {
        return conditions.entrySet().stream()
                .filter(each -> !each.getValue())
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }
}
