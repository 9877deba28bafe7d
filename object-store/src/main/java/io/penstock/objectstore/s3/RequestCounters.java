package io.penstock.objectstore.s3;

import static java.util.Objects.requireNonNull;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;

/** Counts requests: the SDK's, as its interceptor, and direct ones. Safe for use by any number of threads. */
final class RequestCounters implements ExecutionInterceptor {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int UNAVAILABLE = 503;

    enum Kind {
        GET,
        HEAD,
        LIST,
        PUT,
        DELETE;

        static Kind of(SdkHttpRequest request) {
            Map<String, ?> query = request.rawQueryParameters();
            return switch (request.method()) {
                case HEAD -> HEAD;
                case DELETE -> DELETE;
                case POST -> query.containsKey("delete") ? DELETE : PUT;
                case GET -> isListing(query) ? LIST : GET;
                default -> PUT;
            };
        }

        private static boolean isListing(Map<String, ?> query) {
            return query.containsKey("list-type") || query.containsKey("uploads") || query.containsKey("uploadId");
        }
    }

    private final Map<Kind, LongAdder> sent = new EnumMap<>(Kind.class);
    private final LongAdder retries = new LongAdder();
    private final LongAdder throttled = new LongAdder();

    RequestCounters() {
        for (Kind kind : Kind.values()) {
            sent.put(kind, new LongAdder());
        }
    }

    void sent(Kind kind) {
        requireNonNull(sent.get(kind)).increment();
    }

    void responded(int status) {
        if (status == TOO_MANY_REQUESTS || status == UNAVAILABLE) {
            throttled.increment();
        }
    }

    void retried() {
        retries.increment();
    }

    RequestStatistics snapshot() {
        return new RequestStatistics(
                sum(Kind.GET),
                sum(Kind.HEAD),
                sum(Kind.LIST),
                sum(Kind.PUT),
                sum(Kind.DELETE),
                retries.sum(),
                throttled.sum());
    }

    private long sum(Kind kind) {
        return requireNonNull(sent.get(kind)).sum();
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        sent(Kind.of(context.httpRequest()));
    }

    @Override
    public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
        responded(context.httpResponse().statusCode());
    }
}
