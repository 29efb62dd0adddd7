import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/** A control plane for the tests of a Java project, from the plain image. */
public class Example {
  public static void main(String[] arguments) throws Exception {
    String image = arguments.length > 0 ? arguments[0] : "keelson:dev";
    try (GenericContainer<?> keelson = new GenericContainer<>(image)) {
      keelson
          .withExposedPorts(8200)
          .waitingFor(
              Wait.forLogMessage(".*Keelson is up.*", 1)
                  .withStartupTimeout(Duration.ofMinutes(3)))
          .start();
      String base = "http://" + keelson.getHost() + ":" + keelson.getMappedPort(8200);
      // The tokens of the first start.
      String file = keelson.execInContainer("cat", "/data/first-run.json").getStdout();
      JsonNode facts = new ObjectMapper().readTree(file);

      HttpResponse<String> mounted =
          send(
              HttpRequest.newBuilder(URI.create(base + "/v1/sys/mounts/pki"))
                  .header("X-Vault-Token", facts.get("root_token").asText())
                  .POST(BodyPublishers.ofString("{\"type\":\"pki\"}")));
      HttpResponse<String> account =
          send(
              HttpRequest.newBuilder(URI.create(base + "/api/v2/account/details"))
                  .header("Authorization", "Bearer " + facts.get("api_token").asText()));
      JsonNode attributes = new ObjectMapper().readTree(account.body()).at("/data/attributes");
      System.out.println(mounted.statusCode() + " " + attributes.get("username").asText());
    }
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
  }
}
