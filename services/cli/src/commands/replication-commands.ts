/** `replication`: the ceremonies of the runbooks, one command each. */
import { Argument, type Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure } from '../client/failure.ts';
import { readSecret } from '../client/terminal.ts';
import type { Cli } from './cli.ts';

const KINDS = ['dr', 'performance'] as const;
const CEREMONY = 'sys/replication/dr/secondary/generate-operation-token';

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

/** Makes the token from the shares on standard input, one per line. */
const generateOperationToken = async (cli: Cli): Promise<void> => {
  const { client } = cli;
  const shares = (await readSecret('Key shares, one a line')).split(/\s+/);
  const anonymous = { method: 'POST', isAnonymous: true } as const;
  const started = await client.v1(`${CEREMONY}/attempt`, { ...anonymous, body: {} });
  let answer = started;
  /** A share that the cluster has accepted, with which the attempt can be cancelled. */
  let accepted: string | undefined;
  try {
    for (const key of shares) {
      if (answer.complete === true) break;
      const body = { key, nonce: started.nonce };
      answer = await client.v1(`${CEREMONY}/update`, { ...anonymous, body });
      accepted = key;
    }
    if (answer.complete !== true)
      throw new CliFailure(
        `${shares.length} shares were given, ${answer.required} are needed. Nothing was made.`,
      );
  } catch (error) {
    const body = { nonce: started.nonce, key: accepted };
    await client
      .v1(`${CEREMONY}/attempt`, { method: 'DELETE', isAnonymous: true, body })
      .catch(() => undefined);
    throw error;
  }
  const mixed = Buffer.from(answer.encoded_token, 'base64');
  const token = Buffer.from(
    mixed.map((byte, at) => byte ^ String(started.otp).charCodeAt(at)),
  ).toString();
  cli.print({ token }, token);
};

const addPrimaryCommands = (replication: Command, cli: Cli): void => {
  replication
    .command('enable')
    .description('Make this cluster the primary of a set.')
    .addArgument(kindArgument())
    .action(async (kind: string) => {
      cli.print(await post(cli, `${kind}/primary/enable`), `Primary of a ${kind} set.`);
    });
  replication
    .command('token')
    .description('Make a token with which a secondary joins, and print it; valid for 30 minutes.')
    .addArgument(kindArgument())
    .argument('<id>', 'name of the secondary')
    .action(async (kind: string, id: string) => {
      const answer = await post(cli, `${kind}/primary/secondary-token`, { id });
      cli.print(answer.wrap_info, answer.wrap_info.token);
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
    .action(async (kind: string, { caFile }: { readonly caFile?: string }) => {
      const token = await readSecret('Token of the primary');
      const answer = await post(cli, `${kind}/secondary/enable`, {
        token,
        ...(caFile !== undefined && { ca_file: caFile }),
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
    .action(async (kind: string, { force }: { readonly force?: true }) => {
      const body = { ...(force === true && { force: true }) };
      const answer = await postToSecondary(cli, kind, 'promote', body);
      cli.print(answer?.data ?? answer, 'Promoted.');
    });
  replication
    .command('operation-token')
    .description('Make a DR operation token from key shares on standard input, and print it.')
    .action(() => generateOperationToken(cli));
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
