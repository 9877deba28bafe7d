package io.penstock.inventory;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The {@code manifest.json} of an S3 Inventory on a local disk, and the files that it lists. */
final class Manifest {
    private final Path path;

    private @Nullable String sourceBucket;
    private @Nullable String creationTimestamp;
    private @Nullable String fileFormat;
    private @Nullable String fileSchema;
    private final List<Listed> files = new ArrayList<>();

    /** @param size in bytes; negative if missing */
    private record Listed(String key, long size) {
        /** The paths, relative to the manifest, to which a file may have been copied. */
        Set<Path> candidates(Path manifest) {
            String name = key.substring(key.lastIndexOf('/') + 1);
            Path folder = manifest.toAbsolutePath().normalize().getParent();
            Set<Path> candidates = new LinkedHashSet<>();
            if (folder != null && folder.getParent() != null) {
                candidates.add(folder.getParent().resolve("data").resolve(name)); // Inventory's own layout
            }
            candidates.add(manifest.resolveSibling("data").resolve(name));
            candidates.add(manifest.resolveSibling(name));
            return candidates;
        }
    }

    private Manifest(Path path) {
        this.path = path;
    }

    /** @throws IndexException if it is not a manifest */
    static Manifest read(Path path) throws IOException {
        Manifest manifest = new Manifest(path);
        try (JsonParser json = new JsonFactory().createParser(Files.newBufferedReader(path))) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw manifest.noManifest(null);
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                manifest.readField(json);
            }
        } catch (JsonProcessingException | CharacterCodingException e) {
            throw manifest.noManifest(e);
        }
        return manifest;
    }

    private void readField(JsonParser json) throws IOException {
        String name = json.currentName();
        json.nextToken();
        switch (name) {
            case "sourceBucket" -> sourceBucket = json.getValueAsString();
            case "creationTimestamp" -> creationTimestamp = json.getValueAsString();
            case "fileFormat" -> fileFormat = json.getValueAsString();
            case "fileSchema" -> fileSchema = json.getValueAsString();
            case "files" -> readFiles(json);
            default -> json.skipChildren();
        }
    }

    private void readFiles(JsonParser json) throws IOException {
        while (json.nextToken() == JsonToken.START_OBJECT) {
            String key = null;
            long size = -1;
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                switch (name) {
                    case "key" -> key = json.getValueAsString();
                    case "size" -> size = json.getValueAsLong(-1);
                    default -> json.skipChildren();
                }
            }
            files.add(new Listed(need(key, "files.key"), size));
        }
    }

    private IndexException noManifest(@Nullable Exception e) {
        return new IndexException(
                "'" + path
                        + "' is neither a Parquet file nor a complete manifest.json of an S3 Inventory: name a file"
                        + " made by penstock index export, or copy the manifest.json again",
                e);
    }

    private String need(@Nullable String value, String name) throws IndexException {
        if (value == null) {
            throw new IndexException("'" + path + "' is not the manifest.json of an S3 Inventory: it has no " + name);
        }
        return value;
    }

    String sourceBucket() throws IndexException {
        return need(sourceBucket, "sourceBucket");
    }

    /** When Inventory began to list. */
    Instant created() throws IndexException {
        String millis = need(creationTimestamp, "creationTimestamp");
        try {
            return Instant.ofEpochMilli(Long.parseLong(millis));
        } catch (NumberFormatException e) {
            throw new IndexException(
                    "'" + path + "' has the creationTimestamp '" + millis + "', which is not a number of"
                            + " milliseconds",
                    e);
        }
    }

    /** The files that it lists, all of which exist. */
    List<IndexFile> files() throws IOException {
        String format = need(fileFormat, "fileFormat");
        List<IndexFile> found = new ArrayList<>();
        for (Listed file : files) {
            Path local = find(file);
            found.add(
                    switch (format) {
                        case "CSV" -> new IndexFile.Csv(local, columns());
                        case "Parquet" -> new IndexFile.Parquet(local);
                        default ->
                            throw new IndexException("the files of '" + path + "' are " + format
                                    + ", which Penstock does not read: configure the Inventory to write"
                                    + " Parquet or CSV");
                    });
        }
        return found;
    }

    private List<String> columns() throws IndexException {
        return Arrays.stream(need(fileSchema, "fileSchema").split(",", -1))
                .map(String::strip)
                .toList();
    }

    private Path find(Listed file) throws IOException {
        Set<Path> candidates = file.candidates(path);
        for (Path candidate : candidates) {
            if (Files.isRegularFile(candidate)) {
                if (file.size >= 0 && Files.size(candidate) != file.size) {
                    throw new IndexException("'" + candidate + "' has " + Files.size(candidate) + " bytes, where '"
                            + path + "' says " + file.size + ": copy it again");
                }
                return candidate;
            }
        }
        throw new IndexException("'" + file.key + "', which '" + path + "' lists, does not exist at "
                + String.join(", ", candidates.stream().map(Path::toString).toList())
                + "; copy it to one of these paths");
    }
}
