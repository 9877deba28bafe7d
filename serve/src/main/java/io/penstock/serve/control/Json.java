package io.penstock.serve.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/** Writes the output of commands as JSON. Requests and responses are written and read by the same mapper. */
public final class Json {
    static final ObjectMapper MAPPER = JsonMapper.builder()
            // A mount of another version may send properties that are unknown here.
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private Json() {}

    /** On one line. */
    public static String line(Object value) {
        return write(MAPPER.writer(), value);
    }

    /** Indented, on several lines. */
    public static String indented(Object value) {
        return write(MAPPER.writerWithDefaultPrettyPrinter(), value);
    }

    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    /** Reads a mount's response. */
    public static <T> T read(JsonNode result, Class<T> type) throws IOException {
        return MAPPER.treeToValue(result, type);
    }

    /** @param value made of records, maps, lists, strings and numbers */
    private static String write(ObjectWriter writer, Object value) {
        try {
            return writer.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
