/** A standalone cluster on a data folder, and the data that must survive each fault. */
import { join } from 'node:path';
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { type Answer, callsOf } from '@keelson/testkit/replication-cluster';

const ORGANIZATION = 'kept';
const POLICY = 'path "pki/*" { capabilities = ["read"] }';

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface Started {
  readonly process: KeelsonProcess;
  readonly v1: Call;
  readonly api: Call;
}

/** @throws Error with the complete output when it refuses to start */
export const start = async (
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Started> => {
  const process = await startKeelson({
    dataFolder: join(folder, 'data'),
    env: { KEELSON_RATE_LIMIT: 'off', ...env },
  });
  return {
    process,
    ...callsOf(
      () => process.http,
      () => process.rootToken,
      process.apiToken,
    ),
  };
};

const done = ({ status, body }: Answer): Answer['body'] => {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};

export interface Kept {
  readonly serial: string;
}

/** Writes records of every service. */
export const createKept = async ({ v1, api }: Started): Promise<Kept> => {
  done(await v1('POST', 'sys/policies/acl/kept', { policy: POLICY }));
  done(await v1('POST', 'sys/mounts/pki', { type: 'pki' }));
  const root = { common_name: 'Root', key_type: 'ec', ttl: '700h' };
  done(await v1('POST', 'pki/root/generate/internal', root));
  done(await v1('POST', 'pki/roles/kept', { allow_any_name: true, key_type: 'ec' }));
  const issued = done(
    await v1('POST', 'pki/issue/kept', { common_name: 'a.example.com', ttl: '1h' }),
  );
  const attributes = { name: ORGANIZATION, email: 'kept@example.com' };
  done(await api('POST', 'organizations', { data: { type: 'organizations', attributes } }));
  const workspace = { data: { type: 'workspaces', attributes: { name: 'kept' } } };
  done(await api('POST', `organizations/${ORGANIZATION}/workspaces`, workspace));
  return { serial: issued.data.serial_number };
};

/** Records that are missing or differ from what was written. */
export const findMissing = async ({ v1, api }: Started, { serial }: Kept): Promise<string[]> => {
  const looked = {
    'the policy': await v1('GET', 'sys/policies/acl/kept'),
    'the role': await v1('GET', 'pki/roles/kept'),
    'the certificate': await v1('GET', `pki/cert/${serial}`),
    'the workspace': await api('GET', `organizations/${ORGANIZATION}/workspaces/kept`),
  };
  return Object.entries(looked)
    .filter(([, { status }]) => status !== 200)
    .map(([what, { status, body }]) => `${what} is not there: ${status} ${JSON.stringify(body)}`);
};

/** The message of a cluster that cannot start; undefined if it starts (it is then stopped). */
export const refusalOf = async (
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> => {
  try {
    const started = await start(folder, env);
    await started.process.stop();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
