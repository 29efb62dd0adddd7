import { randomBytes } from 'node:crypto';
import type { Bench, Figure } from '../bench.ts';
import { askInTurn, type HttpLoad, measureBareFastify, measureRate } from '../http-load.ts';
import { askV1, type MeasuredServer, openMeasuredServer } from '../measured-server.ts';

/** Creates a mount with roles; returns its path. */
const setUpMount = async (server: MeasuredServer, roles: number): Promise<string> => {
  const mount = `bench-${randomBytes(4).toString('hex')}`;
  await askV1(server, 'POST', `sys/mounts/${mount}`, { type: 'pki' });
  const names = { allowed_domains: 'example.com', allow_subdomains: true, key_type: 'ec' };
  for (let turn = 0; turn < roles; turn += 1)
    await askV1(server, 'POST', `${mount}/roles/role-${turn}`, names);
  return mount;
};

export const secretsApi: Bench = {
  name: 'secrets-api',
  claim: 'P15: authenticated requests to /v1, at least as many as a compatible server answers',
  method:
    'Reading roles in turn, the own token, the mounts; listing roles; creating a token: over HTTP from 64 ' +
    'connections with a token, by the public API alone. The limit is Fastify serving as many bytes as a role has.',
  run: async (context) => {
    const { quick, say } = context;
    const seconds = quick ? 0.3 : 10;
    await using server = await openMeasuredServer(context, { KEELSON_RATE_LIMIT: 'off' });
    const count = quick ? 10 : 100;
    const mount = await setUpMount(server, count);
    const roles = Array.from({ length: count }, (_, turn) => `/v1/${mount}/roles/role-${turn}`);
    const role = await askV1(server, 'GET', `${mount}/roles/role-0`);
    const bodyBytes = (await role.arrayBuffer()).byteLength;
    say('bare Fastify');
    const limit = await measureBareFastify(roles, bodyBytes, seconds);
    const { url, v1Headers: headers, pid } = server;
    const measure = async (name: string, load: Omit<HttpLoad, 'url' | 'headers'>) => {
      say(name);
      const whole = { url, headers, ...load };
      await askInTurn(whole, { duration: seconds / 4 });
      return { name, ...(await measureRate(whole, seconds, pid)) };
    };
    const figures: Figure[] = [
      { ...(await measure('read a role', { paths: roles })), limit },
      await measure('look the own token up', { paths: ['/v1/auth/token/lookup-self'] }),
      await measure('read the mounts', { paths: ['/v1/sys/mounts'] }),
      await measure(`list ${count} roles`, { paths: [`/v1/${mount}/roles?list=true`] }),
      await measure('create a token', {
        method: 'POST',
        paths: ['/v1/auth/token/create'],
        body: JSON.stringify({ policies: ['default'], ttl: '1h' }),
      }),
    ];
    await askV1(server, 'DELETE', `sys/mounts/${mount}`);
    return figures;
  },
};
