import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cloudBlock,
  configuration,
  type Installation,
  install,
  type Project,
} from './terraform-cli.ts';

/** Enough for a busy machine. */
const LARGE_MS = 600_000;

/** An apply that reports its start and waits for permission to continue, through two named pipes. */
const heldConfiguration = (folder: string): string => `
resource "terraform_data" "held" {
  provisioner "local-exec" {
    command = "echo begun > '${folder}/begun' && cat '${folder}/go'"
  }
}
`;

describe('terraform under faults', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await install();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  const open = async (name: string): Promise<Project> => {
    const project = await installation.project({
      'backend.tf': cloudBlock(installation.host, `name = "${name}"`),
      'main.tf': configuration('x'),
    });
    await project.run('init');
    return project;
  };

  /** An apply that holds the lock and is in progress. */
  const startHeldApply = async (project: Project) => {
    execFileSync('mkfifo', [join(project.folder, 'begun'), join(project.folder, 'go')]);
    await project.write('main.tf', heldConfiguration(project.folder));
    const running = project.start('apply', '-auto-approve');
    await readFile(join(project.folder, 'begun'));
    return { ...running, letGo: () => writeFile(join(project.folder, 'go'), '') };
  };

  const workspace = (name: string) =>
    installation.call('GET', `/organizations/acme/workspaces/${name}`);

  test('one of two simultaneous applies is refused because of the lock', async () => {
    const first = await open('busy');
    const second = await open('busy');
    const held = await startHeldApply(first);
    expect(await second.refused('apply', '-auto-approve')).toContain('workspace already locked');
    await held.letGo();
    expect((await held.outcome).code).toBe(0);
    expect(await second.run('apply', '-auto-approve')).toContain('1 added, 0 changed, 1 destroyed');
  });

  test('a killed apply leaves its lock, which force-unlock removes', async () => {
    const project = await open('killed');
    await project.run('apply', '-auto-approve');
    const held = await startHeldApply(project);
    held.child.kill('SIGKILL');
    await held.letGo();
    await held.outcome;
    expect((await workspace('killed')).data.attributes['locked']).toBe(true);
    await project.write('main.tf', configuration('after'));
    expect(await project.refused('apply', '-auto-approve')).toContain('workspace already locked');
    expect(await project.refused('force-unlock', '-force', 'acme/other')).toContain('lock');
    await project.run('force-unlock', '-force', 'acme/killed');
    await project.run('apply', '-auto-approve');
    expect((await project.run('output', '-raw', 'one')).trim()).toBe('after');
    expect(await project.run('plan')).toContain('No changes');
    expect((await workspace('killed')).data.attributes['locked']).toBe(false);
  });

  test('a lock that a person holds is neither acquired nor released', async () => {
    const project = await open('manual');
    const { data } = await workspace('manual');
    const lock = { reason: 'maintenance' };
    expect(
      (await installation.call('POST', `/workspaces/${data.id}/actions/lock`, lock)).status,
    ).toBe(200);
    expect(await project.refused('plan')).toContain('workspace already locked');
    expect((await workspace('manual')).data.attributes).toMatchObject({
      locked: true,
      'locked-reason': 'maintenance',
    });
    expect(await project.run('plan', '-lock=false')).toContain('1 to add');
  });

  test('a state of 100 MB is uploaded and downloaded', { timeout: LARGE_MS }, async () => {
    const project = await open('large');
    await project.run('apply', '-auto-approve');
    const small = JSON.parse(await project.run('state', 'pull')) as {
      serial: number;
      lineage: string;
      resources: Record<string, unknown>[];
    };
    const text = 'x'.repeat(1024 * 1024);
    const instance = (index: number) => ({
      mode: 'managed',
      type: 'terraform_data',
      name: `large_${index}`,
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [
        {
          schema_version: 0,
          attributes: {
            id: `id-${index}`,
            input: { value: text, type: 'string' },
            output: { value: text, type: 'string' },
            triggers_replace: null,
          },
        },
      ],
    });
    const file = createWriteStream(join(project.folder, 'large.tfstate'));
    const resources = Array.from({ length: 50 }, (_, index) => instance(index));
    file.end(JSON.stringify({ ...small, serial: small.serial + 1, resources }));
    await finished(file);

    await project.run('state', 'push', 'large.tfstate');
    const { data } = await workspace('large');
    expect(data.attributes['resource-count']).toBe(50);
    const current = await installation.call('GET', `/workspaces/${data.id}/current-state-version`);
    expect(current.data.attributes['size']).toBeGreaterThan(100_000_000);
    const download = await fetch(String(current.data.attributes['hosted-state-download-url']));
    const hash = createHash('md5');
    for await (const piece of download.body ?? []) hash.update(piece as Uint8Array);
    expect(hash.digest('hex')).toBe(current.data.attributes['md5']);
    expect(await project.run('state', 'list')).toContain('terraform_data.large_49');
  });
});
