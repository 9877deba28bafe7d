package io.penstock.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** The output of commands for other programs. */
final class JsonText {
    private static final ObjectMapper MAPPER = JsonMapper.builder().build();

    private JsonText() {}

    /** A line for records, maps, lists, texts and numbers. */
    static String of(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
