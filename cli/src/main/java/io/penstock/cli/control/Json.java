package io.penstock.cli.control;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** How requests and responses are written and read. */
final class Json {
    static final ObjectMapper MAPPER = JsonMapper.builder()
            // A mount of another version may say more than is known here.
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private Json() {}
}
