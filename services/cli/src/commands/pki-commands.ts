/** `pki`: certificates of a mount. */
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Document } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { readInput } from './access-commands.ts';
import type { Cli } from './cli.ts';
import { toCount } from './seal-commands.ts';

const DAY_MS = 24 * 3_600_000;
/** Maximum number of certificates in one answer of the server. */
const PAGE = 1000;

interface MountOption {
  readonly mount: string;
}

interface NameOptions extends MountOption {
  readonly commonName: string;
  readonly altNames?: string;
  readonly ttl?: string;
}

interface IssueOptions extends NameOptions {
  readonly keyFile: string;
}

const namesOf = ({ commonName, altNames, ttl }: NameOptions): Document => ({
  common_name: commonName,
  ...(altNames !== undefined && { alt_names: altNames }),
  ...(ttl !== undefined && { ttl }),
});

const chainOf = (data: Document): string =>
  [data.certificate, ...(data.ca_chain ?? [data.issuing_ca])].join('\n');

const issue = async (cli: Cli, role: string, options: IssueOptions): Promise<void> => {
  const path = `${options.mount}/issue/${encodeURIComponent(role)}`;
  const { data } = await cli.client.v1(path, { method: 'POST', body: namesOf(options) });
  try {
    // Never overwrites a file, because the key in it may be in use.
    await writeFile(options.keyFile, `${data.private_key}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CliFailure(
      `The certificate ${data.serial_number} was issued, but its key cannot be written to ${options.keyFile} (${(error as Error).message}). Revoke it, and issue again with another --key-file.`,
    );
  }
  const { private_key: _secret, ...shown } = data;
  cli.print(shown, chainOf(data));
};

const sign = async (
  cli: Cli,
  role: string,
  options: NameOptions & { readonly csr: string },
): Promise<void> => {
  const body = { ...namesOf(options), csr: await readInput(options.csr) };
  const path = `${options.mount}/sign/${encodeURIComponent(role)}`;
  const { data } = await cli.client.v1(path, { method: 'POST', body });
  cli.print(data, chainOf(data));
};

/**
 * LIST answers 404 for nothing and for a mount that does not exist, which must not look like nothing: a cron job with a
 * misspelt mount would never report an expiring certificate.
 */
const requireMount = async (cli: Cli, mount: string): Promise<void> => {
  const { data } = await cli.client.v1(`sys/internal/ui/mounts/${mount}`);
  if (data.type !== 'pki')
    throw new CliFailure(`${mount} is a mount of type ${data.type}, not pki.`);
};

/** Certificates with details, in order of expiry. */
const listDetailed = async (
  cli: Cli,
  { mount }: MountOption,
  query: Readonly<Record<string, string>>,
): Promise<readonly (readonly [string, Document])[]> => {
  const { client } = cli;
  await requireMount(cli, mount);
  const found: [string, Document][] = [];
  for (let after = ''; ; ) {
    const given = new URLSearchParams({ list: 'true', limit: String(PAGE), ...query });
    if (after !== '') given.set('after', after);
    const answer = await client.v1(`${mount}/certs/detailed?${given.toString()}`, {
      accept: [404],
    });
    const keys: readonly string[] = answer?.data?.keys ?? [];
    for (const key of keys) found.push([key, answer.data.key_info[key]]);
    after = keys.at(-1) ?? '';
    if (keys.length < PAGE) return found;
  }
};

const toRows = (
  found: readonly (readonly [string, Document])[],
): readonly (readonly string[])[] => [
  ['SERIAL', 'COMMON NAME', 'NOT AFTER'],
  ...found.map(([serial, info]) => [
    serial,
    String(info.common_name ?? ''),
    String(info.not_after ?? info.expiration ?? ''),
  ]),
];

/** The names in a part of a mount. */
const listNames = async (cli: Cli, { mount }: MountOption, part: string): Promise<void> => {
  await requireMount(cli, mount);
  const answer = await cli.client.v1(`${mount}/${part}?list=true`, { accept: [404] });
  const keys: readonly string[] = answer?.data?.keys ?? [];
  const about: Readonly<Record<string, Document>> = answer?.data?.key_info ?? {};
  cli.printTable(
    keys,
    keys.map((key) => [key, String(about[key]?.issuer_name ?? '')]),
  );
};

interface ExpiringOptions extends MountOption {
  readonly within: number;
  readonly all?: true;
}

const pkiMounts = async (cli: Cli): Promise<readonly string[]> => {
  const { data } = await cli.client.v1('sys/mounts');
  return Object.entries(data as Readonly<Record<string, Document>>)
    .filter(([, { type }]) => type === 'pki')
    .map(([path]) => path.replace(/\/$/, ''));
};

const expiring = async (cli: Cli, { mount, within, all }: ExpiringOptions): Promise<void> => {
  const now = Date.now();
  const query = {
    expires_after: new Date(now).toISOString(),
    expires_before: new Date(now + within * DAY_MS).toISOString(),
  };
  if (all !== true) {
    const found = await listDetailed(cli, { mount }, query);
    cli.printTable(Object.fromEntries(found), toRows(found));
    return;
  }
  const found: (readonly [string, readonly (readonly [string, Document])[]])[] = [];
  for (const path of await pkiMounts(cli))
    found.push([path, await listDetailed(cli, { mount: path }, query)]);
  cli.printTable(
    Object.fromEntries(found.map(([path, listed]) => [path, Object.fromEntries(listed)])),
    [
      ['MOUNT', 'SERIAL', 'COMMON NAME', 'NOT AFTER'],
      ...found.flatMap(([path, listed]) =>
        toRows(listed)
          .slice(1)
          .map((row) => [path, ...row]),
      ),
    ],
  );
};

const health = async (
  cli: Cli,
  { mount, within }: MountOption & { readonly within: number },
): Promise<void> => {
  const { client } = cli;
  await requireMount(cli, mount);
  const listed = await client.v1(`${mount}/issuers?list=true`, { accept: [404] });
  const ids: readonly string[] = listed?.data?.keys ?? [];
  const issuers = await Promise.all(
    ids.map(async (id) => {
      const { data } = await client.v1(`${mount}/issuer/${id}/json`, { isAnonymous: true });
      const { validFromDate, validToDate } = new X509Certificate(data.certificate);
      const days = Math.floor((validToDate.getTime() - Date.now()) / DAY_MS);
      // An issuer that was made for a month is not about to expire on its first day.
      const soon = Math.min(within, (validToDate.getTime() - validFromDate.getTime()) / DAY_MS / 3);
      const state = days < 0 ? 'expired' : days < soon ? 'expires' : 'good';
      return { id, not_after: validToDate.toISOString(), days, state };
    }),
  );
  cli.printTable(issuers, [
    ['ISSUER', 'NOT AFTER', 'DAYS', 'STATE'],
    ...issuers.map(({ id, not_after, days, state }) => [id, not_after, String(days), state]),
  ]);
  if (issuers.length === 0 || issuers.some(({ state }) => state !== 'good'))
    process.exitCode = EXIT.notWell;
};

const addNameOptions = (command: Command): Command =>
  command
    .requiredOption('--common-name <name>', 'common name of the certificate')
    .option('--alt-names <names>', 'further names, separated by commas')
    .option('--ttl <duration>', 'lifetime, such as 72h');

export const addPkiCommands = (program: Command, cli: Cli): void => {
  const pki = program.command('pki').description('Certificates.');
  const command = (name: string, description: string): Command =>
    pki.command(name).description(description).option('--mount <path>', 'path of the mount', 'pki');
  addNameOptions(
    command('issue', 'Issue a certificate: it and its chain are printed, its key goes to a file.')
      .argument('<role>')
      .requiredOption('--key-file <file>', 'new file for the private key, mode 0600'),
  ).action((role: string, options: IssueOptions) => issue(cli, role, options));
  addNameOptions(
    command('sign', 'Sign a certificate request.')
      .argument('<role>')
      .requiredOption('--csr <file>', 'request in PEM; "-" for standard input'),
  ).action((role: string, options: NameOptions & { readonly csr: string }) =>
    sign(cli, role, options),
  );
  command('revoke', 'Revoke a certificate.')
    .argument('<serial>')
    .action(async (serial: string, { mount }: MountOption) => {
      const body = { serial_number: serial };
      const { data } = await cli.client.v1(`${mount}/revoke`, { method: 'POST', body });
      cli.print(data, `Revoked ${serial}.`);
    });
  command('list', 'List certificates, in order of expiry.').action(async (options: MountOption) => {
    const found = await listDetailed(cli, options, {});
    cli.printTable(Object.fromEntries(found), toRows(found));
  });
  command('roles', 'List the roles, by which certificates are issued.').action(
    (options: MountOption) => listNames(cli, options, 'roles'),
  );
  command('issuers', 'List the issuers, with the names of those that have one.').action(
    (options: MountOption) => listNames(cli, options, 'issuers'),
  );
  command('crl', 'Print the revocation list of the default issuer, in PEM.')
    .option('--rotate', 'make a new one first')
    .action(async ({ mount, rotate }: MountOption & { readonly rotate?: true }) => {
      await requireMount(cli, mount);
      if (rotate === true) await cli.client.v1(`${mount}/crl/rotate`);
      const list = await cli.client.raw(`/v1/${mount}/crl/pem`, { isAnonymous: true });
      const pem = (await list.text()).trim();
      cli.print({ crl: pem }, pem);
    });
  command('expiring', 'List certificates that expire soon.')
    .option('--within <days>', 'days from now', toCount, 30)
    .option('--all', 'in all mounts of the namespace')
    .action((options: ExpiringOptions) => expiring(cli, options));
  command('health', 'Show the expiry of issuers; exit code 2 if one expires soon or there is none.')
    .option(
      '--within <days>',
      'days that count as soon, at most a third of the lifetime',
      toCount,
      90,
    )
    .action((options: MountOption & { readonly within: number }) => health(cli, options));
};
