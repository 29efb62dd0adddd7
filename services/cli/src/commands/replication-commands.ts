/** `replication`: the ceremonies of the runbooks, one command each. */
import { Argument, type Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { readSecret } from '../client/terminal.ts';
import { makeToken } from './ceremony.ts';
import type { Cli } from './cli.ts';

const KINDS = ['dr', 'performance'] as const;
const MODES = ['allow', 'deny'] as const;

const kindArgument = (): Argument => new Argument('<kind>', 'kind of the set').choices(KINDS);

const post = async (cli: Cli, path: string, body: Document = {}): Promise<Document> => {
  const answer = await cli.client.v1(`sys/replication/${path}`, { method: 'POST', body });
  for (const warning of answer?.warnings ?? []) process.stderr.write(`${warning}\n`);
  return answer;
};

/** A DR secondary has no tokens: the operation token authorises all operations on it. */
const operationToken = async (kind: string): Promise<Document> =>
  kind === 'dr' ? { dr_operation_token: await readSecret('DR operation token') } : {};

/** Calls a secondary. A DR secondary accepts only the operation token. */
const postToSecondary = async (
  cli: Cli,
  kind: string,
  action: string,
  body: Document,
): Promise<Document> => {
  const given = { ...body, ...(await operationToken(kind)) };
  const answer = await cli.client.v1(`sys/replication/${kind}/secondary/${action}`, {
    method: 'POST',
    body: given,
    isAnonymous: kind === 'dr',
  });
  for (const warning of answer?.warnings ?? []) process.stderr.write(`${warning}\n`);
  return answer;
};

const status = async (cli: Cli): Promise<void> => {
  const { data } = await cli.client.v1('sys/replication/status', { isAnonymous: true });
  cli.print(
    data,
    KINDS.flatMap((kind) =>
      ['mode', 'state', 'connection_state', 'lag_entries', 'cluster_id'].flatMap((name) =>
        data[kind]?.[name] === undefined ? [] : [`${kind} ${name}: ${data[kind][name]}`],
      ),
    ).join('\n'),
  );
};

/** Replaces the primary that this cluster, a secondary, follows. */
const followPrimary = async (cli: Cli, kind: string): Promise<void> => {
  const isDr = kind === 'dr';
  const secrets = await readSecret(
    `Token of the primary${isDr ? ', space, DR operation token' : ''}`,
  );
  const [token, operationToken, ...rest] = secrets.split(/\s+/);
  if (rest.length > 0 || isDr !== (operationToken !== undefined))
    throw new CliFailure(
      isDr
        ? 'Standard input must contain two lines: the token of the primary, and the DR operation token.'
        : 'Standard input must contain the token of the primary alone.',
      EXIT.usage,
    );
  const answer = await cli.client.v1(`sys/replication/${kind}/secondary/update-primary`, {
    method: 'POST',
    body: { token, ...(isDr && { dr_operation_token: operationToken }) },
    isAnonymous: isDr,
  });
  cli.print(answer, `Follows the ${kind} primary, without clearing anything.`);
};

interface ClusterAddressOption {
  readonly clusterAddress?: string;
}

interface JoinOptions {
  readonly caFile?: string;
  readonly apiAddress?: string;
}

interface PromoteOptions extends ClusterAddressOption {
  readonly force?: true;
  readonly dryRun?: true;
}

const CLUSTER_ADDRESS = 'of NATS, as secondaries reach it; that of the configuration if left out';

const addressOf = (clusterAddress: string | undefined): Document =>
  clusterAddress === undefined ? {} : { primary_cluster_addr: clusterAddress };

const addPrimaryCommands = (replication: Command, cli: Cli): void => {
  replication
    .command('enable')
    .description('Make this cluster the primary of a set.')
    .addArgument(kindArgument())
    .option('--cluster-address <url>', CLUSTER_ADDRESS)
    .action(async (kind: string, { clusterAddress }: ClusterAddressOption) => {
      const answer = await post(cli, `${kind}/primary/enable`, addressOf(clusterAddress));
      cli.print(answer, `Primary of a ${kind} set.`);
    });
  replication
    .command('token')
    .description('Make a token with which a secondary joins, and print it; valid for 30 minutes.')
    .addArgument(kindArgument())
    .argument('<id>', 'name of the secondary')
    .option('--public-key <key>', 'of a cluster that keeps its data: see `public-key` and `follow`')
    .action(async (kind: string, id: string, { publicKey }: { readonly publicKey?: string }) => {
      const key = publicKey === undefined ? {} : { secondary_public_key: publicKey };
      const answer = await post(cli, `${kind}/primary/secondary-token`, { id, ...key });
      const made = answer.data ?? answer.wrap_info;
      cli.print(made, made.token);
    });
  replication
    .command('revoke')
    .description('Cut a secondary off.')
    .addArgument(kindArgument())
    .argument('<id>')
    .action(async (kind: string, id: string) => {
      cli.print(await post(cli, `${kind}/primary/revoke-secondary`, { id }), `Revoked ${id}.`);
    });
  replication
    .command('demote')
    .description('Demote this primary to a secondary without a primary.')
    .addArgument(kindArgument())
    .action(async (kind: string) => {
      cli.print(await post(cli, `${kind}/primary/demote`), 'Demoted.');
    });
};

const addSecondaryCommands = (replication: Command, cli: Cli): void => {
  replication
    .command('join')
    .description(
      'Erase this cluster and follow a primary; its token is read from standard input or a prompt.',
    )
    .addArgument(kindArgument())
    .option('--ca-file <file>', 'PEM file on the server with the CA of the primary')
    .option(
      '--api-address <url>',
      'of the primary, if this cluster cannot reach the one in the token',
    )
    .action(async (kind: string, { caFile, apiAddress }: JoinOptions) => {
      const token = await readSecret('Token of the primary');
      const answer = await post(cli, `${kind}/secondary/enable`, {
        token,
        ...(caFile !== undefined && { ca_file: caFile }),
        ...(apiAddress !== undefined && { primary_api_addr: apiAddress }),
      });
      cli.print(
        answer,
        `Follows the ${kind} primary; \`keelson replication status\` shows how far.`,
      );
    });
  replication
    .command('promote')
    .description(
      'Promote this secondary to primary; a DR operation token is read from standard input.',
    )
    .addArgument(kindArgument())
    .option('--force', 'give up what the former primary has and this cluster lacks')
    .option('--dry-run', 'only print what a promotion would lose')
    .option('--cluster-address <url>', CLUSTER_ADDRESS)
    .action(async (kind: string, { force, dryRun, clusterAddress }: PromoteOptions) => {
      const body = {
        ...(force === true && { force }),
        ...(dryRun === true && { dry_run: dryRun }),
        ...addressOf(clusterAddress),
      };
      const answer = await postToSecondary(cli, kind, 'promote', body);
      if (dryRun === true) cli.printFields(answer.data);
      else cli.print(answer?.data ?? answer, 'Promoted.');
    });
  replication
    .command('public-key')
    .description('Print a new public key of this cluster, a primary that was demoted.')
    .addArgument(kindArgument())
    .action(async (kind: string) => {
      const { data } = await post(cli, `${kind}/secondary/generate-public-key`);
      cli.print(data, data.secondary_public_key);
    });
  replication
    .command('follow')
    .description(
      'Follow another primary and keep the data; standard input has its token, and for dr the operation token in a second line.',
    )
    .addArgument(kindArgument())
    .action((kind: string) => followPrimary(cli, kind));
  replication
    .command('operation-token')
    .description('Make a DR operation token from key shares on standard input, and print it.')
    .action(() => makeToken(cli, 'sys/replication/dr/secondary/generate-operation-token'));
};

const addFilterCommands = (replication: Command, cli: Cli): void => {
  const filter = replication
    .command('filter')
    .description('Mounts and namespaces that a performance secondary receives.');
  const pathOf = (id: string): string =>
    `performance/primary/paths-filter/${encodeURIComponent(id)}`;
  filter
    .command('show')
    .description('Show the filter of a secondary.')
    .argument('<id>')
    .action(async (id: string) => {
      const { data } = await cli.client.v1(`sys/replication/${pathOf(id)}`);
      cli.printFields(data);
    });
  filter
    .command('set')
    .description('Replace the filter of a secondary.')
    .argument('<id>', 'name of the secondary')
    .addArgument(new Argument('<mode>', 'whether only these or all others cross').choices(MODES))
    .argument('<path...>', 'for example pki/ or team-a/')
    .action(async (id: string, mode: string, paths: readonly string[]) => {
      cli.print(await post(cli, pathOf(id), { mode, paths }), `Set the filter of ${id}.`);
    });
  filter
    .command('remove')
    .description('Remove the filter of a secondary, which then receives everything.')
    .argument('<id>')
    .action(async (id: string) => {
      await cli.client.v1(`sys/replication/${pathOf(id)}`, { method: 'DELETE' });
      cli.print({ id }, `Removed the filter of ${id}.`);
    });
};

export const addReplicationCommands = (program: Command, cli: Cli): void => {
  const replication = program
    .command('replication')
    .description('Performance and DR replication between clusters.');
  replication
    .command('status')
    .description('Show both kinds.')
    .action(() => status(cli));
  addPrimaryCommands(replication, cli);
  addSecondaryCommands(replication, cli);
  addFilterCommands(replication, cli);
  replication
    .command('disable')
    .description('End the replication of this cluster.')
    .addArgument(kindArgument())
    .addArgument(new Argument('<role>', 'role of this cluster').choices(['primary', 'secondary']))
    .action(async (kind: string, role: string) => {
      const answer =
        role === 'secondary'
          ? await postToSecondary(cli, kind, 'disable', {})
          : await post(cli, `${kind}/primary/disable`);
      cli.print(answer, 'Disabled.');
    });
  replication
    .command('check')
    .description('Compare the Merkle trees with the records.')
    .action(async () => {
      const { data } = await post(cli, 'merkle-check');
      cli.print(data, JSON.stringify(data, undefined, 2));
    });
  replication
    .command('reindex')
    .description('Repair and count the Merkle trees again, in the background.')
    .action(async () => {
      cli.print(
        await post(cli, 'reindex', { diff: true }),
        'Begun; `replication status` shows it.',
      );
    });
};
