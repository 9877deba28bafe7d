package io.penstock.objectstore.s3;

import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;

/** Credentials of a provider whose failures are distinct from those of a request. As thread-safe as the provider. */
record ExplainedCredentials(AwsCredentialsProvider provider) implements AwsCredentialsProvider {

    @Override
    public AwsCredentials resolveCredentials() {
        try {
            return provider.resolveCredentials();
        } catch (AbortedException e) {
            throw e; // an interrupt proves nothing about the credentials
        } catch (SdkException | IllegalStateException e) {
            throw new NoCredentialsException(e);
        }
    }

    /** The provider has no credentials now. */
    static final class NoCredentialsException extends SdkClientException {
        private static final long serialVersionUID = 1;

        NoCredentialsException(RuntimeException cause) {
            super(SdkClientException.builder().message(cause.getMessage()).cause(cause));
        }
    }
}
