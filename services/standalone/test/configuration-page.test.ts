import {
  ConfigError,
  type ConfigSchema,
  configMarkdown,
  describeConfig,
  parseConfig,
} from '@keelson/config';
import { expect, test } from 'vitest';
import { authProcessConfig } from '../../auth/src/config.ts';
import { gatewayProcessConfig } from '../../gateway/src/config.ts';
import { pkiProcessConfig } from '../../pki/src/config.ts';
import { runnerProcessConfig } from '../../runner/src/config.ts';
import { sysProcessConfig } from '../../sys/src/config.ts';
import { workspaceProcessConfig } from '../../workspace/src/config.ts';
import { standaloneConfig } from '../src/config.ts';

const PROCESSES: readonly [string, string, ConfigSchema][] = [
  ['standalone', 'services/standalone/src/main.ts', standaloneConfig],
  ['gateway', 'services/gateway/src/main.ts', gatewayProcessConfig],
  ['sys', 'services/sys/src/main.ts', sysProcessConfig],
  ['pki', 'services/pki/src/main.ts', pkiProcessConfig],
  ['workspace', 'services/workspace/src/main.ts', workspaceProcessConfig],
  ['auth', 'services/auth/src/main.ts', authProcessConfig],
  ['runner', 'services/runner/src/main.ts', runnerProcessConfig],
];

test('docs/configuration.md lists every setting of every process', async () => {
  const page = [
    '# Configuration',
    '',
    'Settings are environment variables, read once at the start. A `KEELSON_*` variable that a process does not know, or a value it cannot use, stops the start with a sentence that names it. `--help` prints the same. The variables of the command line (`KEELSON_ADDR` and others), of the agent (`KEELSON_AGENT_*`) and the service links of Kubernetes (`KEELSON_SERVICE_HOST` and others) are ignored.',
    '',
    'A YAML file completes them, named by `--config FILE` or `KEELSON_CONFIG_FILE`. Its lines have the same names without the prefix, in lower case, and the same values; lists may be lists of YAML. It is refused like the environment, with the name that may be meant. Where both set one, the environment wins.',
    '',
    '```yaml',
    'http_port: 8200',
    'listen_address: 0.0.0.0',
    'trusted_proxies: [10.0.0.0/8, 2001:db8:f::/48]',
    'log_level: warn',
    '```',
    '',
    'A file with a secret is private: the start is refused while every user of the machine can read or change it (`chmod o=`). Its group may read it, as where Kubernetes mounts a Secret with `defaultMode: 0440` and `fsGroup`; secrets of Docker Compose need `mode: 0440` and the `gid`. This holds for the settings marked "private file", and for the YAML file if it sets one marked "secret".',
    '',
    'This page is written from the declarations: `npx vitest run --project unit services/standalone -u`.',
    ...PROCESSES.flatMap(([name, file, schema]) => [
      '',
      `## ${name}`,
      '',
      `\`${file}\``,
      '',
      configMarkdown(schema),
    ]),
    '',
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../../../docs/configuration.md');
});

/** Mistaken values of a setting, with the same password in each. */
const WITH_PASSWORD = [
  'http://keelson:hunter2@host:x y',
  'x://keelson:hunter2@host',
  'keelson:hunter2@host:4222',
  'nats://keelson:hunter2@one,nats://keelson:hunter2@two',
  'https://keelson:hunter2@host/path?query',
];

/** The problems with a value of one setting, and with the settings that it leaves unset. */
const refusal = (schema: ConfigSchema, name: string, text: string): readonly string[] => {
  try {
    parseConfig(schema, { [name]: text });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

test('no refusal of a setting shows the password of a URL', () => {
  const problems = PROCESSES.flatMap(([, , schema]) =>
    [...new Set(describeConfig(schema).match(/KEELSON_\w+/g))].flatMap((name) =>
      WITH_PASSWORD.flatMap((text) => refusal(schema, name, text)),
    ),
  );
  expect(problems.length).toBeGreaterThan(500);
  expect(problems.filter((problem) => problem.includes('hunter2'))).toEqual([]);
});
