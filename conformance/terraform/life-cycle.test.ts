import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cloudBlock,
  configuration,
  type Installation,
  install,
  remoteBackend,
} from './terraform-cli.ts';

const BACKENDS = [
  ['a cloud block', cloudBlock],
  ['the remote backend', remoteBackend],
] as const;

describe.for(BACKENDS)('terraform with %s', ([, select]) => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await install();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  const open = async (name: string) => {
    const project = await installation.project({
      'backend.tf': select(installation.host, `name = "${name}"`),
      'main.tf': configuration('first'),
    });
    await project.run('init');
    const workspace = () => installation.call('GET', `/organizations/acme/workspaces/${name}`);
    return { ...project, workspace };
  };

  test('creates the workspace, applies, shows outputs and destroys', async () => {
    const { run, write, workspace } = await open('life');
    expect(await run('plan')).toContain('1 to add');
    expect(await run('apply', '-auto-approve')).toContain('1 added');
    expect((await workspace()).data.attributes).toMatchObject({
      'resource-count': 1,
      locked: false,
    });
    expect((await run('output', '-raw', 'one')).trim()).toBe('first');
    expect(JSON.parse(await run('output', '-json', 'secret'))).toEqual(['hidden first']);
    expect(await run('plan')).toContain('No changes');

    await write('main.tf', configuration('second'));
    expect(await run('apply', '-auto-approve')).toContain('1 changed');
    expect((await run('output', '-raw', 'one')).trim()).toBe('second');
    expect(await run('show')).toContain('terraform_data.one');

    const refused = await installation.call(
      'POST',
      `/workspaces/${(await workspace()).data.id}/actions/safe-delete`,
    );
    expect(refused.status).toBe(409);
    expect(await run('destroy', '-auto-approve')).toContain('1 destroyed');
    expect((await workspace()).data.attributes['resource-count']).toBe(0);
  });

  test('reads, moves, removes and replaces what is in the state', async () => {
    const { run, refused, write, folder } = await open('surgery');
    await run('apply', '-auto-approve');
    const pulled = JSON.parse(await run('state', 'pull')) as { serial: number; lineage: string };
    expect(pulled.serial).toBeGreaterThan(0);

    await run('state', 'mv', 'terraform_data.one', 'terraform_data.two');
    expect(await run('state', 'list')).toBe('terraform_data.two\n');
    await run('state', 'mv', 'terraform_data.two', 'terraform_data.one');
    await run('taint', 'terraform_data.one');
    expect(await run('plan')).toContain('must be replaced');
    await run('untaint', 'terraform_data.one');
    expect(await run('plan')).toContain('No changes');

    const current = JSON.parse(await run('state', 'pull')) as { serial: number };
    const next = join(folder, 'next.tfstate');
    await writeFile(next, JSON.stringify({ ...current, serial: current.serial + 1 }));
    await run('state', 'push', 'next.tfstate');
    await write('old.tfstate', JSON.stringify(pulled));
    expect(await refused('state', 'push', 'old.tfstate')).toContain('serial');
    expect(JSON.parse(await readFile(next, 'utf8'))).toMatchObject({ lineage: pulled.lineage });
    // With a cloud block the request does not say that it is forced, and the older serial is refused.
    if (select !== cloudBlock) await run('state', 'push', '-force', 'old.tfstate');
    await run('state', 'rm', 'terraform_data.one');
    expect(await run('state', 'list')).toBe('');
    await run('import', 'terraform_data.one', 'made-elsewhere');
    expect(await run('state', 'list')).toBe('terraform_data.one\n');
  });

  test('migrates a local state', async () => {
    const project = await installation.project({ 'main.tf': configuration('local') });
    await project.run('init');
    await project.run('apply', '-auto-approve');
    await project.write('backend.tf', select(installation.host, 'name = "migrated"'));
    await (select === cloudBlock
      ? project.answering(['yes'], 'init')
      : project.run('init', '-migrate-state', '-force-copy'));
    expect((await project.run('output', '-raw', 'one')).trim()).toBe('local');
  });
});
