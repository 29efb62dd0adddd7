/**
 * Which services meet in the compose files, read as data. Whether the engine keeps to it is tried by
 * `compose-network.integration.test.ts`.
 *
 * | service                  | meets                                                                      |
 * | ------------------------ | -------------------------------------------------------------------------- |
 * | runner, with code of runs | `proxy`, and what is outside of the installation                          |
 * | proxy                    | gateways, the runner                                                       |
 * | gateway                  | the services, Redis for its counts                                         |
 * | sys, pki, workspace, auth | each other, gateways, PostgreSQL, Redis, NATS, the policy service          |
 * | PostgreSQL, Redis, NATS  | those that use them; there is no way out of their networks                 |
 * | trust                    | nobody                                                                     |
 */
import { describe, expect, test } from 'vitest';
import {
  type ComposeFile,
  type ComposeService,
  composePaths,
  networksOf,
  readCompose,
} from './compose-file.ts';

const SECRET_NAME = /PASSWORD|SECRET|TOKEN|LOGIN|_KEY(?:_ID)?$/;

/** Everything in a service that a shell or a program reads. */
const textsOf = ({ environment = {}, command = [] }: ComposeService): readonly string[] => [
  ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  ...command,
];

const secretsIn = (service: ComposeService): readonly string[] =>
  textsOf(service).filter((text) => {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(text) ?? [];
    const isSecret = SECRET_NAME.test(name) && !name.endsWith('_FILE');
    // The operator may set it, and it is empty until then.
    const isLeftEmpty = new RegExp(`^\\$\\{${name.replace('DEMO_API', '\\w+')}:-\\}$`).test(value);
    const hasDefault = /\$\{\w*(?:PASSWORD|SECRET|TOKEN)\w*:-[^}]+\}/.test(text);
    return hasDefault || (isSecret && !isLeftEmpty) || /:\/\/[^/\s]*:[^/\s]*@/.test(text);
  });

const meets = ({ services }: ComposeFile, name: string): readonly string[] => {
  const own = services[name] === undefined ? [] : networksOf(services[name]);
  return Object.entries(services)
    .filter(
      ([other, service]) => other !== name && networksOf(service).some((n) => own.includes(n)),
    )
    .map(([other]) => other)
    .toSorted();
};

describe.for(composePaths())('%s', (path) => {
  const file = readCompose(path);
  const services = Object.entries(file.services);

  test.for(services)('%s has no password that is public', ([, service]) => {
    expect(secretsIn(service)).toEqual([]);
  });

  test.for(services)('%s is in networks that the file names', ([, service]) => {
    const networks = networksOf(service);
    expect(networks).not.toContain('default');
    expect(Object.keys(file.networks ?? {})).toEqual(expect.arrayContaining([...networks]));
    expect(service.network_mode ?? 'none').toBe('none');
  });

  test.for(services)('%s publishes no port beyond this machine', ([, { ports = [] }]) => {
    for (const port of ports)
      expect(port).toMatch(/^\$\{KEELSON_\w*PORT:-127\.0\.0\.1:\d+\}:8200$/);
  });

  test.for(services)('%s sees the secrets of no other', ([name, { volumes = [] }]) => {
    const seen = volumes
      .map((volume) => volume.split(':')[0] ?? '')
      .filter((volume) => volume.startsWith('trust-'));
    const own: Readonly<Record<string, readonly string[]>> = {
      // It makes all of them.
      trust: seen,
      databases: ['trust-postgres'],
      'nats-standby': ['trust-nats'],
      branch: ['trust-standby'],
      spare: ['trust-standby'],
    };
    expect(own[name] ?? [`trust-${name}`]).toEqual(expect.arrayContaining(seen));
  });
});

describe('docker-compose.yml', () => {
  const file = readCompose();

  test('publishes ports of the proxy and of the standby clusters only', () => {
    const published = Object.entries(file.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(['proxy', 'branch', 'spare']);
  });

  test.for([
    ['runner', ['proxy']],
    ['proxy', ['demo', 'gateway', 'runner']],
    ['trust', []],
    ['redis', ['auth', 'gateway', 'pki', 'sys', 'workspace']],
    ['postgres', ['auth', 'databases', 'demo', 'nats', 'pki', 'sys', 'workspace']],
    ['nats', ['auth', 'databases', 'demo', 'pki', 'postgres', 'sys', 'workspace']],
    ['policy-service', ['auth', 'gateway', 'pki', 'sys', 'workspace']],
    ['gateway', ['auth', 'demo', 'pki', 'policy-service', 'proxy', 'redis', 'sys', 'workspace']],
    ['branch', ['demo', 'nats-standby', 'spare']],
  ] as const)('%s meets %j only', ([name, others]) => {
    expect(meets(file, name)).toEqual(others);
  });

  test('the code of runs has all link-local addresses itself, and none of IPv6', () => {
    expect(file.services['runner']).toMatchObject({
      entrypoint: ['/bin/sh', '/keelson/services/runner/without-link-local.sh'],
      cap_drop: ['ALL'],
      sysctls: { 'net.ipv6.conf.all.disable_ipv6': '1' },
    });
  });

  test.for(['postgres', 'redis', 'nats'])('%s has no way out', (name) => {
    const service = file.services[name];
    if (service === undefined) throw new Error(`no ${name}`);
    for (const network of networksOf(service))
      expect([network, file.networks?.[network]]).toEqual([network, { internal: true }]);
  });

  test('stores admit only those whom trust has given a secret', () => {
    const { postgres, redis, nats } = file.services;
    expect(postgres?.environment).toEqual({
      POSTGRES_PASSWORD_FILE: '/run/postgres-passwords/superuser',
    });
    expect(redis?.command?.join(' ')).toContain('--aclfile /etc/keelson/users.acl');
    expect(nats?.command?.join(' ')).toContain('-c /etc/keelson/nats.conf');
    expect(postgres?.volumes).toContain('trust-postgres:/run/postgres-passwords:ro');
    expect(redis?.volumes).toContain('trust-redis:/etc/keelson:ro');
    expect(nats?.volumes).toContain('trust-nats:/etc/keelson:ro');
  });
});
