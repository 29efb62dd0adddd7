import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cloudBlock,
  configuration,
  type Installation,
  install,
  remoteBackend,
} from './terraform-cli.ts';

describe('workspaces as terraform manages them', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await install();
  });
  afterAll(() => installation[Symbol.asyncDispose]());

  const names = (listing: string) =>
    listing
      .split('\n')
      .map((line) => line.replace('*', '').trim())
      .filter((name) => name !== '');

  const bindings = async (name: string) => {
    const { data } = await installation.call('GET', `/organizations/acme/workspaces/${name}`);
    const { list } = await installation.call('GET', `/workspaces/${data.id}/tag-bindings`);
    return list.map(({ attributes }) => [attributes['key'], attributes['value']]);
  };

  test.for([
    [
      'a list',
      'tags = ["net", "src:cli"]',
      ['net', 'src:cli'],
      [
        ['net', ''],
        ['src:cli', ''],
      ],
    ],
    [
      'a map',
      'tags = { env = "prod", team = "x" }',
      [],
      [
        ['env', 'prod'],
        ['team', 'x'],
      ],
    ],
  ] as const)('are chosen by tags written as %s', async ([form, tags, tagNames, expected]) => {
    const suffix = form.replace(' ', '-');
    const project = await installation.project({
      'backend.tf': cloudBlock(installation.host, tags),
      'main.tf': configuration(form),
    });
    await project.answering([`first-${suffix}`], 'init');
    const isByForce = form === 'a map';
    await (isByForce
      ? project.run('workspace', 'select', '-or-create', `second-${suffix}`)
      : project.run('workspace', 'new', `second-${suffix}`));
    expect(names(await project.run('workspace', 'list'))).toEqual([
      `first-${suffix}`,
      `second-${suffix}`,
    ]);
    const path = `/organizations/acme/workspaces/second-${suffix}`;
    expect((await installation.call('GET', path)).data.attributes['tag-names']).toEqual(tagNames);
    const bound = (await bindings(`second-${suffix}`)).map(([key, value]) => [key, value ?? '']);
    expect(bound).toHaveLength(expected.length);
    expect(bound).toEqual(expect.arrayContaining([...expected]));

    await project.run('apply', '-auto-approve');
    await project.run('workspace', 'select', `first-${suffix}`);
    expect((await project.run('workspace', 'show')).trim()).toBe(`first-${suffix}`);
    expect(await project.refused('state', 'list')).toContain('No state file was found');
    expect(await project.refused('workspace', 'delete', `second-${suffix}`)).toMatch(
      /still managing|not empty/,
    );
    if (isByForce) {
      await project.run('workspace', 'delete', '-force', `second-${suffix}`);
    } else {
      await project.run('workspace', 'select', `second-${suffix}`);
      await project.run('destroy', '-auto-approve');
      await project.run('workspace', 'select', `first-${suffix}`);
      await project.run('workspace', 'delete', `second-${suffix}`);
    }
    expect((await installation.call('GET', path)).status).toBe(404);
    expect(names(await project.run('workspace', 'list'))).toEqual([`first-${suffix}`]);
  });

  test('are created in the project that the cloud block names', async () => {
    const project = await installation.project({
      'backend.tf': cloudBlock(installation.host, 'name = "in-alpha"\n project = "Alpha"'),
      'main.tf': configuration('x'),
    });
    await project.run('init');
    const { list } = await installation.call(
      'GET',
      '/organizations/acme/projects?filter[names]=Alpha',
    );
    expect(list[0]?.attributes).toMatchObject({ name: 'Alpha', 'workspace-count': 1 });
  });

  test('share a prefix with the remote backend', async () => {
    const project = await installation.project({
      'backend.tf': remoteBackend(installation.host, 'prefix = "net-"'),
      'main.tf': configuration('x'),
    });
    expect(await project.refused('init')).toContain('No existing workspaces');
    await project.run('workspace', 'new', 'one');
    await project.run('workspace', 'new', 'two');
    expect(names(await project.run('workspace', 'list'))).toEqual(['one', 'two']);
    await project.run('workspace', 'select', 'one');
    await project.run('workspace', 'delete', 'two');
    expect(names(await project.run('workspace', 'list'))).toEqual(['one']);
  });
});
