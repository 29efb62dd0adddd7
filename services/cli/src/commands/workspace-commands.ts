/** `workspace`: workspaces of provisioning tools; `message`: messages of the console. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { readSecret } from '../client/terminal.ts';
import { readInput } from './access-commands.ts';
import type { Cli } from './cli.ts';
import { toCount } from './seal-commands.ts';

const MESSAGES = 'sys/config/ui/custom-messages';

/** "ORGANIZATION/NAME" as its path in the API. */
const toPath = (workspace: string): string => {
  const [organization, name, ...rest] = workspace.split('/');
  if (!organization || !name || rest.length > 0)
    throw new CliFailure(
      `"${workspace}" is not the name of a workspace: write ORGANIZATION/NAME.`,
      EXIT.usage,
    );
  return `organizations/${encodeURIComponent(organization)}/workspaces/${encodeURIComponent(name)}`;
};

const findId = async (cli: Cli, workspace: string): Promise<string> =>
  (await cli.client.api(toPath(workspace))).data.id;

/** @param count the newest ones */
const listRuns = async (cli: Cli, workspace: string, count: number): Promise<void> => {
  const id = await findId(cli, workspace);
  const { data } = await cli.client.api(`workspaces/${id}/runs?page[size]=${count}`);
  cli.printTable(data, [
    ['ID', 'STATUS', 'CREATED', 'MESSAGE'],
    ...data.map(({ id: run, attributes }: Document) => [
      run,
      attributes.status,
      attributes['created-at'],
      String(attributes.message ?? '').split('\n')[0],
    ]),
  ]);
};

/** Values of sensitive variables are never shown. */
const listVariables = async (cli: Cli, workspace: string): Promise<void> => {
  const { data } = await cli.client.api(`workspaces/${await findId(cli, workspace)}/vars`);
  cli.printTable(data, [
    ['ID', 'KEY', 'CATEGORY', 'VALUE'],
    ...data.map(({ id, attributes }: Document) => [
      id,
      attributes.key,
      attributes.category,
      attributes.sensitive ? '(sensitive)' : String(attributes.value),
    ]),
  ]);
};

interface VariableOptions {
  readonly env?: true;
  readonly sensitive?: true;
}

/** The value comes from standard input, because other users of the machine can read arguments. */
const setVariable = async (
  cli: Cli,
  workspace: string,
  key: string,
  { env, sensitive }: VariableOptions,
): Promise<void> => {
  const { client } = cli;
  const path = `workspaces/${await findId(cli, workspace)}/vars`;
  const value = await readSecret(`Value of ${key}`);
  const category = env === true ? 'env' : 'terraform';
  const { data } = await client.api(path);
  const existing = data.find(
    ({ attributes }: Document) => attributes.key === key && attributes.category === category,
  );
  const attributes = { key, value, category, ...(sensitive === true && { sensitive }) };
  await client.api(existing === undefined ? path : `${path}/${existing.id}`, {
    method: existing === undefined ? 'POST' : 'PATCH',
    body: { data: { type: 'vars', attributes } },
  });
  cli.print({ key, category }, `${key} is set.`);
};

const list = async (cli: Cli, organization: string): Promise<void> => {
  const found = await cli.client.apiList(
    `organizations/${encodeURIComponent(organization)}/workspaces`,
  );
  cli.printTable(found, [
    ['ID', 'NAME', 'LOCKED', 'MODE'],
    ...found.map(({ id, attributes }) => [
      id,
      attributes.name,
      String(attributes.locked),
      attributes['execution-mode'],
    ]),
  ]);
};

const saveState = async (cli: Cli, workspace: string, file: string | undefined): Promise<void> => {
  const { client } = cli;
  const id = await findId(cli, workspace);
  const { data } = await client.api(`workspaces/${id}/current-state-version`);
  const url = new URL(data.attributes['hosted-state-download-url']);
  const state = await (await client.raw(`${url.pathname}${url.search}`)).text();
  if (file === undefined) {
    cli.print(data, state);
    return;
  }
  await writeFile(file, state, { mode: 0o600 });
  cli.print(data, `Wrote state ${data.attributes.serial} to ${file}.`);
};

