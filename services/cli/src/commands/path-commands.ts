/** `read`, `list`, `write`, `delete`: any path of `/v1`, for routes without a command of their own. */
import type { Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { readInput } from './access-commands.ts';
import type { Cli } from './cli.ts';

/** The path as users write it, with or without `/v1/` in front. */
const toPath = (given: string): string => {
  const path = given.replace(/^\/?(v1\/)?/, '');
  if (path === '' || path.includes('?') || path.includes('#'))
    throw new CliFailure(
      `"${given}" is not a path: write it without query, for example sys/mounts.`,
      EXIT.usage,
    );
  return path.split('/').map(encodeURIComponent).join('/');
};

/**
 * The body of `write`: `name=value` for each field, where `@file` as value stands for the content of a file; or one
 * `@file` (`@-` for standard input) that contains the whole body as JSON.
 */
const toBody = async (fields: readonly string[]): Promise<Document> => {
  const [first] = fields;
  if (fields.length === 1 && first?.startsWith('@') === true) {
    const text = await readInput(first.slice(1));
    try {
      return JSON.parse(text);
    } catch {
      throw new CliFailure(`${first.slice(1)} is not JSON.`, EXIT.usage);
    }
  }
  const body: Record<string, string> = {};
  for (const field of fields) {
    const at = field.indexOf('=');
    if (at < 1)
      throw new CliFailure(
        `"${field}" is not a field: write NAME=VALUE or NAME=@FILE.`,
        EXIT.usage,
      );
    const value = field.slice(at + 1);
    body[field.slice(0, at)] = value.startsWith('@') ? await readInput(value.slice(1)) : value;
  }
  return body;
};

/** The part of an answer that users want to see: its data, or a token that was created. */
const contentOf = (answer: Document): Document => answer?.data ?? answer?.auth ?? answer;

const show = (cli: Cli, answer: Document): void => {
  if (answer === undefined) cli.print({}, 'Done.');
  else cli.printFields(contentOf(answer));
};

const list = async (cli: Cli, path: string): Promise<void> => {
  const { data } = await cli.client.v1(`${toPath(path)}?list=true`);
  cli.print(data, (data.keys ?? []).join('\n'));
};

export const addPathCommands = (program: Command, cli: Cli): void => {
  program
    .command('read')
    .description('Read a path of /v1.')
    .argument('<path>', 'for example sys/mounts')
    .action(async (path: string) => show(cli, await cli.client.v1(toPath(path))));
  program
    .command('list')
    .description('List the names below a path of /v1.')
    .argument('<path>', 'for example pki/roles')
    .action((path: string) => list(cli, path));
  program
    .command('write')
    .description('Write a path of /v1.')
    .argument('<path>', 'for example pki/roles/web')
    .argument('[field...]', 'NAME=VALUE, NAME=@FILE, or @FILE with the whole body in JSON')
    .action(async (path: string, fields: readonly string[]) => {
      const body = await toBody(fields);
      show(cli, await cli.client.v1(toPath(path), { method: 'POST', body }));
    });
  program
    .command('delete')
    .description('Delete a path of /v1.')
    .argument('<path>', 'for example pki/roles/web')
    .action(async (path: string) =>
      show(cli, await cli.client.v1(toPath(path), { method: 'DELETE' })),
    );
};
