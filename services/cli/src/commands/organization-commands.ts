/** `organization`: the organizations of the user, and their switches for administrators of the site. */
import type { Command } from 'commander';
import type { Cli } from './cli.ts';

const listOwn = async (cli: Cli): Promise<void> => {
  const found = await cli.client.apiList('organizations');
  cli.printTable(found, [
    ['NAME', 'EMAIL'],
    ...found.map(({ id, attributes }) => [id, attributes.email ?? '']),
  ]);
};

const listSwitches = async (cli: Cli): Promise<void> => {
  const found = await cli.client.apiList('admin/organizations');
  cli.printTable(found, [
    ['NAME', 'EMAIL', 'DISABLED', 'DRAINING'],
    ...found.map(({ id, attributes }) => [
      id,
      attributes.email ?? '',
      String(attributes['is-disabled']),
      String(attributes['is-draining']),
    ]),
  ]);
};

const SWITCHES = [
  {
    name: 'disable',
    description: 'Refuse every request of an organization and cancel its runs.',
    attributes: { 'is-disabled': true, 'is-draining': false },
    done: 'is disabled',
  },
  {
    name: 'drain',
    description: 'Start no phase of a run of an organization; those under way end.',
    attributes: { 'is-disabled': false, 'is-draining': true },
    done: 'is draining: no phase of a run starts',
  },
  {
    name: 'enable',
    description: 'Serve an organization again, and start its runs.',
    attributes: { 'is-disabled': false, 'is-draining': false },
    done: 'is enabled',
  },
] as const;

export const addOrganizationCommands = (program: Command, cli: Cli): void => {
  const organization = program.command('organization').description('Organizations.');
  organization
    .command('list')
    .description('List the organizations of the user.')
    .action(() => listOwn(cli));
  organization
    .command('switches')
    .description('List all organizations, and whether they are disabled or draining.')
    .action(() => listSwitches(cli));
  for (const { name, description, attributes, done } of SWITCHES)
    organization
      .command(name)
      .description(description)
      .argument('<organization>')
      .action(async (named: string) => {
        const path = `admin/organizations/${encodeURIComponent(named)}`;
        const body = { data: { type: 'organizations', attributes } };
        const { data } = await cli.client.api(path, { method: 'PATCH', body });
        cli.print(data, `${named} ${done}.`);
      });
};
