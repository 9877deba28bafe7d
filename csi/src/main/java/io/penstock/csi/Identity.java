package io.penstock.csi;

import java.util.Map;

/** With which credentials a volume is mounted. Volumes of different identities never share a mount. */
sealed interface Identity {
    /** Part of the mount's key. Without secrets. */
    String name();

    /** The content of the mount's files with credentials, by their names. */
    Map<String, String> files();

    /**
     * Variables of the mount's environment. Those of the driver that have credentials are removed, unless they are wanted.
     *
     * @param folder of the files, and a slash
     */
    Map<String, String> environment(String folder);

    /** Whatever the driver has: a role of the node, or its own environment. */
    record OfDriver() implements Identity {
        @Override
        public String name() {
            return "driver";
        }

        @Override
        public Map<String, String> files() {
            return Map.of();
        }

        @Override
        public Map<String, String> environment(String folder) {
            return Map.of();
        }
    }

    /** A secret of Kubernetes. */
    record OfSecret(String accessKey, String secretKey, String sessionToken) implements Identity {
        @Override
        public String name() {
            return "secret " + Digest.of(accessKey, secretKey, sessionToken);
        }

        @Override
        public Map<String, String> files() {
            return Map.of(
                    "credentials",
                    "[default]\naws_access_key_id = " + accessKey + "\naws_secret_access_key = " + secretKey + "\n"
                            + (sessionToken.isEmpty() ? "" : "aws_session_token = " + sessionToken + "\n"));
        }

        @Override
        public Map<String, String> environment(String folder) {
            return Map.of(
                    "AWS_SHARED_CREDENTIALS_FILE", folder + "credentials",
                    "AWS_CONFIG_FILE", "/dev/null",
                    "AWS_EC2_METADATA_DISABLED", "true");
        }

        @Override
        public String toString() {
            return "a secret";
        }
    }

    /**
     * The service account of a pod, in the role that its token may assume.
     *
     * @param account its namespace and name
     * @param token renewed by kubelet before it expires
     */
    record OfPod(String account, String role, String token) implements Identity {
        @Override
        public String name() {
            return "pod " + account + " " + role;
        }

        @Override
        public Map<String, String> files() {
            return Map.of("token", token);
        }

        @Override
        public Map<String, String> environment(String folder) {
            return Map.of(
                    "AWS_WEB_IDENTITY_TOKEN_FILE", folder + "token",
                    "AWS_ROLE_ARN", role,
                    "AWS_ROLE_SESSION_NAME", "penstock-csi",
                    "AWS_SHARED_CREDENTIALS_FILE", "/dev/null",
                    "AWS_CONFIG_FILE", "/dev/null",
                    "AWS_EC2_METADATA_DISABLED", "true");
        }

        @Override
        public String toString() {
            return "the service account " + account;
        }
    }
}
