/** R4 for policies: invalid texts are refused, and accepted ones decide any path without an error. */
import type { Cluster } from '@keelson/testkit/replication-cluster';
import fc from 'fast-check';
import type { Chaos } from '../chaos.ts';
import type { Outcome } from '../inputs.ts';
import { weighted } from '../malformed.ts';
import { policyText, requestedPath } from './bad-policies.ts';
import { tryServer } from './tried-server.ts';

/** Few names, overwritten repeatedly, so that the cluster stays small. */
const NAMES = 8;
const FIRST_SERVER_ERROR = 500;

const nameOf = (index: number): string => `tried-${index}`;

/** A token with all of the policies. */
const makeToken = async (cluster: Cluster): Promise<string> => {
  for (let index = 0; index < NAMES; index += 1)
    await cluster.v1('POST', `sys/policies/acl/${nameOf(index)}`, { policy: '' });
  const policies = Array.from({ length: NAMES }, (_, index) => nameOf(index));
  const { body } = await cluster.v1('POST', 'auth/token/create', { policies, ttl: '24h' });
  return body.auth.client_token as string;
};

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** The administrator's, unless given. */
  readonly token?: string;
}

const requestsOf = (token: string): fc.Arbitrary<Request> =>
  weighted<Request>(
    [
      2,
      fc.tuple(fc.nat(NAMES - 1), policyText).map(([index, policy]) => ({
        method: 'POST',
        path: `sys/policies/acl/${nameOf(index)}`,
        body: { policy },
      })),
    ],
    [
      1,
      fc.tuple(requestedPath, requestedPath).map((paths) => ({
        method: 'POST',
        path: 'sys/capabilities',
        body: { token, paths },
      })),
    ],
    [1, fc.constant({ method: 'LIST', path: 'sys/policies/acl', token })],
  );

const send = async (cluster: Cluster, { method, path, body, token }: Request): Promise<Outcome> => {
  const answer = await cluster.v1(method, path, body, token);
  const isBroken = answer.status >= FIRST_SERVER_ERROR;
  return {
    kind: `${method} ${path.replace(/-\d$/, '')} ${answer.status}`,
    broken: isBroken ? `${answer.status} ${JSON.stringify(answer.body)}` : undefined,
  };
};

export const policyInput: Chaos = {
  name: 'policy-input',
  promise:
    'R4 bad policy texts are refused, and those accepted judge any path: no crash, no 5xx, no answer over ' +
    '1 s, memory flat',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 400 },
  run: (context) =>
    tryServer(context, {
      prepare: async (cluster) => requestsOf(await makeToken(cluster)),
      send,
      show: ({ method, path, body }) =>
        `${method} ${path} ${JSON.stringify({ ...body, token: undefined })}`.slice(0, 1500),
    }),
};
