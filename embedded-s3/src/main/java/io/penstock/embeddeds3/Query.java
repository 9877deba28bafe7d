package io.penstock.embeddeds3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.URLDecoder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The decoded address of a request.
 *
 * @param bucket empty if the address names none
 * @param key empty if the request is for the bucket
 * @param parameters by name
 */
record Query(String bucket, String key, Map<String, String> parameters) {
    static Query of(URI uri) throws Refusal {
        String path = uri.getRawPath() == null ? "/" : uri.getRawPath();
        int slash = path.indexOf('/', 1);
        String bucket = path.substring(Math.min(1, path.length()), slash < 0 ? path.length() : slash);
        String key = slash < 0 ? "" : path.substring(slash + 1);
        Map<String, String> parameters = new LinkedHashMap<>();
        String query = uri.getRawQuery();
        if (query != null && !query.isEmpty()) {
            for (String parameter : query.split("&", -1)) {
                int equals = parameter.indexOf('=');
                String name = equals < 0 ? parameter : parameter.substring(0, equals);
                parameters.put(decode(name), equals < 0 ? "" : decode(parameter.substring(equals + 1)));
            }
        }
        // In a path, a plus sign is literal.
        return new Query(decode(bucket.replace("+", "%2B")), decode(key.replace("+", "%2B")), parameters);
    }

    private static String decode(String text) throws Refusal {
        try {
            return URLDecoder.decode(text, UTF_8);
        } catch (IllegalArgumentException e) {
            throw Refusal.invalid("'" + text + "' is not encoded correctly.");
        }
    }

    /** The parameter's value; empty if it is missing. */
    String parameter(String name) {
        String value = parameters.get(name);
        return value == null ? "" : value;
    }

    /**
     * The parameter as a number; {@code otherwise} if it is missing.
     *
     * @throws Refusal if it is not a number from 0 to {@code most}
     */
    long number(String name, long otherwise, long most) throws Refusal {
        String text = parameter(name);
        if (text.isEmpty()) {
            return otherwise;
        }
        if (!text.matches("[0-9]{1,18}") || Long.parseLong(text) > most) {
            throw Refusal.invalid("The " + name + " '" + text + "' is not a number from 0 to " + most + ".");
        }
        return Long.parseLong(text);
    }

    /** The name of a parameter that is neither one of these nor part of a query signature; null if there is none. */
    @Nullable
    String other(Set<String> known) {
        return parameters.keySet().stream()
                .filter(name -> !known.contains(name) && !name.startsWith("X-Amz-"))
                .findFirst()
                .orElse(null);
    }
}
