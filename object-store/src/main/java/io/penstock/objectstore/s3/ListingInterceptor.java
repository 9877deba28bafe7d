package io.penstock.objectstore.s3;

import io.penstock.core.Printable;
import io.penstock.objectstore.ListPage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;

/**
 * Reads the pages of listings instead of the SDK, because parsing their XML is most of a listing's cost. The SDK still
 * makes and signs requests and handles redirects and errors. It gets errors unchanged, and an empty listing in place of
 * a page.
 */
final class ListingInterceptor implements ExecutionInterceptor {
    /** Twice the size of a page of 1,000 keys of 1,024 bytes, each byte encoded, with all their attributes. */
    private static final int LARGEST_PAGE = 16 << 20;

    private static final byte[] NO_PAGE = {'<', 'L', '/', '>'};
    private static final ExecutionAttribute<Listing> LISTING = new ExecutionAttribute<>("penstock.Listing");

    /** Receives the page of a request. Confined to the thread that makes the request. */
    static final class Listing {
        private final String prefix;
        private @Nullable ListPage page;

        /** @param prefix for messages */
        Listing(String prefix) {
            this.prefix = prefix;
        }

        void addTo(ListObjectsV2Request.Builder request) {
            request.overrideConfiguration(override -> override.putExecutionAttribute(LISTING, this));
        }

        /** @throws SdkClientException if no page has arrived */
        ListPage page() {
            if (page == null) {
                throw failure(new UnreadableListingException("it is not a listing"));
            }
            return page;
        }

        private SdkClientException failure(IOException cause) {
            return SdkClientException.create(
                    "the listing of '" + Printable.text(prefix) + "' cannot be read: " + cause.getMessage(), cause);
        }
    }

    @Override
    public Optional<InputStream> modifyHttpResponseContent(
            Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
        Listing listing = attributes.getAttribute(LISTING);
        InputStream body = context.responseBody().orElse(null);
        if (listing == null || body == null || !context.httpResponse().isSuccessful()) {
            return context.responseBody();
        }
        listing.page = null;
        try (body) {
            byte[] document = body.readNBytes(LARGEST_PAGE + 1);
            if (document.length > LARGEST_PAGE) {
                throw new UnreadableListingException("it has more than " + (LARGEST_PAGE >> 20) + " MiB");
            }
            listing.page = ListingReader.read(document);
            return Optional.of(
                    listing.page == null ? new ByteArrayInputStream(document) : new ByteArrayInputStream(NO_PAGE));
        } catch (IOException e) {
            throw listing.failure(e);
        }
    }
}
