/**
 * The unmodified terraform binary in workspaces whose runs an agent executes, including runs queued by the
 * service.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentProcess, createPool, startAgent } from './agent-process.ts';
import {
  cloudBlock,
  configuration,
  type Installation,
  install,
  remoteBackend,
} from './terraform-cli.ts';

const SLOW_MS = 240_000;
const AUTO_DESTROY_MS = 1000;

describe('terraform with an agent', { timeout: SLOW_MS }, () => {
  let installation: Installation;
  let agent: AgentProcess;
  /** It becomes due while the other tests run, because the service checks once a minute. */
  let doomed: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    installation = await install();
    const pool = await createPool(installation, 'agents');
    agent = await startAgent(installation, pool, await installation.folder('agent'));
    await agent.said('registered as');
    doomed = await open('doomed', configuration('short lived'));
    await doomed.run('apply', '-auto-approve');
    await installation.call('PATCH', `/workspaces/${doomed.id}`, {
      data: {
        type: 'workspaces',
        attributes: { 'auto-destroy-at': new Date(Date.now() + AUTO_DESTROY_MS).toISOString() },
      },
    });
  }, SLOW_MS);
  afterAll(async () => {
    await agent.stop();
    await installation[Symbol.asyncDispose]();
  }, SLOW_MS);

  const open = async (name: string, text: string, select = cloudBlock) => {
    const project = await installation.project({
      'backend.tf': select(installation.host, `name = "${name}"`),
      'main.tf': text,
    });
    await project.run('init');
    const workspace = async () =>
      (await installation.call('GET', `/organizations/acme/workspaces/${name}`)).data;
    return { ...project, workspace, id: (await workspace()).id };
  };
  const setVariable = (workspaceId: string, attributes: object) =>
    installation.call('POST', `/workspaces/${workspaceId}/vars`, {
      data: { type: 'vars', attributes },
    });

  test('plans, asks for confirmation, applies, shows outputs and destroys', async () => {
    const { run, write, answering, workspace, id } = await open('remote', configuration('first'));
    const planned = await run('plan');
    expect(planned).toContain('Running plan in');
    // Nothing else is queued.
    expect(planned).not.toContain('queued run(s)');
    expect(planned).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
    const asked = await answering(['yes'], 'apply');
    expect(asked).toContain("Only 'yes' will be accepted to approve");
    expect(asked).toContain('1 added, 0 changed, 0 destroyed');
    expect((await run('output', '-raw', 'one')).trim()).toBe('first');
    expect((await workspace()).attributes).toMatchObject({ 'resource-count': 1, locked: false });

    await write('main.tf', configuration('second'));
    const saved = await run('plan', '-out=later.tfplan');
    expect(saved).toContain('1 to change');
    expect(await run('apply', 'later.tfplan')).toContain('1 changed');
    expect(await run('apply', '-auto-approve', '-replace=terraform_data.one')).toContain('1 added');
    expect(await run('apply', '-auto-approve', '-refresh-only')).toContain('No changes');
    expect(await run('destroy', '-auto-approve')).toContain('1 destroyed');
    const { attributes } = await workspace();
    expect(attributes).toMatchObject({ 'resource-count': 0, 'workspace-kpis-runs-count': 4 });

    const listed = await installation.call('GET', `/workspaces/${id}/runs?page[size]=100`);
    expect(listed.list.map((one) => one.attributes['is-destroy'])).toContain(true);
    const told = (name: string) => new Set(listed.list.map(({ attributes }) => attributes[name]));
    expect(told('source')).toEqual(new Set(['terraform+cloud']));
    expect(told('message')).toEqual(new Set(['Triggered via CLI']));
    const applied = listed.list.find((one) => one.attributes['status'] === 'applied');
    const applyId = applied?.id.replace('run-', 'apply-');
    const apply = await installation.call('GET', `/applies/${applyId}`);
    // A slow apply stores its intermediate states too.
    expect(apply.data.relationships?.['state-versions']?.data).not.toHaveLength(0);
    const redacted = await installation.call(
      'GET',
      `/runs/${applied?.id}/plan/json-output-redacted`,
    );
    expect(redacted.document).toMatchObject({
      plan_format_version: expect.any(String) as string,
      configuration: {
        root_module: { resources: [{ address: expect.any(String) as string, expressions: {} }] },
      },
    });
  });

  test('discards a run that is not confirmed, and releases the workspace', async () => {
    const { startAnswering, workspace, id } = await open('declined', configuration('first'));
    const declined = startAnswering(['no'], 'apply');
    expect((await declined.outcome).output).toContain('Apply discarded');
    expect((await workspace()).attributes).toMatchObject({ locked: false, 'resource-count': 0 });
    const { list } = await installation.call('GET', `/workspaces/${id}/runs`);
    expect(list.map(({ attributes }) => attributes['status'])).toEqual(['discarded']);
  });

  test('gives the tool its variables, with backend "remote" too', async () => {
    const text = `
variable "plain" {}
variable "list" { type = list(number) }
variable "secret" { sensitive = true }
variable "given" { default = "default" }
output "all" {
  value = "\${var.plain} \${var.list[1]} \${var.given} \${terraform.workspace}"
}
output "secret" {
  value     = var.secret
  sensitive = true
}
resource "terraform_data" "environment" {
  provisioner "local-exec" { command = "echo from $OUTSIDE" }
}
`;
    const { run, id } = await open('variables', text);
    await setVariable(id, { key: 'plain', value: 'a "b" ${c}', category: 'terraform' });
    await setVariable(id, { key: 'list', value: '[1, 2]', category: 'terraform', hcl: true });
    await setVariable(id, { key: 'given', value: 'workspace', category: 'terraform' });
    await setVariable(id, { key: 'OUTSIDE', value: 'outside', category: 'env' });
    await setVariable(id, {
      key: 'secret',
      value: 'hunter2',
      category: 'terraform',
      sensitive: true,
    });
    const output = await run('apply', '-auto-approve', '-var=given=run');
    expect(output).toContain('from outside');
    expect(output).not.toContain('hunter2');
    expect((await run('output', '-raw', 'all')).trim()).toBe('a "b" ${c} 2 run variables');
    expect((await run('output', '-raw', 'secret')).trim()).toBe('hunter2');

    const older = await open('variables', text, remoteBackend);
    expect(await older.run('plan')).toContain('2 workspace variables');
  });

  test('reads the state of another workspace only while that one shares it', async () => {
    const producer = await open('producer', 'output "shared" { value = "of the producer" }\n');
    await producer.run('apply', '-auto-approve');
    const consumer = await open(
      'consumer',
      `
data "terraform_remote_state" "producer" {
  backend = "remote"
  config = {
    hostname     = "${installation.host}"
    organization = "acme"
    workspaces   = { name = "producer" }
  }
}
output "read" { value = data.terraform_remote_state.producer.outputs.shared }
`,
    );
    // The user may read everything, but the run may not.
    expect(await consumer.refused('apply', '-auto-approve')).toContain('Error');
    const added = await installation.call(
      'POST',
      `/workspaces/${producer.id}/relationships/remote-state-consumers`,
      { data: [{ type: 'workspaces', id: consumer.id }] },
    );
    expect(added.status).toBe(204);
    expect(await consumer.run('apply', '-auto-approve')).toContain('of the producer');
    await installation.call(
      'DELETE',
      `/workspaces/${producer.id}/relationships/remote-state-consumers`,
      { data: [{ type: 'workspaces', id: consumer.id }] },
    );
    expect(await consumer.refused('plan')).toContain('Error');
    await installation.call('PATCH', `/workspaces/${producer.id}`, {
      data: { type: 'workspaces', attributes: { 'global-remote-state': true } },
    });
    expect(await consumer.run('plan')).toContain('No changes');
  });

  test('works in the working directory of the workspace', async () => {
    const { folder, run } = await installation.project({});
    await mkdir(join(folder, 'live'));
    await mkdir(join(folder, 'shared'));
    await writeFile(join(folder, 'shared', 'words.txt'), 'of the parent');
    await writeFile(
      join(folder, 'live', 'main.tf'),
      `${cloudBlock(installation.host, 'name = "nested"')}
output "words" { value = file("../shared/words.txt") }
`,
    );
    await run('-chdir=live', 'init');
    const { data } = await installation.call('GET', '/organizations/acme/workspaces/nested');
    await installation.call('PATCH', `/workspaces/${data.id}`, {
      data: { type: 'workspaces', attributes: { 'working-directory': 'live' } },
    });
    expect(await run('-chdir=live', 'apply', '-auto-approve')).toContain('of the parent');
  });

  test('keeps the resources of a failed apply, and ends as errored', async () => {
    const { refused, workspace, run } = await open(
      'failing',
      `
resource "terraform_data" "made" { input = "made" }
resource "terraform_data" "failing" {
  depends_on = [terraform_data.made]
  provisioner "local-exec" { command = "exit 3" }
}
`,
    );
    expect(await refused('apply', '-auto-approve')).toContain('exit status 3');
    expect((await workspace()).attributes).toMatchObject({ locked: false, 'run-failures': 1 });
    expect(await run('state', 'list')).toContain('terraform_data.made');
  });

  test('runs an auto-destroy', async () => {
    const destroyed = await installation.until(
      `/workspaces/${doomed.id}`,
      ({ data: { attributes } }) =>
        attributes['resource-count'] === 0 && attributes['locked'] === false,
    );
    expect(destroyed.data.attributes).toMatchObject({ 'auto-destroy-status': 'queued' });
    const { list } = await installation.call('GET', `/workspaces/${doomed.id}/runs`);
    expect(list[0]?.attributes).toMatchObject({ 'is-destroy': true });
  });
});
