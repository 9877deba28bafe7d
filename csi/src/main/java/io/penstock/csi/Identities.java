package io.penstock.csi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.grpc.Status;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads the credentials of a volume from what kubelet sends. */
final class Identities {
    static final String AUTHENTICATION = "authentication";
    static final String ROLE = "roleArn";

    /** The audience that roles of EKS expect; the CSIDriver object has it too. */
    private static final String AUDIENCE = "sts.amazonaws.com";

    private static final String TOKENS = "csi.storage.k8s.io/serviceAccount.tokens";
    private static final String ACCESS_KEY = "access_key_id";
    private static final String SECRET_KEY = "secret_access_key";
    private static final String SESSION_TOKEN = "session_token";
    private static final Pattern ARN = Pattern.compile("arn:[\\w-]+:iam::\\d*:role/[\\w+=,.@/-]+");

    /** What a line of a credentials file can hold. */
    private static final Pattern ONE_WORD = Pattern.compile("[!-~]+");

    private Identities() {}

    static Identity of(
            Map<String, String> attributes, Map<String, String> secrets, boolean inline, boolean inlineOfDriver)
            throws CallRefusal {
        String kind = attributes.getOrDefault(AUTHENTICATION, secrets.isEmpty() ? "driver" : "secret");
        if (attributes.containsKey(ROLE) && !kind.equals("pod")) {
            throw CallRefusal.invalid("the volume attribute roleArn needs authentication: pod");
        }
        return switch (kind) {
            case "driver" -> {
                if (!secrets.isEmpty()) {
                    throw CallRefusal.invalid("nodePublishSecretRef is given, but authentication: driver ignores it");
                } else if (inline && !inlineOfDriver) {
                    throw new CallRefusal(
                            Status.Code.PERMISSION_DENIED,
                            "a volume that a pod describes cannot use the driver's credentials; name a secret by"
                                    + " nodePublishSecretRef, or set authentication: pod");
                }
                yield new Identity.OfDriver();
            }
            case "secret" -> ofSecret(secrets);
            case "pod" -> ofPod(attributes, secrets);
            default -> throw CallRefusal.invalid("authentication is '" + kind + "', but must be driver, secret or pod");
        };
    }

    private static Identity ofSecret(Map<String, String> secrets) throws CallRefusal {
        Set<String> known = Set.of(ACCESS_KEY, SECRET_KEY, SESSION_TOKEN);
        for (Map.Entry<String, String> each : secrets.entrySet()) {
            if (known.contains(each.getKey())
                    && !ONE_WORD.matcher(each.getValue().strip()).matches()) {
                throw unauthenticated(
                        "the secret's " + each.getKey() + " is empty, or has a blank or a line break in it");
            }
        }
        for (String field : Set.of(ACCESS_KEY, SECRET_KEY)) {
            if (!secrets.containsKey(field)) {
                throw unauthenticated(
                        "the secret has no " + field + (secrets.isEmpty() ? "; name one by nodePublishSecretRef" : ""));
            }
        }
        return new Identity.OfSecret(
                text(secrets, ACCESS_KEY), text(secrets, SECRET_KEY), text(secrets, SESSION_TOKEN));
    }

    private static String text(Map<String, String> secrets, String field) {
        return secrets.getOrDefault(field, "").strip();
    }

    private static Identity ofPod(Map<String, String> attributes, Map<String, String> secrets) throws CallRefusal {
        if (!secrets.isEmpty()) {
            throw CallRefusal.invalid("nodePublishSecretRef is given, but authentication: pod ignores it");
        }
        String role = attributes.getOrDefault(ROLE, "");
        if (!ARN.matcher(role).matches()) {
            throw CallRefusal.invalid("authentication: pod needs the volume attribute roleArn, such as"
                    + " arn:aws:iam::123456789012:role/NAME");
        }
        String namespace = attributes.getOrDefault("csi.storage.k8s.io/pod.namespace", "");
        String account = attributes.getOrDefault("csi.storage.k8s.io/serviceAccount.name", "");
        if (namespace.isEmpty() || account.isEmpty()) {
            throw CallRefusal.invalid("kubelet did not send the pod's service account; the CSIDriver object needs"
                    + " podInfoOnMount: true");
        }
        return new Identity.OfPod(namespace + "/" + account, role, token(attributes.getOrDefault(TOKENS, "{}")));
    }

    private static String token(String tokens) throws CallRefusal {
        try {
            JsonNode token = new ObjectMapper().readTree(tokens).path(AUDIENCE).path("token");
            if (token.isTextual() && ONE_WORD.matcher(token.asText()).matches()) {
                return token.asText();
            }
        } catch (JsonProcessingException e) {
            throw unauthenticated("the tokens of the pod's service account are no JSON");
        }
        throw unauthenticated("kubelet sent no token of the pod's service account for " + AUDIENCE
                + "; the CSIDriver object needs it in tokenRequests");
    }

    private static CallRefusal unauthenticated(String sentence) {
        return new CallRefusal(Status.Code.UNAUTHENTICATED, sentence);
    }
}
