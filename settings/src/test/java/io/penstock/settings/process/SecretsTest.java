package io.penstock.settings.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "invalid value 'http://user:S3cr3t@proxy:3128', x | invalid value 'http://***@proxy:3128', x",
                "https://S3cr3t@host/path | https://***@host/path",
                "http://user:a/b?c#S3cr3t@host:1 | http://***@host:1",
                "http://user:@S3cr3t@host | http://***@host",
                "invalid value 'user:S3cr3t@proxy:3128' | invalid value '***@proxy:3128'",
                "https://h/k?X-Amz-Credential=AK&X-Amz-Signature=ab12&X-Amz-Date=1 |"
                        + " https://h/k?X-Amz-Credential=***&X-Amz-Signature=***&X-Amz-Date=1",
                "https://h/k?x-amz-security-token=a%2Fb+c== | https://h/k?x-amz-security-token=***",
                "https://otlp/v1?key=S3cr3t&a=1 | https://otlp/v1?key=***&a=1",
                "-o: option 's3_secret_key=abc': no | -o: option 's3_secret_key=***': no",
                "AWS_SECRET_ACCESS_KEY=abc,x | AWS_SECRET_ACCESS_KEY=***,x"
            })
    void hidden_secretsInUrlsAndParameters_areStars(String text, String shown) {
        assertThat(Secrets.hidden(text)).isEqualTo(shown);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "s3://bucket/a@b.txt is mounted on /mnt/bucket@x",
                "http://127.0.0.1:9000/bucket/a@b",
                "/var/log/penstock/data@mnt-x.log",
                "write key=value for each setting",
                "?continuation-token=abc&max-keys=1",
                "2026-11-28T22:50:00 user@host",
                "0123456789abcdef0123456789abcdef01234567"
            })
    void hidden_textWithoutSecrets_isLeftAlone(String text) {
        assertThat(Secrets.hiddenInInput(text)).isEqualTo(text);
    }

    @Test
    void hiddenInInput_aSecretKey_isStars() {
        assertThat(Secrets.hiddenInInput("invalid value 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'"))
                .isEqualTo("invalid value '***'");
    }
}
