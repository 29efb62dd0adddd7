/** R4 for policies: invalid texts are refused, and accepted ones decide any path without an error. */
import type { Answer, Cluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import type { Random } from '../random.ts';
import { policyText, requestedPath } from './bad-policies.ts';
import { type Input, type Outcome, tryServer } from './tried-server.ts';

/** Few names, overwritten repeatedly, so that the cluster stays small. */
const NAMES = 8;
/** Every n-th input is a policy text; the others check the capabilities of a token. */
const TEXT_IN = 2;
const FIRST_SERVER_ERROR = 500;

const nameOf = (index: number): string => `tried-${index}`;

const judge = ({ status, body }: Answer, what: string): Outcome => ({
  kind: `${what} ${status}`,
  ...(status >= FIRST_SERVER_ERROR && { broken: `${status} ${JSON.stringify(body)}` }),
});

/** A token with all of the policies. */
const makeToken = async (cluster: Cluster): Promise<string> => {
  for (let index = 0; index < NAMES; index += 1)
    await cluster.v1('POST', `sys/policies/acl/${nameOf(index)}`, { policy: '' });
  const policies = Array.from({ length: NAMES }, (_, index) => nameOf(index));
  const { body } = await cluster.v1('POST', 'auth/token/create', { policies, ttl: '24h' });
  return body.auth.client_token as string;
};

const sending = () => {
  let token = '';
  return {
    prepare: async (cluster: Cluster): Promise<void> => {
      token = await makeToken(cluster);
    },
    next: (cluster: Cluster, random: Random): Input => {
      if (random.once(TEXT_IN)) {
        const policy = policyText(random);
        const path = `sys/policies/acl/${nameOf(random.below(NAMES))}`;
        return {
          shown: JSON.stringify(policy).slice(0, 1500),
          send: async () => judge(await cluster.v1('POST', path, { policy }), 'text'),
        };
      }
      const paths = [requestedPath(random), requestedPath(random)];
      const isCapabilities = random.once(2);
      return {
        shown: JSON.stringify(paths),
        send: async () =>
          judge(
            isCapabilities
              ? await cluster.v1('POST', 'sys/capabilities', { token, paths })
              : await cluster.v1('LIST', 'sys/policies/acl', undefined, token),
            'asked',
          ),
      };
    },
  };
};

export const policyInput: Chaos = {
  name: 'policy-input',
  promise:
    'R4 bad policy texts are refused, and those accepted judge any path: no crash, no 5xx, no answer over ' +
    '1 s, memory flat',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 400 },
  run: (context) => tryServer(context, sending()),
};
