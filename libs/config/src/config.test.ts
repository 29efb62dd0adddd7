import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  ConfigError,
  composeConfig,
  configMarkdown,
  describeConfig,
  parseConfig,
  toEnvironmentName,
} from './config.ts';

const schema = Type.Object({
  dataDir: Type.String({ description: 'Folder of the stores.', default: './data' }),
  httpPort: Type.Integer({ description: 'Port.', minimum: 0, maximum: 65535, default: 8200 }),
  traced: Type.Boolean({ description: 'Trace.', default: false }),
  rateLimit: Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('off')], {
    description: 'Requests per second.',
    default: 30,
  }),
  peers: Type.Array(Type.String(), {
    description: 'Peers.',
    default: [],
    mistakenFor: ['httpPeer'],
  }),
  joinToken: Type.Optional(Type.String({ description: 'Joins.', secret: true, pattern: '^t-' })),
});

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    parseConfig(schema, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe('configuration from the environment', () => {
  test('uses defaults for absent and empty values, and ignores other variables', () => {
    expect(parseConfig(schema, { KEELSON_DATA_DIR: '', PATH: '/bin' })).toEqual({
      dataDir: './data',
      httpPort: 8200,
      traced: false,
      rateLimit: 30,
      peers: [],
    });
  });

  test('reads every kind of value', () => {
    expect(
      parseConfig(schema, {
        KEELSON_HTTP_PORT: '0',
        KEELSON_TRACED: 'TRUE',
        KEELSON_RATE_LIMIT: 'off',
        KEELSON_PEERS: 'a, b',
        KEELSON_JOIN_TOKEN: 't-1',
      }),
    ).toMatchObject({
      httpPort: 0,
      traced: true,
      rateLimit: 'off',
      peers: ['a', 'b'],
      joinToken: 't-1',
    });
  });

  test('is frozen, including its lists', () => {
    const config = parseConfig(schema, {});
    expect(Object.isFrozen(config) && Object.isFrozen(config.peers)).toBe(true);
  });

  test('ignores the variables of the other programs and of Kubernetes', () => {
    expect(
      problemsOf({
        KEELSON_ADDR: 'http://127.0.0.1:8200',
        KEELSON_CACERT: '/ca.pem',
        KEELSON_TOKEN: 't',
        KEELSON_API_TOKEN: 't',
        KEELSON_CONFIG_DIR: '/home/me',
        KEELSON_AGENT_ADDRESS: 'https://localhost:8443',
        KEELSON_SERVICE_HOST: '10.0.0.1',
        KEELSON_SERVICE_PORT: '8200',
        KEELSON_SERVICE_PORT_HTTP: '8200',
        KEELSON_PORT: 'tcp://10.0.0.1:8200',
        KEELSON_PORT_8200_TCP_ADDR: '10.0.0.1',
        KEELSON_GATEWAY_SERVICE_HOST: '10.0.0.2',
        KEELSON_GATEWAY_PORT: 'tcp://10.0.0.2:8443',
      }),
    ).toEqual([]);
  });

  test('a port that is no service link is refused', () => {
    expect(problemsOf({ KEELSON_PORT: '9000' })).toEqual([
      expect.stringContaining('KEELSON_PORT is not a setting of this process'),
    ]);
  });

  test.for([
    [
      { KEELSON_HTPP_PORT: '1' },
      'KEELSON_HTPP_PORT is not a setting of this process; did you mean KEELSON_HTTP_PORT?',
    ],
    [
      { KEELSON_DATADIR: '/x' },
      'KEELSON_DATADIR is not a setting of this process; did you mean KEELSON_DATA_DIR?',
    ],
    [
      // A name that is more similar to that of another setting.
      { KEELSON_HTTP_PEER: 'a' },
      'KEELSON_HTTP_PEER is not a setting of this process; did you mean KEELSON_PEERS?',
    ],
    [
      { KEELSON_UNRELATED: '1' },
      'KEELSON_UNRELATED is not a setting of this process; run it with --help for the list.',
    ],
    [
      { KEELSON_HTTP_PORT: '80a' },
      'KEELSON_HTTP_PORT must be a whole number from 0 to 65535, not "80a".',
    ],
    [{ KEELSON_HTTP_PORT: '65536' }, 'KEELSON_HTTP_PORT must be'],
    [{ KEELSON_HTTP_PORT: '1.5' }, 'KEELSON_HTTP_PORT must be'],
    [{ KEELSON_TRACED: 'yes' }, 'KEELSON_TRACED must be true or false, not "yes".'],
    [
      { KEELSON_RATE_LIMIT: '0' },
      'KEELSON_RATE_LIMIT must be a whole number of at least 1 or "off", not "0".',
    ],
  ] as const)('stops with an explanation of %o', ([environment, sentence]) => {
    const problems = problemsOf(environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  test('reports every problem at once', () => {
    expect(problemsOf({ KEELSON_X: '1', KEELSON_TRACED: '?' })).toHaveLength(2);
  });

  test('does not show the value of a bad secret', () => {
    expect(problemsOf({ KEELSON_JOIN_TOKEN: 'hunter2' }).join()).not.toContain('hunter2');
  });

  test.for<[string, string]>([
    ['nats://keelson:hunter2@host:x', 'nats://***@host:x'],
    ['nats://a:b@one,nats://c:hunter2@two', 'nats://***@two'],
    ['keelson:hunter2@host', '***@host'],
    ['http://u:hun/ter@2@x', 'http://***@x'],
  ])('shows the bad URL %s as %s', ([given, shown]) => {
    const [problem] = problemsOf({ KEELSON_HTTP_PORT: given });
    expect(problem).toContain(`, not "${shown}".`);
  });

  test('stops when a required setting is missing', () => {
    const required = Type.Object({ dsn: Type.String({ description: 'Where the store is.' }) });
    expect(() => parseConfig(required, {})).toThrow('KEELSON_DSN must be set: Where the store is.');
  });
});

describe('names in the environment', () => {
  test.for([
    ['dataDir', 'KEELSON_DATA_DIR'],
    ['otlpEndpoint', 'KEELSON_OTLP_ENDPOINT'],
    ['tlsCertificateFile', 'KEELSON_TLS_CERTIFICATE_FILE'],
  ] as const)('%s is %s', ([name, key]) => expect(toEnvironmentName(name)).toBe(key));
});

describe('composed configuration', () => {
  const other = Type.Object({
    dataDir: schema.properties.dataDir,
    sealKeyFile: Type.Optional(Type.String({ description: 'Key file.' })),
  });

  test('accepts the settings of every part', () => {
    const config = parseConfig(composeConfig(schema, other), { KEELSON_SEAL_KEY_FILE: '/k' });
    expect([config.httpPort, config.sealKeyFile]).toEqual([8200, '/k']);
  });

  test('refuses two declarations of one key', () => {
    const clash = Type.Object({ httpPort: Type.String({ description: 'Other.' }) });
    expect(() => composeConfig(schema, clash)).toThrow('KEELSON_HTTP_PORT');
  });
});

describe('description of the configuration', () => {
  test('has one group for each title, and a shared setting once', () => {
    const port = Type.Integer({ description: 'Port.' });
    const first = Type.Object({ port }, { title: 'Ports' });
    const other = Type.Object({ dsn: Type.String({ description: 'Store.' }) }, { title: 'Stores' });
    const again = Type.Object({ port, second: port }, { title: 'Ports' });
    const text = describeConfig(composeConfig(composeConfig(first, other), again));
    expect(text.match(/^\S.*|KEELSON_\w+/gm)).toEqual([
      'Ports',
      'KEELSON_PORT',
      'KEELSON_SECOND',
      'Stores',
      'KEELSON_DSN',
    ]);
  });

  test('shows every setting with its meaning and default', () => {
    expect(describeConfig(schema)).toMatchInlineSnapshot(`
      "Other settings

        KEELSON_DATA_DIR
            Folder of the stores.
            text; default: ./data

        KEELSON_HTTP_PORT
            Port.
            a whole number from 0 to 65535; default: 8200

        KEELSON_TRACED
            Trace.
            true or false; default: false

        KEELSON_RATE_LIMIT
            Requests per second.
            a whole number of at least 1 or "off"; default: 30

        KEELSON_PEERS
            Peers.
            a comma-separated list, each item text; default: empty

        KEELSON_JOIN_TOKEN (secret)
            Joins.
            text that matches ^t-; default: not set
      "
    `);
  });

  test('is a table in the documentation', () => {
    expect(configMarkdown(schema).split('\n')).toContain(
      '| `KEELSON_JOIN_TOKEN` | text that matches ^t- (secret) | not set | Joins. |',
    );
  });
});
