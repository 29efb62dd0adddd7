/**
 * Runs that the built-in runner executes, with the real tool and a real standalone process.
 *
 * | asked                                            | seen                                                        |
 * | ------------------------------------------------ | ----------------------------------------------------------- |
 * | `POST /runs`, `actions/apply`                    | planned, applied, outputs; execution mode `remote`          |
 * | `plan-only`, `is-destroy`, `auto-apply`          | nothing applied; destroyed; applied without a confirmation  |
 * | the tool's `plan`, `apply`, `destroy`            | executed remotely, with their logs                          |
 * | `actions/cancel` during an apply                 | canceled; no process of the run is left                     |
 * | a `terraform-version` that is not here           | errored; the log names PATH and the folder                  |
 * | the same where any release is accepted           | executed with the one that is there                         |
 * | a version in the folder of zip files             | executed with it; refused where its sum differs             |
 * | more output or time than allowed                 | errored; the log names the setting                          |
 * | more runs than are executed at once              | they wait                                                   |
 * | runs of two organizations                        | neither sees files, variables or processes of the other     |
 * | variables of sets, of the workspace, of the run  | in the environment, in the documented order                 |
 * | folders deeper than a path is long, unreadable   | removed; further runs are executed                          |
 * | a process that ends all others of its user       | errored; it is ended, and further runs are executed         |
 * | SIGUSR1 to its executor                          | no debugger listens                                         |
 * | the end of an executor, of the whole process     | errored with a reason; the folder is empty afterwards       |
 * | the runner turned off                            | 422 with a text, and the tool works locally                 |
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { findBinary, findFreePort } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  awaitLog,
  createOrganization,
  createWorkspace,
  logOf,
  queueRun,
  settledStatus,
  tryQueueRun,
  uploadConfiguration,
} from './api-runs.ts';
import { cloudBlock, configuration, type Installation, install } from './terraform-cli.ts';

const SLOW_MS = 240_000;
const RUNNER = { KEELSON_RUNNER: 'true' };

/** Runs a command while it applies, and nothing else. */
const commanding = (command: string): string => `
resource "terraform_data" "one" {
  provisioner "local-exec" { command = ${JSON.stringify(command.replaceAll('${', () => '$${'))} }
}
`;

/** A zip file with one uncompressed file. */
const storedZip = (name: string, content: Buffer): Buffer => {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(10, 0);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), content]);
  const made = Buffer.from([20, 0]);
  const place = Buffer.alloc(14);
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02'),
    made,
    fields,
    place,
    Buffer.from(name),
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
};

/** Command lines of the processes of this machine that have a text. */
const processesWith = async (text: string): Promise<readonly string[]> => {
  const lines = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(text));
};

