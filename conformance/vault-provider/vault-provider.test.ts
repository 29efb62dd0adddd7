/**
 * The published terraform provider for the secrets API, unmodified, in the real terraform: policies, roles of tokens,
 * auth methods, entities and groups are applied, changed and destroyed, and nothing is left to change each time.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildGoTool } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Installation, install, type Project } from '../terraform/terraform-cli.ts';

const NAME = 'terraform-provider-vault';
const ADDRESS = 'registry.terraform.io/hashicorp/vault';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
const CHANGES = ['-var', 'revision=two'];

let installation: Installation;
let project: Project;

beforeAll(async () => {
  const program = await buildGoTool(import.meta.dirname, NAME);
  installation = await install();
  const goMod = await readFile(join(import.meta.dirname, 'go.mod'), 'utf8');
  const version = new RegExp(`hashicorp/${NAME} v(\\S+)`).exec(goMod)?.[1] ?? '';
  const platform = `${process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;
  const place = join(dirname(installation.providersFile), ADDRESS, version, platform);
  await mkdir(place, { recursive: true });
  await symlink(program, join(place, `${NAME}_v${version}`));
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const firstRun = await readFile(join(installation.dataFolder, 'first-run.json'), 'utf8');
  project = await installation.project({
    'main.tf': await readFile(join(import.meta.dirname, 'main.tf'), 'utf8'),
    'terraform.tfvars.json': JSON.stringify({
      address: installation.http,
      token: (JSON.parse(firstRun) as { readonly root_token: string }).root_token,
      // A stored key has no line break at its end.
      public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString().trimEnd(),
    }),
  });
  await project.run('init');
});
afterAll(() => installation[Symbol.asyncDispose]());

/** A plan of the changes that are still to be made; "" if there are none. */
const leftOver = async (...args: readonly string[]): Promise<string> => {
  const { code, output } = await project.start('plan', '-detailed-exitcode', ...args).outcome;
  return code === 0 ? '' : output;
};

test('a configuration is applied, and a second plan has nothing to do', async () => {
  await project.run('apply', '-auto-approve');
  expect(await leftOver()).toBe('');
});

test('it is changed, and a second plan has nothing to do', async () => {
  await project.run('apply', '-auto-approve', ...CHANGES);
  expect(await leftOver(...CHANGES)).toBe('');
});

test('it is destroyed', async () => {
  await project.run('destroy', '-auto-approve', ...CHANGES);
  expect(await project.run('state', 'list')).toBe('');
});
