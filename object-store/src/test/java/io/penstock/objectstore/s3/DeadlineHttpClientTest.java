package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.s3.S3Config.Limits;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;

final class DeadlineHttpClientTest {

    /** The connection pool has its own exception for this, which is not an IOException. */
    @Test
    void call_interruptedBeforeItHasAConnection_isAnIoException() {
        try (SdkHttpClient client = new DeadlineHttpClient(
                HttpClients.create(Limits.DEFAULT, TestConfigs.at(URI.create("http://127.0.0.1")), null),
                Limits.DEFAULT.readTimeout())) {
            ExecutableHttpRequest request = client.prepareRequest(HttpExecuteRequest.builder()
                    .request(SdkHttpRequest.builder()
                            .method(SdkHttpMethod.HEAD)
                            .uri(URI.create("http://127.0.0.1:9/"))
                            .build())
                    .build());

            Thread.currentThread().interrupt();

            assertThatThrownBy(request::call).isInstanceOf(IOException.class);
            assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        }
    }
}
