/** The reference agent from its image, executing a run with the terraform binary in it. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { GenericContainer, Wait } from 'testcontainers';
import { describe, expect, test, vi } from 'vitest';
import { buildAgentImage } from './agent-image.ts';

const run = promisify(execFile);
const LIMIT_MS = 600_000;
const STEP_LIMIT_MS = 120_000;
const terraform = await findBinary('terraform', 'terraform');

interface Resource {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

describe('the image of the agent', () => {
  test('executes a run, and leaves when it is stopped', { timeout: LIMIT_MS }, async () => {
    await using image = await buildAgentImage(terraform);
    await using folder = await temporaryDirectory();
    await using started = new AsyncDisposableStack();
    const keelson = await startKeelson({ dataFolder: join(folder.path, 'keelson') });
    started.defer(async () => {
      await keelson.stop();
    });
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${keelson.http}/api/v2${path}`, {
        method,
        headers: {
          authorization: `Bearer ${keelson.apiToken}`,
          'content-type': 'application/vnd.api+json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? undefined : (JSON.parse(text) as { readonly data: unknown }).data;
    };
    const create = async (path: string, type: string, attributes: object, relationships = {}) =>
      (await call('POST', path, { data: { type, attributes, relationships } })) as Resource;
    const show = async (path: string) => (await call('GET', path)) as Resource;

    await create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
    const pool = await create('/organizations/acme/agent-pools', 'agent-pools', { name: 'pool' });
    const token = await create(
      `/agent-pools/${pool.id}/authentication-tokens`,
      'authentication-tokens',
      { description: 'container' },
    );
    // Not even the program of the sandbox is in this image.
    const settings = [
      '-e',
      `KEELSON_AGENT_ADDRESS=${keelson.http}`,
      '-e',
      'KEELSON_AGENT_TOKEN=one',
    ];
    const refusal = await run('docker', ['run', '--rm', ...settings, image.name]).catch(
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^no sandbox for runs can be made on this machine /) as string,
    });
    const agent = await new GenericContainer(image.name)
      .withNetworkMode('host')
      .withEnvironment({
        KEELSON_AGENT_ADDRESS: keelson.http,
        KEELSON_AGENT_TOKEN: String(token.attributes['token']),
        KEELSON_AGENT_NAME: 'container',
        // The container is the wall.
        KEELSON_AGENT_EXECUTION: 'unsafe',
        KEELSON_AGENT_POLL_MILLISECONDS: '200',
      })
      .withWaitStrategy(Wait.forLogMessage('registered as'))
      .withStartupTimeout(STEP_LIMIT_MS)
      .start();
    try {
      const workspace = await create('/organizations/acme/workspaces', 'workspaces', {
        name: 'app',
        'execution-mode': 'agent',
        'agent-pool-id': pool.id,
        'auto-apply': true,
      });
      const files = join(folder.path, 'configuration');
      await mkdir(files);
      await writeFile(
        join(files, 'main.tf'),
        'resource "terraform_data" "one" { input = "made in a container" }\noutput "one" { value = terraform_data.one.output }\n',
      );
      const archive = join(folder.path, 'configuration.tar.gz');
      await run('tar', ['-czf', archive, '-C', files, '.']);
      const version = await create(
        `/workspaces/${workspace.id}/configuration-versions`,
        'configuration-versions',
        {},
      );
      const uploaded = await fetch(String(version.attributes['upload-url']), {
        method: 'PUT',
        body: await readFile(archive),
      });
      expect(uploaded.status).toBe(204);
      await vi.waitFor(
        async () => {
          const [queued] = (await call('GET', `/workspaces/${workspace.id}/runs`)) as Resource[];
          expect(queued?.attributes['status']).toBe('applied');
        },
        { timeout: STEP_LIMIT_MS, interval: 300 },
      );
      const outputs = await call(
        'GET',
        `/workspaces/${workspace.id}/current-state-version-outputs`,
      );
      expect((outputs as Resource[]).map(({ attributes }) => attributes['value'])).toEqual([
        'made in a container',
      ]);
    } finally {
      await agent.stop({ timeout: STEP_LIMIT_MS });
    }
    const [left] = (await call('GET', `/agent-pools/${pool.id}/agents`)) as Resource[];
    expect(await show(`/agents/${left?.id}`)).toMatchObject({
      attributes: { name: 'container', status: 'exited' },
    });
  });
});
