/** R4 for policies: bad texts are refused, and what is accepted judges any path without a fault. */
import type { Answer, Cluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import type { Random } from '../random.ts';
import { askedPath, policyText } from './bad-policies.ts';
import { type Input, type Outcome, tryServer } from './tried-server.ts';

/** Few names, written again and again, so that the cluster stays as it was. */
const NAMES = 8;
/** Of so many inputs one is a policy text, the others ask what the policies of a token allow. */
const TEXT_IN = 2;
const FIRST_SERVER_ERROR = 500;

const nameOf = (index: number): string => `tried-${index}`;

const judge = ({ status, body }: Answer, what: string): Outcome => ({
  kind: `${what} ${status}`,
  ...(status >= FIRST_SERVER_ERROR && { broken: `${status} ${JSON.stringify(body)}` }),
});

/** A token that all of the policies apply to. */
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
      const paths = [askedPath(random), askedPath(random)];
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
