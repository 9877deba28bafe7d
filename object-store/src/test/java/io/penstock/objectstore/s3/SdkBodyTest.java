package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

final class SdkBodyTest {
    /** A body that is resumed shortly before the end of a page. */
    @Test
    void read_moreThanAtFirst_isReadAtOnce() throws Exception {
        GetObjectResponse.Builder response = GetObjectResponse.builder();
        response.sdkHttpResponse(SdkHttpResponse.builder().statusCode(206).build());
        ObjectBody body = SdkBody.LEFT_OPEN.transform(
                response.build(), AbortableInputStream.create(new ByteArrayInputStream(new byte[1010])));
        ByteBuffer target = ByteBuffer.allocateDirect(1010);

        assertThat(body.read(target, 10)).isEqualTo(10);
        assertThat(body.read(target, 1000)).isEqualTo(1000);

        assertThat(target.position()).isEqualTo(1010);
    }
}
