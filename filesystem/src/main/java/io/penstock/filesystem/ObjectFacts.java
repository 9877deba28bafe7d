package io.penstock.filesystem;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.penstock.cache.Residency;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PageFetcher;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The known facts about a file and its object, in one line of JSON: the value of the attribute {@link #NAME}, whose
 * fields docs/SEMANTICS.md describes. Only the checksums take a request, with a short timeout. The attribute is in no
 * list, because it changes on its own: programs that compare and copy attributes would copy all files again.
 *
 * <p>Thread-safe.
 */
final class ObjectFacts {
    static final String NAME = AttributeView.OWN + "object";

    private static final Logger log = LoggerFactory.getLogger(ObjectFacts.class);

    private static final JsonFactory JSON = new JsonFactory();

    private final PageFetcher fetcher;

    /** Those of the last requested version: getfattr(1) asks twice, first for the length. */
    private volatile @Nullable Checksums last;

    private record Checksums(ObjectVersion version, Map<String, String> byAlgorithm) {}

    ObjectFacts(PageFetcher fetcher) {
        this.fetcher = fetcher;
    }

    /** @throws ErrnoException ENODATA for a directory */
    byte[] of(Node node) throws ErrnoException {
        return switch (node) {
            case Directory _ -> throw new ErrnoException(Errno.ENODATA, "a directory has no object");
            case FileEntry(var object) ->
                json(object.version().key(), "visible", object.version().size(), object.version());
            case LiveFile live -> {
                SharedFile file = (SharedFile) live;
                yield json(file.key(), state(file), file.size(), file.version());
            }
        };
    }

    private static String state(SharedFile file) {
        return file.links() == 0 ? "removed" : file.progress().name().toLowerCase(Locale.ROOT);
    }

    /** @param version with exactly this content; null if there is none */
    private byte[] json(String key, String state, long size, @Nullable ObjectVersion version) throws ErrnoException {
        Map<String, String> checksums = version == null || state.equals("removed") ? null : checksums(version);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (JsonGenerator out = JSON.createGenerator(text)) {
            out.writeStartObject();
            out.writeStringField("bucket", fetcher.store().bucket());
            out.writeStringField("key", key);
            out.writeStringField("state", state);
            out.writeNumberField("size", size);
            if (version != null) {
                write(version, out);
            }
            if (checksums != null) {
                out.writeObjectFieldStart("checksums");
                for (Map.Entry<String, String> each : checksums.entrySet()) {
                    out.writeStringField(each.getKey(), each.getValue());
                }
                out.writeEndObject();
            }
            out.writeEndObject();
        } catch (IOException e) { // cannot happen in memory
            throw new UncheckedIOException(e);
        }
        return text.toByteArray();
    }

    private void write(ObjectVersion version, JsonGenerator out) throws IOException {
        out.writeStringField("etag", version.etag());
        out.writeStringField("modified", version.lastModified().toString());
        if (version.parts() > 0) {
            out.writeNumberField("parts", version.parts());
        }
        Residency residency = fetcher.residency(version);
        out.writeObjectFieldStart("cached");
        out.writeNumberField("nvme", residency.diskBytes());
        out.writeNumberField("memory", residency.memoryBytes());
        out.writeNumberField("share", Math.floor(1000 * residency.share()) / 1000); // 1 only if all is there
        out.writeEndObject();
        out.writeBooleanField("pinned", fetcher.isPinned(version));
    }

    /** Null if the store does not respond soon, or has another version by now. */
    private @Nullable Map<String, String> checksums(ObjectVersion version) throws ErrnoException {
        Checksums known = last;
        if (known == null || !known.version().equals(version)) {
            known = NodeResolver.askedOr(Optional.<Checksums>empty(), () -> Errnos.call(() -> ask(version)))
                    .orElse(null);
            last = known;
        }
        return known == null ? null : known.byAlgorithm();
    }

    private Optional<Checksums> ask(ObjectVersion version) throws InterruptedException {
        try {
            return Optional.of(new Checksums(version, fetcher.store().checksums(version)));
        } catch (ObjectStoreException e) {
            log.debug("The checksums of '{}' are not known", version.key(), e);
            return Optional.empty();
        }
    }
}
