/** The load of many clients on a primary and its performance secondary, which removes what it creates. */
import type { Answer, Cluster } from '@keelson/testkit/replication-cluster';

const ORGANIZATION = 'soak';
const CALLERS_OF_EACH = 2;
const TEXT = Buffer.from('maintenance').toString('base64');
const POLICY = 'path "pki/*" { capabilities = ["read"] }';
/** The secondary waits for two seconds, and then asks for a retry. */
const TOO_EARLY = 412;
const MAX_LOOKS = 10;

/** @throws Error for an unexpected refusal */
const done = ({ status, body }: Answer, what: string): Answer['body'] => {
  if (status >= 300) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Reads the result of a write on the cluster that forwarded it, which may lag. */
const readOwnWrite = async (
  cluster: Cluster,
  path: string,
  { headers }: Answer,
): Promise<Answer> => {
  const index = headers.get('x-service-index') ?? '';
  for (let look = 1; ; look += 1) {
    const response = await fetch(`${cluster.process().http}/v1/${path}`, {
      headers: { 'x-service-token': cluster.token, 'x-service-index': index },
    });
    const { status } = response;
    const body = await response.json();
    if (status !== TOO_EARLY || look === MAX_LOOKS)
      return { status, headers: response.headers, body };
  }
};

type Work = (key: string) => Promise<void>;

const worksOf = (primary: Cluster, secondary: Cluster): Readonly<Record<string, Work>> => {
  const issue = async (cluster: Cluster, key: string): Promise<void> => {
    const body = { common_name: `${key}.example.com`, ttl: '1h' };
    const issued = done(await cluster.v1('POST', 'pki/issue/leaf', body), 'issue');
    done(await cluster.v1('GET', `pki/cert/${issued.data.serial_number}`), 'certificate');
  };
  return {
    'certificates issued': (key) => issue(primary, key),
    'certificates issued by the secondary': (key) => issue(secondary, key),
    'workspaces made, locked and deleted': async (key) => {
      const { data } = done(
        await primary.api('POST', `organizations/${ORGANIZATION}/workspaces`, {
          data: { type: 'workspaces', attributes: { name: key } },
        }),
        'workspace',
      );
      const path = `workspaces/${data.id}`;
      done(await primary.api('POST', `${path}/actions/lock`, { reason: 'soak' }), 'lock');
      done(await primary.api('GET', path), 'show');
      const list = `organizations/${ORGANIZATION}/workspaces?search[name]=${key}`;
      done(await primary.api('GET', list), 'list');
      done(await primary.api('POST', `${path}/actions/unlock`), 'unlock');
      done(await primary.api('DELETE', path), 'delete');
    },
    'messages made and deleted': async (key) => {
      const { data } = done(
        await primary.v1('POST', 'sys/config/ui/custom-messages', {
          title: key,
          message: TEXT,
          start_time: '2020-01-01T00:00:00Z',
        }),
        'message',
      );
      done(await primary.v1('LIST', 'sys/config/ui/custom-messages'), 'messages');
      done(await primary.v1('DELETE', `sys/config/ui/custom-messages/${data.id}`), 'delete');
    },
    'policies written through the secondary': async (key) => {
      const path = `sys/policies/acl/${key}`;
      const written = await secondary.v1('POST', path, { policy: POLICY });
      done(written, 'policy');
      done(await readOwnWrite(secondary, path, written), 'policy shown');
      done(await secondary.v1('DELETE', path), 'policy deleted');
    },
    'tokens made and revoked': async () => {
      const { auth } = done(
        await primary.v1('POST', 'auth/token/create', { policies: ['default'], ttl: '1h' }),
        'token',
      );
      done(await primary.v1('GET', 'auth/token/lookup-self', undefined, auth.client_token), 'self');
      done(await primary.v1('POST', 'auth/token/revoke', { token: auth.client_token }), 'revoke');
    },
  };
};

export const prepareLoad = async (primary: Cluster): Promise<void> => {
  const root = { common_name: 'Root', key_type: 'ec', ttl: '87600h' };
  done(await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' }), 'mount');
  done(await primary.v1('POST', 'pki/root/generate/internal', root), 'root');
  const role = { allow_any_name: true, key_type: 'ec' };
  done(await primary.v1('POST', 'pki/roles/leaf', role), 'role');
  const attributes = { name: ORGANIZATION, email: 'soak@example.com' };
  const body = { data: { type: 'organizations', attributes } };
  done(await primary.api('POST', 'organizations', body), 'organization');
};

export class MixedLoad {
  /** Number of calls of each operation. */
  readonly times = new Map<string, number>();
  /** Requests that were refused unexpectedly. */
  readonly refused: string[] = [];
  readonly #working: Promise<void>[];
  #isStopped = false;

  constructor(primary: Cluster, secondary: Cluster, name: string) {
    this.#working = Object.entries(worksOf(primary, secondary)).flatMap(([what, work], kind) =>
      Array.from({ length: CALLERS_OF_EACH }, async (_, caller) => {
        for (let turn = 0; !this.#isStopped; turn += 1) {
          await work(`${name}-${kind}-${caller}-${turn}`).catch((error) =>
            this.refused.push(`${what}: ${error}`),
          );
          this.times.set(what, (this.times.get(what) ?? 0) + 1);
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#working);
  }
}
