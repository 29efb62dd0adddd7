/** `mount`, `auth`, `namespace`, `audit`: the parts of a cluster that have a path. */
import type { Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import type { Cli } from './cli.ts';

type Table = Readonly<Record<string, Document>>;

const segmentsOf = (path: string): string =>
  path.replace(/\/$/, '').split('/').map(encodeURIComponent).join('/');

const TABLES = [
  {
    name: 'mount',
    path: 'sys/mounts',
    description: 'Mounts of secrets engines, such as pki.',
    example: 'pki',
  },
  {
    name: 'auth',
    path: 'sys/auth',
    description: 'Mounts of auth methods, by which clients sign in.',
    example: 'approle',
  },
] as const;

const addTable = (program: Command, cli: Cli, table: (typeof TABLES)[number]): void => {
  const mount = program.command(table.name).description(table.description);
  mount
    .command('list')
    .description('List all mounts.')
    .action(async () => {
      const mounts = (await cli.client.v1(table.path)).data as Table;
      cli.printTable(mounts, [
        ['PATH', 'TYPE', 'ACCESSOR', 'DESCRIPTION'],
        ...Object.entries(mounts).map(([path, { type, accessor, description }]) => [
          path,
          type,
          accessor,
          description,
        ]),
      ]);
    });
  mount
    .command('enable')
    .description('Create a mount.')
    .argument('<type>', `for example ${table.example}`)
    .option('--path <path>', 'its path; the type if left out')
    .option('--max-ttl <duration>', 'maximum lifetime of what it issues, such as 87600h')
    .action(async (type: string, options: { readonly path?: string; readonly maxTtl?: string }) => {
      const path = options.path ?? type;
      const config = options.maxTtl === undefined ? {} : { max_lease_ttl: options.maxTtl };
      await cli.client.v1(`${table.path}/${segmentsOf(path)}`, {
        method: 'POST',
        body: { type, config },
      });
      cli.print({ path }, `Created the mount ${path}.`);
    });
  mount
    .command('disable')
    .description('Remove a mount and everything in it.')
    .argument('<path>')
    .action(async (path: string) => {
      await cli.client.v1(`${table.path}/${segmentsOf(path)}`, { method: 'DELETE' });
      cli.print({ path }, `Removed the mount ${path}.`);
    });
};

const addNamespaces = (program: Command, cli: Cli): void => {
  const namespace = program.command('namespace').description('Namespaces.');
  namespace
    .command('list')
    .description('List the namespaces below the root.')
    .action(async () => {
      const answer = await cli.client.v1('sys/namespaces?list=true', { accept: [404] });
      const keys: readonly string[] = answer?.data?.keys ?? [];
      cli.print(keys, keys.join('\n'));
    });
  namespace
    .command('create')
    .description('Create a namespace.')
    .argument('<path>')
    .action(async (path: string) => {
      const pathOfIt = `sys/namespaces/${segmentsOf(path)}`;
      const { data } = await cli.client.v1(pathOfIt, { method: 'POST', body: {} });
      cli.print(data, `Created the namespace ${path}.`);
    });
  namespace
    .command('delete')
    .description('Delete a namespace and everything in it.')
    .argument('<path>')
    .action(async (path: string) => {
      await cli.client.v1(`sys/namespaces/${segmentsOf(path)}`, { method: 'DELETE' });
      cli.print({ path }, `Deleted the namespace ${path}.`);
    });
};

const addAudit = (program: Command, cli: Cli): void => {
  const audit = program.command('audit').description('Audit devices.');
  audit
    .command('list')
    .description('List all audit devices.')
    .action(async () => {
      const devices = (await cli.client.v1('sys/audit')).data as Table;
      cli.printTable(devices, [
        ['PATH', 'TYPE', 'OPTIONS'],
        ...Object.entries(devices).map(([path, { type, options }]) => [
          path,
          type,
          JSON.stringify(options),
        ]),
      ]);
    });
  audit
    .command('enable')
    .description('Record every request in a file.')
    .argument('<file>')
    .option('--path <path>', 'name of the device', 'file')
    .action(async (file: string, { path }: { readonly path: string }) => {
      await cli.client.v1(`sys/audit/${segmentsOf(path)}`, {
        method: 'POST',
        body: { type: 'file', options: { file_path: file } },
      });
      cli.print({ path, file }, `Requests are recorded in ${file}.`);
    });
  audit
    .command('disable')
    .description('Remove an audit device; its file stays.')
    .argument('<path>')
    .action(async (path: string) => {
      await cli.client.v1(`sys/audit/${segmentsOf(path)}`, { method: 'DELETE' });
      cli.print({ path }, `Removed the audit device ${path}.`);
    });
};

export const addMountCommands = (program: Command, cli: Cli): void => {
  for (const table of TABLES) addTable(program, cli, table);
  addNamespaces(program, cli);
  addAudit(program, cli);
};