describe('the built-in runner', { timeout: SLOW_MS }, () => {
  let installation: Installation;
  let folder: string;
  let tools: string;
  beforeAll(async () => {
    installation = await install(async (place) => {
      folder = await place('runner');
      tools = await place('tools');
      return {
        ...RUNNER,
        KEELSON_RUNNER_FOLDER: folder,
        KEELSON_RUNNER_TOOLS_FOLDER: tools,
      };
    });
  }, SLOW_MS);
  afterAll(() => installation[Symbol.asyncDispose](), SLOW_MS);

  const prepare = async (
    name: string,
    text: string,
    values: object = {},
    organization = 'acme',
  ) => {
    const id = await createWorkspace(installation, organization, name, values);
    await uploadConfiguration(installation, id, { 'main.tf': text });
    return id;
  };
  /** A phase is reported before its files are removed. */
  const isEmptied = () =>
    vi.waitFor(async () => expect(await readdir(folder)).toEqual([]), SLOW_MS / 4);
  const apply = async (workspaceId: string, attributes: object = {}) => {
    const runId = await queueRun(installation, workspaceId, { 'auto-apply': true, ...attributes });
    const status = await settledStatus(installation, runId);
    return { runId, status };
  };

  test('executes what is queued over the API, from the plan to its destruction', async () => {
    const id = await prepare('api', configuration('first'));
    const runId = await queueRun(installation, id);
    expect(await settledStatus(installation, runId)).toBe('planned');
    const planId = runId.replace('run-', 'plan-');
    const plan = await installation.call('GET', `/plans/${planId}`);
    expect(plan.data.attributes).toMatchObject({
      'resource-additions': 1,
      'execution-details': { mode: 'remote' },
    });
    const json = await installation.call('GET', `/plans/${planId}/json-output`);
    expect(json.document).toMatchObject({ resource_changes: [{ type: 'terraform_data' }] });
    expect((await installation.call('POST', `/runs/${runId}/actions/apply`)).status).toBe(202);
    await awaitLog(installation, runId, 'apply', 'Apply complete!');
    expect(await settledStatus(installation, runId)).toBe('applied');
    const outputs = await installation.call(
      'GET',
      `/workspaces/${id}/current-state-version-outputs`,
    );
    expect(outputs.list.map(({ attributes }) => attributes['value'])).toContain('first');

    const speculative = await queueRun(installation, id, { 'plan-only': true });
    expect(await settledStatus(installation, speculative)).toBe('planned_and_finished');
    expect((await apply(id, { 'is-destroy': true })).status).toBe('applied');
    const { data } = await installation.call('GET', `/workspaces/${id}`);
    expect(data.attributes).toMatchObject({ 'resource-count': 0, locked: false });
    await isEmptied();
  });

  test('executes what the tool asks for', async () => {
    const project = await installation.project({
      'backend.tf': cloudBlock(installation.host, 'name = "cli"'),
      'main.tf': configuration('remote'),
    });
    await project.run('init');
    expect(await project.run('plan')).toContain('Running plan in');
    expect(await project.run('apply', '-auto-approve')).toContain('1 added');
    expect((await project.run('output', '-raw', 'one')).trim()).toBe('remote');
    expect(await project.run('apply', '-auto-approve', '-replace=terraform_data.one')).toContain(
      '1 added, 0 changed, 1 destroyed',
    );
    expect(await project.run('destroy', '-auto-approve')).toContain('1 destroyed');
  });

  test('ends an apply that is canceled, with all of its processes', async () => {
    const mark = 'sleep 7001';
    const id = await prepare('canceled', commanding(`${mark} & echo it takes long; wait`));
    const runId = await queueRun(installation, id, { 'auto-apply': true });
    await awaitLog(installation, runId, 'apply', 'it takes long');
    expect(await processesWith('7001')).not.toEqual([]);
    expect((await installation.call('POST', `/runs/${runId}/actions/cancel`)).status).toBe(202);
    expect(await settledStatus(installation, runId)).toBe('canceled');
    await isEmptied();
    expect(await processesWith('7001')).toEqual([]);
  });

  test('says where it looked for a version that it does not have', async () => {
    for (const version of ['1.5.6', '~> 1.5.0']) {
      const name = `missing-${version.length}`;
      const id = await prepare(name, configuration('one'), { 'terraform-version': version });
      const { runId, status } = await apply(id);
      expect(status).toBe('errored');
      const log = await logOf(installation, runId);
      expect(log).toContain(`for the terraform-version "${version}" of the workspace`);
      expect(log).toContain(`PATH (${process.env['PATH']}) has terraform 1.`);
      expect(log).toContain(`The folder ${tools} (KEELSON_RUNNER_TOOLS_FOLDER) has no terraform`);
    }
  });

  test('interrupts what prints too much, and names the limit', async () => {
    const loud = await prepare('loud', commanding('yes "$(seq -s , 4000)"'));
    const printed = await apply(loud);
    expect(printed.status).toBe('errored');
    const text = 'interrupted after 32505856 bytes of output, the limit of the built-in runner';
    await awaitLog(installation, printed.runId, 'apply', text);
  });

  test.runIf(process.getuid?.() === 0)('executes two phases at once, and no more', async () => {
    // Each says that it has begun, and waits until it is released.
    const waiting = 'touch $HOME/begun; until [ -e $HOME/over ]; do sleep 0.1; done';
    const names = ['first', 'second', 'third', 'fourth'];
    const ids = await Promise.all(
      names.map((name) => prepare(`at-once-${name}`, commanding(waiting))),
    );
    const applied = Promise.all(ids.map((id) => apply(id)));
    const begun = async (): Promise<readonly string[]> => {
      const slots = await readdir(folder);
      return slots
        .map((slot) => join(folder, slot, 'run', 'home'))
        .filter((home) => existsSync(join(home, 'begun')) && !existsSync(join(home, 'over')));
    };
    for (let released = 0; released < names.length; ) {
      // A pair is complete before one of it is released: there are never more.
      const left = Math.min(2, names.length - released);
      await vi.waitFor(async () => expect(await begun()).toHaveLength(left), SLOW_MS / 4);
      expect(await readdir(folder)).toHaveLength(left);
      for (const home of await begun()) {
        await writeFile(join(home, 'over'), '');
        released += 1;
      }
    }
    for (const { status } of await applied) expect(status).toBe('applied');
  });

  test('gives a run its variables and nothing else of the environment', async () => {
    const id = await prepare(
      'environment',
      commanding('env | sort; echo the value is ${TF_VAR_x:-}'),
    );
    const add = async (path: string, type: string, attributes: object, extra: object = {}) => {
      const made = await installation.call('POST', path, { data: { type, attributes, ...extra } });
      expect(made.status).toBeLessThan(300);
    };
    const env = (key: string, value: string) => ({ key, value, category: 'env' });
    const relationships = {
      vars: {
        data: [
          { type: 'vars', attributes: env('FROM_SET', 'set') },
          { type: 'vars', attributes: env('OVERWRITTEN', 'set') },
        ],
      },
    };
    const set = { name: 'all', global: true };
    await add('/organizations/acme/varsets', 'varsets', set, { relationships });
    const enforced = {
      vars: { data: [{ type: 'vars', attributes: env('ENFORCED', 'priority') }] },
    };
    const priority = { name: 'first', global: true, priority: true };
    await add('/organizations/acme/varsets', 'varsets', priority, { relationships: enforced });
    await add(`/workspaces/${id}/vars`, 'vars', env('OVERWRITTEN', 'workspace'));
    await add(`/workspaces/${id}/vars`, 'vars', env('ENFORCED', 'workspace'));
    await add(`/workspaces/${id}/vars`, 'vars', env('TF_CLI_CONFIG_FILE', '/nowhere'));
    const { runId, status } = await apply(id);
    expect(status).toBe('applied');
    const log = await logOf(installation, runId, 'apply');
    const shown = new Map(
      [...log.matchAll(/\(local-exec\): (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(Object.fromEntries(shown)).toMatchObject({
      FROM_SET: 'set',
      OVERWRITTEN: 'workspace',
      ENFORCED: 'priority',
      PATH: process.env['PATH'],
      TF_IN_AUTOMATION: '1',
      TFC_RUN_ID: runId,
    });
    expect(shown.get('TF_CLI_CONFIG_FILE')).not.toBe('/nowhere');
    const foreign = [...shown.keys()].filter(
      (name) =>
        !/^(TF_|TFC_|FROM_SET|OVERWRITTEN|ENFORCED|PATH|HOME|TMPDIR|SSL_CERT_FILE|CHECKPOINT_DISABLE|(?:HTTPS?|NO)_PROXY|(?:https?|no)_proxy|PWD|OLDPWD|SHLVL|_$)/.test(
          name ?? '',
        ),
    );
    expect(foreign).toEqual([]);
  });

  test('keeps organizations apart: files, processes and credentials', async () => {
    // Leaves a file in each place that a run can write to.
    const leaving = 'echo secret-of-acme > $HOME/left; echo secret-of-acme > $TMPDIR/left';
    const left = await apply(await prepare('leaving', commanding(leaving)));
    expect(left.status).toBe('applied');
    await isEmptied();
    await createOrganization(installation, 'globex');
    const looking = `grep -rs 'secret-of-[a]cme' ${folder} $HOME $TMPDIR && echo found; cat $TF_CLI_CONFIG_FILE; ls -d ${folder}/*; id -u; echo over`;
    const looked = await apply(await prepare('looking', commanding(looking), {}, 'globex'));
    expect(looked.status).toBe('applied');
    const log = await logOf(installation, looked.runId, 'apply');
    expect(log).toContain('(local-exec): over');
    expect(log.replaceAll(looking, '')).not.toMatch(/local-exec\): .*(secret-of-acme|found)/);
    // Its own credentials, which end with the phase.
    const [, token = ''] = /token = "([^"]+)"/.exec(log) ?? [];
    expect(token).not.toBe('');
    const { status } = await fetch(`${installation.http}/api/v2/agent-runs/${looked.runId}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(401);
  });

  test.runIf(process.getuid?.() === 0)(
    'executes runs under users of their own, and ends all of their processes',
    async () => {
      const leaving = 'id -u; setsid sleep 7006 > /dev/null 2>&1 & id -u';
      const { runId, status } = await apply(await prepare('user', commanding(leaving)));
      expect(status).toBe('applied');
      const log = await logOf(installation, runId, 'apply');
      const [, id = '0'] = /\(local-exec\): (\d+)$/m.exec(log) ?? [];
      expect(Number(id)).toBeGreaterThan(0);
      await isEmptied();
      expect(await processesWith('7006')).toEqual([]);
      // Nobody else passes through what belongs to the control plane.
      expect((await stat(installation.dataFolder)).mode & 0o077).toBe(0);
    },
  );

  test.runIf(process.getuid?.() === 0)(
    'executes further runs after one that leaves a process which ends all others of its user',
    async () => {
      const leaving = "setsid sh -c 'while :; do kill -9 -1; done # 7007' > /dev/null 2>&1 & wait";
      const { runId, status } = await apply(await prepare('killer', commanding(leaving)));
      expect(status).toBe('errored');
      expect(await logOf(installation, runId, 'apply')).toContain(
        'that executed this apply ended unexpectedly (signal SIGKILL).',
      );
      await isEmptied();
      expect(await processesWith('7007')).toEqual([]);
      const next = await Promise.all(
        ['one', 'two'].map((name) => prepare(`after-killer-${name}`, commanding('true'))),
      );
      const ended = await Promise.all(next.map((id) => apply(id)));
      expect(ended.map(({ status: reached }) => reached)).toEqual(['applied', 'applied']);
    },
  );

  test('executes further runs after one that leaves folders deeper than a path is long', async () => {
    // Each step puts the folder into another of the same name, without a path that is too long.
    const deep =
      'n=$(printf %0200d 0); mkdir $n; for i in $(seq 60); do mkdir t; mv $n t; mv t $n; done';
    const leaving = `cd $HOME; ${deep}; mkdir closed; touch closed/file; chmod 000 closed`;
    expect((await apply(await prepare('deep', commanding(leaving)))).status).toBe('applied');
    await isEmptied();
    const next = await Promise.all(
      ['one', 'two'].map((name) => prepare(`after-deep-${name}`, commanding('true'))),
    );
    const ended = await Promise.all(next.map((id) => apply(id)));
    expect(ended.map(({ status }) => status)).toEqual(['applied', 'applied']);
  });

  test.runIf(process.getuid?.() === 0)(
    'opens no debugger of the executor, which holds the secrets of the run',
    async () => {
      const commands = [
        'p=$PPID',
        "until tr '\\0' ' ' < /proc/$p/cmdline | grep -q executor.ts; do p=$(ps -o ppid= -p $p | tr -d ' '); done",
        'kill -USR1 $p && echo signalled',
        'sleep 1',
        // Sockets that listen at 9229, the port of the debugger; those of the way out of a sandbox listen elsewhere.
        "echo \"listening: $(grep ' 0A ' /proc/net/tcp | grep -ci ':240D ')\"",
      ];
      const text = commanding(commands.join('; '));
      const { runId, status } = await apply(await prepare('debugger', text));
      expect(status).toBe('applied');
      const log = await logOf(installation, runId, 'apply');
      expect(log).toContain('(local-exec): signalled');
      expect(log).toContain('(local-exec): listening: 0');
    },
  );

  test('ends the run of an executor that is killed, and says so', async () => {
    const id = await prepare('killed', commanding('echo it takes long; sleep 7004'));
    const runId = await queueRun(installation, id, { 'auto-apply': true });
    await awaitLog(installation, runId, 'apply', 'it takes long');
    const [slot = ''] = await readdir(folder);
    const { pid } = JSON.parse(await readFile(join(folder, slot, 'occupation.json'), 'utf8')) as {
      readonly pid: number;
    };
    process.kill(pid, 'SIGKILL');
    expect(await settledStatus(installation, runId)).toBe('errored');
    expect(await logOf(installation, runId, 'apply')).toContain(
      'The process of the built-in runner that executed this apply ended unexpectedly (signal SIGKILL).',
    );
    await isEmptied();
    expect(await processesWith('7004')).toEqual([]);
  });

  test('takes a release out of the folder of zip files, once its sum is right', async () => {
    const zip = `terraform_1.5.7_linux_${process.arch === 'x64' ? 'amd64' : process.arch}.zip`;
    // The real tool under another version.
    const real = await findBinary('terraform', 'terraform');
    const program = `#!/bin/sh
if [ "$1" = version ]; then echo '{"terraform_version":"1.5.7","platform":"here"}'; else exec ${real} "$@"; fi
`;
    const bytes = storedZip('terraform', Buffer.from(program));
    await writeFile(join(tools, zip), bytes);
    const sums = join(tools, 'terraform_1.5.7_SHA256SUMS');
    const id = await prepare('zipped', configuration('one'), { 'terraform-version': '~> 1.5.0' });
    await writeFile(sums, `${'0'.repeat(64)}  ${zip}\n`);
    const refused = await apply(id);
    expect(refused.status).toBe('errored');
    expect(await logOf(installation, refused.runId)).toContain(
      `${join(tools, zip)} is not used, because its SHA-256 sum is not the one in terraform_1.5.7_SHA256SUMS.`,
    );
    const digest = createHash('sha256').update(bytes).digest('hex');
    await writeFile(sums, `${digest}  ${zip}\n`);
    const { runId, status } = await apply(id);
    expect(status).toBe('applied');
    expect(await logOf(installation, runId)).toContain('Terraform v1.5.7 on here');
  });
});

describe('a control plane', { timeout: SLOW_MS }, () => {
  test.for([
    ['turned off', {}],
    ['asked for, and does not work', { KEELSON_RUNNER: 'true', PATH: '/nonexistent' }],
  ] as const)('says that its built-in runner is off: %s', async ([, env]) => {
    await using installation = await install(env);
    const id = await createWorkspace(installation, 'acme', 'nobody');
    await uploadConfiguration(installation, id, { 'main.tf': configuration('one') });
    const { status, document } = await tryQueueRun(installation, id);
    expect(status).toBe(422);
    expect(document).toMatchObject({
      errors: [
        {
          detail: expect.stringContaining(
            'no agent executes runs of execution mode remote, and the built-in runner is off (KEELSON_RUNNER; `keelson status` says why): have it turned on, register an agent',
          ) as string,
        },
      ],
    });
  });

  test('interrupts what takes too long, and names the limit', async () => {
    const limit = { KEELSON_RUNNER_TIME_LIMIT_SECONDS: '15' };
    await using installation = await install({ ...RUNNER, ...limit });
    const id = await createWorkspace(installation, 'acme', 'slow');
    await uploadConfiguration(installation, id, { 'main.tf': commanding('sleep 7002') });
    const runId = await queueRun(installation, id, { 'auto-apply': true });
    expect(await settledStatus(installation, runId)).toBe('errored');
    expect(await logOf(installation, runId, 'apply')).toContain(
      'interrupted after 15 seconds, the time limit of the built-in runner (KEELSON_RUNNER_TIME_LIMIT_SECONDS)',
    );
    expect(await processesWith('7002')).toEqual([]);
  });

  test('executes runs with the release that is there, if the setting says so', async () => {
    await using installation = await install({ ...RUNNER, KEELSON_RUNNER_OTHER_RELEASE: 'true' });
    const version = { 'terraform-version': '1.5.6' };
    const id = await createWorkspace(installation, 'acme', 'other-release', version);
    await uploadConfiguration(installation, id, { 'main.tf': configuration('one') });
    const runId = await queueRun(installation, id, { 'auto-apply': true });
    expect(await settledStatus(installation, runId)).toBe('applied');
    expect(await logOf(installation, runId)).toMatch(/Terraform v1\.(?!5\.)/);
  });

  test('that is killed during an apply ends it when it starts again, with its state', async () => {
    const ports = { http: await findFreePort(), https: await findFreePort() };
    await using installation = await install(async (place) => ({
      ...RUNNER,
      KEELSON_RUNNER_FOLDER: await place('runner'),
      KEELSON_HTTP_PORT: String(ports.http),
      KEELSON_HTTPS_PORT: String(ports.https),
    }));
    const text = `resource "terraform_data" "made" { input = "made" }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.made]
  provisioner "local-exec" { command = "echo it takes long; sleep 7005" }
}
`;
    const id = await createWorkspace(installation, 'acme', 'interrupted');
    await uploadConfiguration(installation, id, { 'main.tf': text });
    const runId = await queueRun(installation, id, { 'auto-apply': true });
    await awaitLog(installation, runId, 'apply', 'it takes long');
    await installation.restart('SIGKILL');
    expect(await settledStatus(installation, runId)).toBe('errored');
    expect(await logOf(installation, runId, 'apply')).toMatch(
      /The built-in runner was stopped (or restarted )?while it worked on this run\./,
    );
    expect(await processesWith('7005')).toEqual([]);
    const { data } = await installation.call('GET', `/workspaces/${id}`);
    // One that was made, and one that is tainted.
    expect(data.attributes).toMatchObject({ locked: false, 'resource-count': 2 });
    await vi.waitFor(
      async () => expect(await readdir(join(installation.dataFolder, '..', 'runner'))).toEqual([]),
      SLOW_MS / 4,
    );
  });
});
