/** Every kind of credentials admits a cluster to real NATS servers, and nothing else does. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bus } from '@keelson/bus';
import {
  type NatsOptions,
  startNats,
  type TemporaryDirectory,
  temporaryDirectory,
  writeCertificates,
} from '@keelson/testkit';
import { createUser } from '@nats-io/nkeys';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openNatsTransport } from './nats-transport.ts';

let folder: TemporaryDirectory;
const fileOf = (name: string): string => join(folder.path, name);
const NKEY = createUser();
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

beforeAll(async () => {
  folder = await temporaryDirectory();
  await writeFile(fileOf('nkey'), `${text(NKEY.getSeed())}\n`, { mode: 0o600 });
  // That of the server serves as that of a client, too.
  await writeCertificates(folder.path);
});
afterAll(() => folder[Symbol.asyncDispose]());

type Settings = Partial<Parameters<typeof openNatsTransport>[0]>;

const LOGIN = 'authorization { user: keelson, password: "p:w" }';
const TLS = (): Pick<NatsOptions, 'tls'> => ({
  tls: { certificateFile: fileOf('end.pem'), keyFile: fileOf('end.key') },
});
const KINDS: readonly [
  kind: string,
  server: () => NatsOptions,
  admitted: () => Settings,
  refused: () => Settings,
][] = [
  [
    'user and password',
    () => ({ configuration: LOGIN }),
    () => ({ natsLogin: 'keelson:p:w' }),
    () => ({ natsLogin: 'keelson:x' }),
  ],
  [
    'token',
    () => ({ configuration: 'authorization { token: "s3cret" }' }),
    () => ({ natsLogin: 's3cret' }),
    () => ({}),
  ],
  [
    'nkey',
    () => ({ configuration: `authorization { users: [ { nkey: ${NKEY.getPublicKey()} } ] }` }),
    () => ({ natsNkeyFile: fileOf('nkey') }),
    () => ({ natsLogin: 'keelson:p:w' }),
  ],
  [
    'client certificate',
    () => ({
      tls: {
        certificateFile: fileOf('end.pem'),
        keyFile: fileOf('end.key'),
        clientAuthorityFile: fileOf('ca.pem'),
      },
    }),
    () => ({
      natsAuthorityFile: fileOf('ca.pem'),
      natsTlsCertificateFile: fileOf('end.pem'),
      natsTlsKeyFile: fileOf('end.key'),
    }),
    () => ({ natsAuthorityFile: fileOf('ca.pem') }),
  ],
  ['authority alone', TLS, () => ({ natsAuthorityFile: fileOf('ca.pem') }), () => ({})],
];

const stream = { stream: 'wal.cluster.sys' };
const failureOf = async (bus: Bus | undefined): Promise<string | undefined> => {
  await expect(bus?.ensureStream(stream)).rejects.toMatchObject({ code: 'bus.unavailable' });
  return bus?.failure();
};

describe.for(KINDS)('a NATS server that wants %s', ([, server, admitted, refused]) => {
  test('admits the cluster to its own server and to that of another cluster', async () => {
    await using nats = await startNats({ jetstream: true, ...server() });
    const settings = { natsUrl: nats.url, natsReplicas: 1 };
    const transport = await openNatsTransport({ ...settings, ...admitted() });
    const other = await transport.connect([nats.url]);
    try {
      await transport.bus?.ensureStream(stream);
      await other.ensureStream(stream);
      expect(transport.bus?.failure()).toBeUndefined();
      expect(transport.clusterAddress).toBe(nats.url);
    } finally {
      await other.close();
      await transport.close();
    }
  });

  test('refuses others, and says so', async () => {
    await using nats = await startNats({ jetstream: true, ...server() });
    const transport = await openNatsTransport({
      natsUrl: nats.url,
      natsReplicas: 1,
      ...refused(),
    });
    try {
      expect(await failureOf(transport.bus)).toMatch(
        /^(NATS refuses the credentials|there is no connection to NATS)$/,
      );
    } finally {
      await transport.close();
    }
  });
});

test('other clusters may want other credentials', async () => {
  await using own = await startNats({ jetstream: true, configuration: LOGIN });
  await using remote = await startNats({
    jetstream: true,
    configuration: 'authorization { token: "of-the-other" }',
  });
  const transport = await openNatsTransport({
    natsUrl: own.url,
    natsReplicas: 1,
    natsLogin: 'keelson:p:w',
    remoteNatsLogin: 'of-the-other',
  });
  const other = await transport.connect([remote.url]);
  try {
    await transport.bus?.ensureStream(stream);
    await other.ensureStream(stream);
    expect([transport.bus?.status(), other.status()]).toEqual(['connected', 'connected']);
  } finally {
    await other.close();
    await transport.close();
  }
});

test('a refused login is named', async () => {
  await using nats = await startNats({ jetstream: true, configuration: LOGIN });
  const transport = await openNatsTransport({ natsUrl: nats.url, natsReplicas: 1 });
  try {
    expect(await failureOf(transport.bus)).toBe('NATS refuses the credentials');
  } finally {
    await transport.close();
  }
});

test.for<[Settings, string]>([
  [
    { natsLogin: 'a:b', natsNkeyFile: '/nkey' },
    'KEELSON_NATS_LOGIN and KEELSON_NATS_NKEY_FILE are both set',
  ],
  [{ natsCredentialsFile: '/nowhere' }, 'KEELSON_NATS_CREDENTIALS_FILE: /nowhere cannot be read'],
  [{ remoteNatsNkeyFile: '/nowhere' }, 'KEELSON_REMOTE_NATS_NKEY_FILE: /nowhere cannot be read'],
  [{ natsAuthorityFile: '/nowhere' }, 'KEELSON_NATS_AUTHORITY_FILE: /nowhere cannot be read'],
  [{ natsTlsKeyFile: '/nowhere' }, 'are set together or not at all'],
])('settings %j are refused', async ([settings, problem]) => {
  await expect(
    openNatsTransport({ natsUrl: 'nats://127.0.0.1:1', natsReplicas: 1, ...settings }),
  ).rejects.toThrow(problem);
});
