/** `agent-pool` and `oauth-client`: their switches, for administrators of the site. */
import type { Command } from 'commander';
import type { Cli } from './cli.ts';

const KINDS = [
  {
    command: 'agent-pool',
    type: 'agent-pools',
    title: 'agent pool',
    effect: 'Give no work to its agents.',
  },
  {
    command: 'oauth-client',
    type: 'oauth-clients',
    title: 'OAuth client',
    effect: 'Refuse the deliveries of its provider, and send it nothing.',
  },
] as const;

const SWITCHES = [
  { name: 'disable', isDisabled: true, done: 'is disabled' },
  { name: 'enable', isDisabled: false, done: 'is enabled' },
] as const;

export const addPartSwitchCommands = (program: Command, cli: Cli): void => {
  for (const { command, type, title, effect } of KINDS) {
    const part = program.command(command).description(`Every ${title} of the site.`);
    part
      .command('switches')
      .description(`List each ${title}, and whether it is disabled.`)
      .action(async () => {
        const found = await cli.client.apiList(`admin/${type}`);
        cli.printTable(found, [
          ['ID', 'ORGANIZATION', 'NAME', 'DISABLED'],
          ...found.map(({ id, attributes, relationships }) => [
            id,
            relationships?.['organization']?.data?.id ?? '',
            attributes.name ?? '',
            String(attributes['is-disabled']),
          ]),
        ]);
      });
    for (const { name, isDisabled, done } of SWITCHES)
      part
        .command(name)
        .description(isDisabled ? effect : `Serve the ${title} again.`)
        .argument('<id>')
        .action(async (id: string) => {
          const path = `admin/${type}/${encodeURIComponent(id)}`;
          const body = { data: { type, attributes: { 'is-disabled': isDisabled } } };
          const { data } = await cli.client.api(path, { method: 'PATCH', body });
          cli.print(data, `${id} ${done}.`);
        });
  }
};
