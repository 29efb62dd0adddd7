/** `workspace`: workspaces of provisioning tools; `message`: messages of the console. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { readInput } from './access-commands.ts';
import type { Cli } from './cli.ts';

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

const list = async (cli: Cli, organization: string): Promise<void> => {
  const { client } = cli;
  const found: Document[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const answer: Document = await client.api(
      `organizations/${encodeURIComponent(organization)}/workspaces?page[size]=100&page[number]=${page}`,
    );
    found.push(...answer.data);
    page = answer.meta.pagination['next-page'];
  }
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
  addMessageCommands(program, cli);
};
