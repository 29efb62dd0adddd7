/** A standalone control plane in a container, for the test suites of Keelson's users. */
import {
  AbstractStartedContainer,
  GenericContainer,
  getContainerRuntimeClient,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';

const HTTP_PORT = 8200;
const HTTPS_PORT = 8443;
const FIRST_RUN_FILE = '/data/first-run.json';

interface FirstRun {
  readonly root_token: string;
  readonly api_token: string;
  readonly unseal_keys: readonly string[];
  /** "" when the container was given a certificate. */
  readonly ca_certificate_file: string;
}

/** Output of a command in the container. @throws Error with the output when it fails */
const read = async (container: StartedTestContainer, file: string): Promise<string> => {
  const { exitCode, output, stderr } = await container.exec(['cat', file]);
  if (exitCode !== 0) throw new Error(`${file} cannot be read in the container: ${stderr}`);
  return output;
};

/** A running container: initialized, unsealed, with an administrator of each API. */
export class StartedKeelsonContainer extends AbstractStartedContainer {
  /** Token of the root policy, for `/v1`: `X-Service-Token` (or `X-Vault-Token`). */
  readonly rootToken: string;
  /** Token of an administrator who may create organizations, for `/api/v2`: `Authorization: Bearer`. */
  readonly apiToken: string;
  /** Shares of the key, which ceremonies need. */
  readonly unsealKeys: readonly string[];
  /** CA certificate for clients of `httpsUrl`, PEM; undefined if a certificate was given. */
  readonly caCertificate: string | undefined;

  constructor(started: StartedTestContainer, facts: FirstRun, caCertificate: string | undefined) {
    super(started);
    this.rootToken = facts.root_token;
    this.apiToken = facts.api_token;
    this.unsealKeys = facts.unseal_keys;
    this.caCertificate = caCertificate;
  }

  /** "http://localhost:49153", without a path. */
  get httpUrl(): string {
    return `http://${this.getHost()}:${this.getMappedPort(HTTP_PORT)}`;
  }

  /** "https://localhost:49154", required by provisioning tools. */
  get httpsUrl(): string {
    return `https://${this.getHost()}:${this.getMappedPort(HTTPS_PORT)}`;
  }
}

/** `await new KeelsonContainer('keelson:dev').start()`; use `withEnvironment` for settings. */
export class KeelsonContainer extends GenericContainer {
  /** @param image as built by `deploy/images/build.sh` */
  constructor(image: string) {
    super(image);
    this.withExposedPorts(HTTP_PORT, HTTPS_PORT).withWaitStrategy(
      Wait.forAll([
        Wait.forHttp('/readyz', HTTP_PORT).forStatusCode(200),
        // Written as the last step of the start.
        Wait.forSuccessfulCommand(`test -f ${FIRST_RUN_FILE}`),
      ]),
    );
  }

  override async start(): Promise<StartedKeelsonContainer> {
    // The host at which tests reach containers; inside a container it is not localhost.
    const { info } = await getContainerRuntimeClient();
    const names = new Set(['localhost', '127.0.0.1', '::1', info.containerRuntime.host]);
    this.withEnvironment({
      KEELSON_TLS_NAMES: [...names].join(','),
      // A suite wants a light container that starts soon, not one for the load of an installation.
      KEELSON_WORKERS: '1',
      ...this.environment,
    });
    const started = await super.start();
    const facts = JSON.parse(await read(started, FIRST_RUN_FILE)) as FirstRun;
    const caFile = facts.ca_certificate_file;
    const caCertificate = caFile === '' ? undefined : await read(started, caFile);
    return new StartedKeelsonContainer(started, facts, caCertificate);
  }
}