const addMessageCommands = (program: Command, cli: Cli): void => {
  const message = program.command('message').description('Messages that the console shows.');
  message
    .command('list')
    .description('List all messages.')
    .action(async () => {
      const answer = await cli.client.v1(`${MESSAGES}?list=true`, { accept: [404] });
      const found: Readonly<Record<string, Document>> = answer?.data?.key_info ?? {};
      cli.printTable(found, [
        ['ID', 'TITLE', 'ACTIVE'],
        ...Object.entries(found).map(([id, info]) => [id, info.title, String(info.active)]),
      ]);
    });
  message
    .command('create')
    .description('Make a message that is shown from now on.')
    .argument('<title>')
    .argument('<file>', 'text of the message; "-" for standard input')
    .option('--until <time>', 'end, as 2030-01-31T12:00:00Z')
    .option('--public', 'also shown before somebody logs in')
    .action(
      async (
        title: string,
        file: string,
        options: { readonly until?: string; readonly public?: true },
      ) => {
        const { data } = await cli.client.v1(MESSAGES, {
          method: 'POST',
          body: {
            title,
            message: Buffer.from(await readInput(file)).toString('base64'),
            authenticated: options.public !== true,
            start_time: new Date().toISOString(),
            ...(options.until !== undefined && { end_time: options.until }),
          },
        });
        cli.print(data, `Made the message ${data.id}.`);
      },
    );
  message
    .command('delete')
    .description('Delete a message.')
    .argument('<id>')
    .action(async (id: string) => {
      await cli.client.v1(`${MESSAGES}/${encodeURIComponent(id)}`, { method: 'DELETE' });
      cli.print({ id }, `Deleted the message ${id}.`);
    });
};

export const addWorkspaceCommands = (program: Command, cli: Cli): void => {
  const workspace = program.command('workspace').description('Workspaces, by ORGANIZATION/NAME.');
  workspace
    .command('list')
    .description('List the workspaces of an organization.')
    .argument('<organization>')
    .action((organization: string) => list(cli, organization));
  for (const action of ['lock', 'unlock'] as const)
    workspace
      .command(action)
      .description(action === 'lock' ? 'Lock a workspace.' : 'Unlock a workspace.')
      .argument('<workspace>')
      .option('--reason <text>', 'shown to others', '')
      .action(async (name: string, { reason }: { readonly reason: string }) => {
        const path = `workspaces/${await findId(cli, name)}/actions/${action}`;
        const { data } = await cli.client.api(path, { method: 'POST', body: { reason } });
        cli.print(data, `${name} is ${action}ed.`);
      });
  workspace
    .command('state')
    .description('Print the current state, which contains secrets, or save it to a file.')
    .argument('<workspace>')
    .option('--output <file>', 'file with mode 0600')
    .action((name: string, { output }: { readonly output?: string }) =>
      saveState(cli, name, output),
    );
  const run = program.command('run').description('Runs of a workspace.');
  run
    .command('list')
    .description('List the newest runs.')
    .argument('<workspace>')
    .option('--count <number>', 'how many, at most 100', toCount, 20)
    .action((name: string, { count }: { readonly count: number }) => listRuns(cli, name, count));
  const variable = program.command('variable').description('Variables of a workspace.');
  variable
    .command('list')
    .description('List the variables of the workspace itself.')
    .argument('<workspace>')
    .action((name: string) => listVariables(cli, name));
  variable
    .command('set')
    .description('Create or change a variable; its value is read from standard input or a prompt.')
    .argument('<workspace>')
    .argument('<key>')
    .option('--env', 'an environment variable')
    .option('--sensitive', 'its value can never be read again')
    .action((name: string, key: string, options: VariableOptions) =>
      setVariable(cli, name, key, options),
    );
  addMessageCommands(program, cli);
};
