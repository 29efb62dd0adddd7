import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';

const PATH = process.env['PATH'] ?? '';
const MAIN = join(import.meta.dirname, 'main.ts');

const start = (folder: string, settings: Readonly<Record<string, string>>): ChildProcess =>
  spawn(process.execPath, [MAIN], {
    env: {
      PATH,
      TMPDIR: process.env['TMPDIR'],
      KEELSON_AGENT_FOLDER: join(folder, 'agent'),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

test('a token that every user can read is refused in one sentence', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'token');
  await writeFile(file, 'secret-token', { mode: 0o644 });
  const agent = start(folder.path, {
    KEELSON_AGENT_ADDRESS: 'https://keelson.example',
    KEELSON_AGENT_TOKEN_FILE: file,
  });
  const ended = once(agent, 'exit');
  const refusal = agent.stderr === null ? '' : await text(agent.stderr);
  expect([(await ended)[0], refusal]).toEqual([
    1,
    `KEELSON_AGENT_TOKEN_FILE: every user of this machine can read or change ${file}: chmod o= ${file}\n`,
  ]);
});

const UNREACHABLE = {
  KEELSON_AGENT_ADDRESS: 'http://127.0.0.1:2',
  KEELSON_AGENT_TOKEN: 'of the pool',
};

test('it does not start where no sandbox can be made, and says what can be done', async () => {
  await using folder = await temporaryDirectory();
  const agent = start(folder.path, { ...UNREACHABLE, PATH: '/nonexistent' });
  const ended = once(agent, 'exit');
  const refusal = agent.stderr === null ? '' : await text(agent.stderr);
  expect((await ended)[0]).toBe(1);
  expect(refusal).toMatch(
    /^no sandbox for runs can be made on this machine \(.*not installed.*\)\. Install bubblewrap .* or set KEELSON_AGENT_EXECUTION=unsafe where everyone who may queue runs is trusted with what this process can read and reach\.\n$/,
  );
});

test('where it is told to, it executes runs without a sandbox, and says so', async () => {
  await using folder = await temporaryDirectory();
  const agent = start(folder.path, {
    ...UNREACHABLE,
    PATH: '/nonexistent',
    KEELSON_AGENT_EXECUTION: 'unsafe',
  });
  const ended = once(agent, 'exit');
  try {
    for await (const line of createInterface({ input: agent.stdout ?? process.stdin })) {
      expect(line).toContain(
        'runs are executed without a sandbox (KEELSON_AGENT_EXECUTION=unsafe)',
      );
      break;
    }
  } finally {
    agent.kill();
    await ended;
  }
});

test('a network that is none is refused at the start', async () => {
  await using folder = await temporaryDirectory();
  const agent = start(folder.path, { ...UNREACHABLE, KEELSON_AGENT_ALLOWED_RANGES: '10.0.0.0/99' });
  const ended = once(agent, 'exit');
  const refusal = agent.stderr === null ? '' : await text(agent.stderr);
  expect([(await ended)[0], refusal]).toEqual([
    1,
    'KEELSON_AGENT_ALLOWED_RANGES: invalid CIDR or IP address: "10.0.0.0/99"\n',
  ]);
});

/** The first line that says something else than which walls the machine lacks. */
const firstLine = async ({ stdout }: ChildProcess): Promise<string | undefined> => {
  for await (const line of createInterface({ input: stdout ?? process.stdin }))
    if (!line.includes('because it has no control group')) return line;
  return undefined;
};

test('a control plane that cannot be reached is named with the reason', async () => {
  await using folder = await temporaryDirectory();
  const agent = start(folder.path, UNREACHABLE);
  const ended = once(agent, 'exit');
  const line = await firstLine(agent);
  agent.kill();
  await ended;
  expect(line).toMatch(/ http:\/\/127\.0\.0\.1:2 cannot be reached: ECONNREFUSED$/);
});

test('a private umask does not stop it', async () => {
  await using folder = await temporaryDirectory();
  await using open = await temporaryDirectory();
  await chmod(open.path, 0o711);
  const agent = spawn(
    'sh',
    ['-c', 'umask 077; exec "$0" --disable-sigusr1 "$1"', process.execPath, MAIN],
    {
      env: {
        PATH,
        ...UNREACHABLE,
        TMPDIR: open.path,
        KEELSON_AGENT_FOLDER: join(folder.path, 'agent'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(agent, 'exit');
  const line = await firstLine(agent);
  agent.kill();
  await ended;
  expect(line).toMatch(/cannot be reached: ECONNREFUSED$/);
});
