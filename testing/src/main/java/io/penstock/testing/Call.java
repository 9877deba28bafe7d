package io.penstock.testing;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.ListRequest;

/** One call of an object store, as tests name it. */
public sealed interface Call {
    /** A range GET of one version. */
    record Get(String key, ByteRange range, String etag) implements Call {
        @Override
        public String toString() {
            return "GET " + key + " " + range.offset() + "+" + range.length();
        }
    }

    /** A HEAD. */
    record Head(String key) implements Call {
        @Override
        public String toString() {
            return "HEAD " + key;
        }
    }

    /** One page of a listing. */
    record List(ListRequest request) implements Call {
        @Override
        public String toString() {
            return "LIST " + request;
        }
    }

    /** Whether this is a GET of this key; a predicate for holding and failing calls. */
    default boolean isGetOf(String key) {
        return this instanceof Get get && get.key().equals(key);
    }
}
