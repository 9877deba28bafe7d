package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.ConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TargetTest {
    @ParameterizedTest
    @CsvSource({
        "data, data, ''",
        "data/, data, ''",
        "s3://data, data, ''",
        "s3://data/, data, ''",
        "data/a, data, a/",
        "data/a/b/, data, a/b/",
        "s3://my-data.v2/a b, my-data.v2, a b/",
        "old_Bucket, old_Bucket, ''",
        "data-ac1b2c3d4e5f6g7h8i9j0eud9z1aa-s3alias/a, data-ac1b2c3d4e5f6g7h8i9j0eud9z1aa-s3alias, a/",
    })
    void parse_anySpelling_bucketAndPrefix(String text, String bucket, String prefix) throws ConfigurationException {
        assertThat(Target.parse(text)).isEqualTo(new Target(bucket, prefix));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/data", "s3://", "s3:///a", "http://host/data", "-x", "a", "da ta", "da~ta"})
    void parse_noBucket_refusedWithTheForms(String text) {
        assertThatThrownBy(() -> Target.parse(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("'" + text + "'")
                .hasMessageEndingWith("write BUCKET, BUCKET/PREFIX or s3://BUCKET/PREFIX");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "arn:aws:s3:eu-central-1:123456789012:accesspoint/data",
                "s3://arn:aws:s3:eu-central-1:123456789012:accesspoint/data/prefix",
                "arn:aws:s3:::data"
            })
    void parse_arn_refusedWithWhatToWriteInstead(String text) {
        assertThatThrownBy(() -> Target.parse(text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("'" + text + "' is an ARN")
                .hasMessageContaining("-s3alias");
    }

    @Test
    void source_ofParsedText_parsesToTheSame() throws ConfigurationException {
        for (String text : new String[] {"s3://data", "s3://data/a/b"}) {
            assertThat(Target.parse(text).source()).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "my bucket | its name contains ' '",
                "my$bucket/a | its name contains '$'",
                "-bucket | its name begins with '-'",
                "b | its name has 1 characters, but must have 2 to 255"
            })
    void parse_aWrongName_saysWhatIsWrongInIt(String text, String why) {
        assertThatThrownBy(() -> Target.parse(text)).hasMessageContaining(why);
    }
}
