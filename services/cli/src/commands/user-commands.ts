/** `user`: the people of the site, for its administrators. */
import type { Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure } from '../client/failure.ts';
import type { Cli } from './cli.ts';

/** Maximum number of users in one answer of the server. */
const PAGE = 100;

const listUsers = async (cli: Cli, search: string): Promise<readonly Document[]> => {
  const found: Document[] = [];
  for (let number: number | null = 1; number !== null; ) {
    const query = new URLSearchParams({
      'page[number]': String(number),
      'page[size]': String(PAGE),
      ...(search !== '' && { q: search }),
    });
    const { data, meta } = await cli.client.api(`admin/users?${query.toString()}`);
    found.push(...data);
    number = meta.pagination['next-page'];
  }
  return found;
};

/** @throws CliFailure if there is no such user */
const idOf = async (cli: Cli, username: string): Promise<string> => {
  const users = await listUsers(cli, username);
  const user = users.find(({ attributes }) => attributes.username === username);
  if (user === undefined)
    throw new CliFailure(`There is no user ${username}: \`keelson user list\`.`);
  return user.id;
};

export const addUserCommands = (program: Command, cli: Cli): void => {
  const user = program.command('user').description('People of the site, for its administrators.');
  user
    .command('list')
    .description('List all users.')
    .action(async () => {
      const users = await listUsers(cli, '');
      cli.printTable(users, [
        ['USER', 'MAIL', 'ADMIN', 'SUSPENDED'],
        ...users.map(({ attributes }) => [
          String(attributes.username),
          String(attributes.email ?? ''),
          String(attributes['is-admin'] ?? ''),
          String(attributes['is-suspended'] ?? ''),
        ]),
      ]);
    });
  for (const [name, description, done] of [
    ['suspend', 'Refuse every token of a user.', 'is suspended'],
    ['unsuspend', 'End the suspension of a user.', 'is no longer suspended'],
    ['end-sessions', 'End every session of a user.', 'is signed out everywhere'],
    [
      'disable-two-factor',
      'Turn the two-factor authentication of a user off.',
      'has no two-factor authentication any more',
    ],
    [
      'remove-passkeys',
      'Remove all passkeys of a user, and end every session.',
      'has no passkey any more',
    ],
  ] as const)
    user
      .command(name)
      .description(description)
      .argument('<user>')
      .action(async (username: string) => {
        const path = `admin/users/${await idOf(cli, username)}/actions/${name.replaceAll('-', '_')}`;
        const { data } = await cli.client.api(path, { method: 'POST' });
        cli.print(data, `${username} ${done}.`);
      });
  user
    .command('delete')
    .description('Delete a user with everything personal.')
    .argument('<user>')
    .action(async (username: string) => {
      await cli.client.api(`admin/users/${await idOf(cli, username)}`, { method: 'DELETE' });
      cli.print({ username }, `Deleted the user ${username}.`);
    });
};
