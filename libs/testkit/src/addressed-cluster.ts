/**
 * Clusters that are known only by their public addresses, and the actions of their operators. This file
 * imports nothing that starts a process, because the demo's container has it without the rest of the testkit.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents of many shapes, asserted by the tests
  readonly body: any;
}

export type Kind = 'performance' | 'dr';

/** A cluster under test, in whichever deployment. */
export interface AddressedCluster {
  /** Current token for `v1`; a role change replaces it. */
  token: string;
  /** Unseal key shares of the cluster's first start, base64. */
  readonly shares: readonly string[];
  v1(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  api(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  readonly apiToken: string;
  status(kind: Kind): Promise<Answer['body']>;
  stop(): Promise<void>;
}

const read = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  let body: unknown;
  try {
    body = text === '' ? undefined : JSON.parse(text);
  } catch {
    body = text;
  }
  return { status: response.status, headers: response.headers, body };
};

const call = async (
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<Answer> =>
  read(
    await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );

/** Calls of both APIs and of the status. */
export const callsOf = (
  url: () => string,
  token: () => string,
  apiToken: string,
): Pick<AddressedCluster, 'v1' | 'api' | 'status'> => ({
  v1: (method, path, body, given = token()) =>
    call(method, `${url()}/v1/${path}`, { 'x-service-token': given }, body),
  api: (method, path, body, given = apiToken) =>
    call(
      method,
      `${url()}/api/v2/${path}`,
      { authorization: `Bearer ${given}`, 'content-type': 'application/vnd.api+json' },
      body,
    ),
  status: async (kind) => {
    const path = `sys/replication/${kind}/status`;
    const { body } = await call('GET', `${url()}/v1/${path}`, { 'x-service-token': '' }, undefined);
    return body.data;
  },
});

/** A request of every 50 ms would use a fourth of a core in each test that waits. */
const PAUSES_MS = { first: 25, longest: 250, growth: 1.4 };

/**
 * Repeats a request until the response is as expected, because the state of another cluster is visible in no
 * other way.
 */
export const until = async <T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
): Promise<T> => {
  for (
    let pauseMs = PAUSES_MS.first;
    ;
    pauseMs = Math.min(pauseMs * PAUSES_MS.growth, PAUSES_MS.longest)
  ) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    await delay(pauseMs);
  }
};

/** Generates a root token with the shares that are valid on that cluster. */
export const generateRoot = async (
  cluster: Pick<AddressedCluster, 'v1'>,
  shares: readonly string[],
): Promise<string> => ceremony(cluster, 'sys/generate-root', shares);

export const generateOperationToken = async (
  cluster: Pick<AddressedCluster, 'v1'>,
  shares: readonly string[],
): Promise<string> =>
  ceremony(cluster, 'sys/replication/dr/secondary/generate-operation-token', shares);

const ceremony = async (
  cluster: Pick<AddressedCluster, 'v1'>,
  path: string,
  shares: readonly string[],
): Promise<string> => {
  const { body: started } = await cluster.v1('POST', `${path}/attempt`, {}, '');
  let encoded = '';
  for (const key of shares.slice(0, started.required)) {
    const { body } = await cluster.v1('POST', `${path}/update`, { key, nonce: started.nonce }, '');
    encoded = body.encoded_token;
  }
  const mixed = Buffer.from(encoded, 'base64');
  const password = Buffer.from(started.otp);
  return Buffer.from(mixed.map((byte, index) => byte ^ (password[index] ?? 0))).toString();
};

/** @throws Error with the content of the answer if it is a refusal */
const answered = ({ status, body }: Answer): Answer['body'] => {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
};

/**
 * Makes `secondary` a secondary of `primary`, as operators do.
 * @param primaryApiAddress address at which the secondary reaches the primary, if it differs from the test's
 */
export const attach = async (
  kind: Kind,
  primary: Pick<AddressedCluster, 'v1'>,
  secondary: Pick<AddressedCluster, 'v1' | 'status'>,
  id: string,
  primaryApiAddress?: string,
): Promise<void> => {
  const issued = await primary.v1('POST', `sys/replication/${kind}/primary/secondary-token`, {
    id,
  });
  const enabled = await secondary.v1('POST', `sys/replication/${kind}/secondary/enable`, {
    token: answered(issued).wrap_info.token,
    ...(primaryApiAddress !== undefined && { primary_api_addr: primaryApiAddress }),
  });
  answered(enabled);
  await untilStreaming(kind, secondary);
};

/** Makes `former`, which was demoted, follow `leader` without clearing its data, as operators do. */
export const follow = async (
  kind: Kind,
  leader: Pick<AddressedCluster, 'v1'>,
  former: Pick<AddressedCluster, 'v1' | 'status'>,
  id: string,
  operationToken?: string,
): Promise<void> => {
  const base = `sys/replication/${kind}`;
  const made = answered(await former.v1('POST', `${base}/secondary/generate-public-key`));
  const issued = answered(
    await leader.v1('POST', `${base}/primary/secondary-token`, {
      id,
      secondary_public_key: made.data.secondary_public_key,
    }),
  );
  answered(
    await former.v1('POST', `${base}/secondary/update-primary`, {
      token: issued.data.token,
      ...(operationToken !== undefined && { dr_operation_token: operationToken }),
    }),
  );
  await untilStreaming(kind, former);
};

export const untilStreaming = (kind: Kind, secondary: Pick<AddressedCluster, 'status'>) =>
  until(
    () => secondary.status(kind),
    (status) =>
      status?.mode === 'secondary' &&
      status.state === 'stream-wals' &&
      status.connection_state === 'ready',
  );

/** Waits until both clusters report the same Merkle root. */
export const untilEqual = async (
  kind: Kind,
  primary: AddressedCluster,
  secondary: AddressedCluster,
) =>
  until(
    // There is no status while a cluster changes its role.
    async () => [
      (await primary.status(kind))?.merkle_root,
      (await secondary.status(kind))?.merkle_root,
    ],
    ([ours, theirs]) => ours !== undefined && ours === theirs,
  );
