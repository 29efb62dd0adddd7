import io.github.jopenlibs.vault.Vault;
import io.github.jopenlibs.vault.VaultConfig;
import io.github.jopenlibs.vault.VaultException;
import io.github.jopenlibs.vault.api.Auth.TokenRequest;
import io.github.jopenlibs.vault.api.pki.CredentialFormat;
import io.github.jopenlibs.vault.api.pki.RoleOptions;
import io.github.jopenlibs.vault.api.sys.mounts.MountPayload;
import io.github.jopenlibs.vault.api.sys.mounts.MountType;
import io.github.jopenlibs.vault.api.sys.mounts.TimeToLive;
import io.github.jopenlibs.vault.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Calls of the published Java driver, unmodified, against the server that the environment names. Each line is what a
 * user of the driver writes. Prints "done" at the end; an exception is a failure.
 */
public class Scenario {
  private static final String ADDRESS = System.getenv("SERVER_ADDRESS");
  private static final String[] SHARES = System.getenv("SERVER_SHARES").split(",");
  private static final Vault ROOT = connect(System.getenv("SERVER_TOKEN"));

  private interface Call {
    void run() throws VaultException;
  }

  private static Vault connect(String token) {
    try {
      return Vault.create(new VaultConfig().address(ADDRESS).token(token).build(), 1);
    } catch (VaultException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void same(Object found, Object expected) {
    if (!expected.equals(found)) {
      throw new AssertionError("found " + found + ", expected " + expected);
    }
  }

  private static void refused(int status, Call call) {
    try {
      call.run();
    } catch (VaultException refusal) {
      same(refusal.getHttpStatusCode(), status);
      return;
    }
    throw new AssertionError("was not refused");
  }

  private static void mounts() throws VaultException {
    var hours = TimeToLive.of(8760, TimeUnit.HOURS);
    var payload = new MountPayload().maxLeaseTtl(hours).description("of the tour");
    ROOT.mounts().enable("tour", MountType.PKI, payload);
    var mount = ROOT.mounts().list().getMounts().get("tour/");
    same(mount.getType(), MountType.PKI);
    same(mount.getDescription(), "of the tour");
    ROOT.mounts().tune("tour", new MountPayload().description("tuned"));
    same(ROOT.mounts().read("tour").getMount().getConfig().getMaxLeaseTtl(), 8760 * 3600);
  }

  private static Vault limitedToken() throws VaultException {
    var rules = "path \"tour/issue/web\" { capabilities = [\"create\", \"update\"] }";
    ROOT.logical().write("sys/policy/issuer", Map.of("policy", rules));
    var request = new TokenRequest().polices(List.of("issuer")).ttl("1h").displayName("java");
    var created = ROOT.auth().createToken(request);
    same(created.getAuthPolicies(), List.of("default", "issuer"));
    var limited = connect(created.getAuthClientToken());
    same(limited.auth().lookupSelf().getDisplayName(), "token-java");
    same(limited.auth().renewSelf(7200).getAuthLeaseDuration(), 7200L);
    return limited;
  }

  private static void certificates(Vault limited) throws VaultException {
    var root = Map.<String, Object>of("common_name", "Root", "key_type", "ec", "ttl", "700h");
    ROOT.logical().write("tour/root/generate/internal", root);
    var options = new RoleOptions().allowedDomains(List.of("example.com")).allowSubdomains(true);
    ROOT.pki("tour").createOrUpdateRole("web", options.maxTtl("72h").keyType("rsa").keyBits(2048L));
    same(ROOT.pki("tour").getRole("web").getRoleOptions().getMaxTtl(), "259200");
    same(ROOT.logical().list("tour/roles").getListData(), List.of("web"));
    var names = List.of("api.example.com");
    var format = CredentialFormat.PEM;
    var issued = limited.pki("tour").issue("web", "shop.example.com", names, null, "2h", format);
    same(issued.getCredential().getPrivateKeyType(), "rsa");
    refused(400, () -> limited.pki("tour").issue("web", "other.example", null, null, "2h", format));
    refused(403, () -> limited.pki("tour").revoke(issued.getCredential().getSerialNumber()));
    ROOT.pki("tour").revoke(issued.getCredential().getSerialNumber());
    ROOT.pki("tour").deleteRole("web");
    same(ROOT.logical().read("tour/roles/web").getRestResponse().getStatus(), 404);
  }

  private static void wrapping() throws VaultException {
    var wrapped = ROOT.sys().wrapping().wrap(new JsonObject().add("note", "for you"), 60);
    same(ROOT.sys().wrapping().lookupWrap(wrapped.getToken()).getData().get("creation_ttl"), "60");
    var again = ROOT.sys().wrapping().rewrap(wrapped.getToken());
    var read = connect(again.getToken()).auth().unwrap().getData();
    same(read.get("note").asString(), "for you");
    refused(400, () -> connect(again.getToken()).auth().unwrap());
  }

  private static void sealing() throws VaultException {
    ROOT.seal().seal();
    same(ROOT.seal().sealStatus().getSealed(), true);
    same(ROOT.seal().unseal(SHARES[0]).getProgress(), 1L);
    ROOT.seal().unseal(SHARES[1]);
    same(ROOT.seal().unseal(SHARES[2]).getSealed(), false);
  }

  public static void main(String[] args) throws VaultException {
    same(ROOT.debug().health().getInitialized(), true);
    mounts();
    var limited = limitedToken();
    certificates(limited);
    wrapping();
    limited.auth().revokeSelf();
    refused(403, () -> limited.auth().lookupSelf());
    ROOT.mounts().disable("tour");
    sealing();
    System.out.println("done");
  }
}
