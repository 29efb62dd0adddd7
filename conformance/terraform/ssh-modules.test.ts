/**
 * Modules in private repositories, which are downloaded over SSH with the key of the workspace.
 *
 * | asked                                         | seen, with the built-in runner and with an agent          |
 * | --------------------------------------------- | --------------------------------------------------------- |
 * | a run of a workspace with the key             | applied with the module, in both phases                   |
 * | the code of that run                          | neither a file nor the environment has the key            |
 * | a run of a workspace without a key            | errored; the log has what git says                        |
 * | a run of a workspace with a text as its key   | errored; the log has what ssh says, and not the text      |
 */
import {
  type RepositoryServer,
  type SshServer,
  startRepositoryServer,
  startSshServer,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentProcess, createPool, startAgent } from './agent-process.ts';
import {
  createWorkspace,
  logOf,
  queueRun,
  settledStatus,
  uploadConfiguration,
} from './api-runs.ts';
import { type Installation, install } from './terraform-cli.ts';

const SLOW_MS = 240_000;
const MODULE = `
variable "value" { type = string }
resource "terraform_data" "of_module" { input = var.value }
`;

let repositories: RepositoryServer;
let ssh: SshServer;
beforeAll(async () => {
  repositories = await startRepositoryServer();
  await repositories.commit('acme/module', { 'main.tf': MODULE });
  ssh = await startSshServer(repositories.folder);
});
afterAll(async () => {
  await ssh[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
});

/** Uses the module, and looks for the key in every place that the code of a run can read. */
const configuration = (): string => `
module "private" {
  source = "git::ssh://git@${ssh.authority}/acme/module.git"
  value  = "downloaded"
}
resource "terraform_data" "looking" {
  depends_on = [module.private]
  provisioner "local-exec" {
    command = "env; grep -rl 'BEGIN [O]PENSSH' $(dirname $TF_CLI_CONFIG_FILE) && echo found; echo over"
  }
}
`;

const where = { runner: 'the built-in runner', agent: 'an agent' } as const;

describe.for(['runner', 'agent'] as const)(
  'modules over SSH, with a phase executed by %s',
  { timeout: SLOW_MS },
  (executor) => {
    let installation: Installation;
    let agent: AgentProcess | undefined;
    let settings: object;
    beforeAll(async () => {
      installation = await install(async (place) =>
        executor === 'agent'
          ? {}
          : {
              KEELSON_RUNNER: 'true',
              KEELSON_RUNNER_FOLDER: await place('runner'),
              KEELSON_RUNNER_ALLOWED_RANGES: '127.0.0.0/8',
            },
      );
      settings = { 'execution-mode': 'remote' };
      if (executor === 'runner') return;
      const pool = await createPool(installation, 'agents');
      agent = await startAgent(installation, pool, await installation.folder('agent'), {
        KEELSON_AGENT_ALLOWED_RANGES: '127.0.0.0/8',
      });
      await agent.said('registered as');
      settings = { 'execution-mode': 'agent', 'agent-pool-id': pool.poolId };
    }, SLOW_MS);
    afterAll(async () => {
      await agent?.stop();
      await installation[Symbol.asyncDispose]();
    }, SLOW_MS);

    /** A finished run of a new workspace. @param value of its key; undefined if it has none */
    const runWith = async (name: string, value: string | undefined) => {
      const id = await createWorkspace(installation, 'acme', name, settings);
      await uploadConfiguration(installation, id, { 'main.tf': configuration() });
      if (value !== undefined) {
        const key = await installation.call('POST', '/organizations/acme/ssh-keys', {
          data: { type: 'ssh-keys', attributes: { name, value } },
        });
        await installation.call('PATCH', `/workspaces/${id}/relationships/ssh-key`, {
          data: { type: 'workspaces', attributes: { id: key.data.id } },
        });
      }
      const runId = await queueRun(installation, id, { 'auto-apply': true });
      return { runId, status: await settledStatus(installation, runId) };
    };

    test(`are downloaded by ${where[executor]} with the key, which the run's code does not find`, async () => {
      const before = ssh.commands.length;
      // A key pasted from Windows, without the end of the last line.
      const value = ssh.privateKey.trim().replaceAll('\n', '\r\n');
      const { runId, status } = await runWith('with-key', value);
      expect(await logOf(installation, runId)).toContain('Plan: 2 to add');
      expect(status).toBe('applied');
      expect(new Set(ssh.commands.slice(before))).toEqual(
        new Set(["git-upload-pack '/acme/module.git'"]),
      );
      const log = await logOf(installation, runId, 'apply');
      expect(log).toContain('(local-exec): over');
      expect(log).not.toMatch(/local-exec\): (found|GIT_SSH|.*ssh-key)/);
    });

    test.for([
      ['none', undefined, /Could not read from remote repository/],
      ['an invalid one', 'no-key-of-anybody', /Permission denied|SSH key of the workspace cannot/],
    ] as const)(`are not downloaded by ${where[executor]} with %s`, async ([name, value, text]) => {
      const before = ssh.commands.length;
      const { runId, status } = await runWith(name.replaceAll(' ', '-'), value);
      expect(status).toBe('errored');
      const log = await logOf(installation, runId);
      expect(log).toMatch(text);
      expect(log).not.toContain('no-key-of-anybody');
      expect(ssh.commands.length).toBe(before);
    });
  },
);
