/** `import`: takes over the data of other products, read through their public APIs. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { trustAlso } from '../client/api-client.ts';
import { CliFailure, EXIT } from '../client/failure.ts';
import { toTable } from '../client/terminal.ts';
import { ImportReport, type Remark } from '../importing/import-report.ts';
import { importPki } from '../pki-import/pki-import.ts';
import { SecretsApi } from '../pki-import/secrets-api.ts';
import type { ImportContext, StatesToImport } from '../tfe-import/import-context.ts';
import { importOrganization } from '../tfe-import/organization-import.ts';
import { WorkspaceApi } from '../tfe-import/workspace-api.ts';
import type { Cli } from './cli.ts';
import { toCount } from './seal-commands.ts';

const MOST_AT_ONCE = 16;
const STATES: readonly StatesToImport[] = ['all', 'current', 'none'];

const toConcurrency = (text: string): number => {
  const count = toCount(text);
  if (count > MOST_AT_ONCE) throw new InvalidArgumentError(`It is at most ${MOST_AT_ONCE}.`);
  return count;
};

interface SourceOptions {
  readonly tokenFile?: string;
  readonly sourceCaCert?: string;
  readonly concurrency: number;
  readonly dryRun?: true;
}

interface TfeOptions extends SourceOptions {
  readonly organization?: readonly string[];
  readonly states: StatesToImport;
}

interface PkiOptions extends SourceOptions {
  readonly mount: string;
  readonly to?: string;
  readonly namespace?: string;
  readonly keyFile?: readonly string[];
}

const sourceToken = async (
  cli: Cli,
  file: string | undefined,
  variable: 'TFE_TOKEN' | 'VAULT_TOKEN',
): Promise<string> => {
  const token =
    file === undefined ? cli.environment[variable] : await readFile(file, 'utf8').catch(() => '');
  if (token === undefined || token.trim() === '')
    throw new CliFailure(
      file === undefined
        ? `There is no token of the source: set ${variable}, or name a file with --token-file.`
        : `${file} cannot be read, or is empty: it must contain the token of the source.`,
    );
  return token.trim();
};

const toRemarks = (title: string, remarks: readonly Remark[]): readonly string[] =>
  remarks.length === 0
    ? []
    : ['', title, toTable(remarks.map(({ subject, text }) => [subject, text]))];

const printReport = (cli: Cli, report: ImportReport, isDryRun: boolean): void => {
  const { counts, omissions, failures } = report;
  const rows = Object.entries(counts).map(([kind, { takenOver, alreadyThere }]) => [
    kind,
    String(takenOver),
    String(alreadyThere),
  ]);
  const document = {
    dry_run: isDryRun,
    taken_over: Object.fromEntries(
      Object.entries(counts).map(([kind, { takenOver }]) => [kind, takenOver]),
    ),
    already_there: Object.fromEntries(
      Object.entries(counts).map(([kind, { alreadyThere }]) => [kind, alreadyThere]),
    ),
    not_taken_over: omissions,
    failures,
  };
  const text = [
    toTable([['', isDryRun ? 'WOULD BE TAKEN OVER' : 'TAKEN OVER', 'ALREADY THERE'], ...rows]),
    ...toRemarks('Not taken over:', omissions),
    ...toRemarks('Refused:', failures),
  ];
  cli.print(document, text.join('\n'));
};

/** A server address, with the CA that its certificate needs. */
const toSource = (address: string, { sourceCaCert }: SourceOptions): string => {
  if (!URL.canParse(address))
    throw new CliFailure(`"${address}" is not an address: write https://HOST.`, EXIT.usage);
  if (sourceCaCert !== undefined) trustAlso(sourceCaCert);
  return address;
};

const importTfe = async (cli: Cli, given: string, options: TfeOptions): Promise<void> => {
  const address = toSource(given, options);
  const target = cli.serverFor('api-token');
  const token = await sourceToken(cli, options.tokenFile, 'TFE_TOKEN');
  const source = new WorkspaceApi({ address, token });
  const context: ImportContext = {
    source,
    target: new WorkspaceApi(target),
    report: new ImportReport(),
    isDryRun: options.dryRun === true,
    concurrency: options.concurrency,
    states: options.states,
  };
  const names =
    options.organization ??
    (await source.list('organizations')).map(({ attributes }) => attributes.name);
  try {
    for (const name of names) await importOrganization(context, name);
  } finally {
    printReport(cli, context.report, context.isDryRun);
  }
  if (context.report.failures.length > 0) process.exitCode = EXIT.failed;
};

const readKeys = async (files: readonly string[]): Promise<string> => {
  const texts = await Promise.all(
    files.map((file) =>
      readFile(file, 'utf8').catch(() => {
        throw new CliFailure(`${file} cannot be read: it must contain private keys in PEM.`);
      }),
    ),
  );
  return texts.join('\n').trim();
};

const importVaultPki = async (cli: Cli, given: string, options: PkiOptions): Promise<void> => {
  const address = toSource(given, options);
  // VAULT_TOKEN is the token of the source. It is sent to no other server.
  const target = cli.serverFor('token', { VAULT_TOKEN: undefined });
  const token = await sourceToken(cli, options.tokenFile, 'VAULT_TOKEN');
  const report = new ImportReport();
  const isDryRun = options.dryRun === true;
  const from = options.mount.replace(/^\//, '').replace(/\/$/, '');
  try {
    await importPki({
      source: new SecretsApi(address, {
        'x-vault-token': token,
        ...(options.namespace !== undefined && { 'x-vault-namespace': options.namespace }),
      }),
      target: new SecretsApi(target.address, { authorization: `Bearer ${target.token}` }),
      from,
      to: options.to ?? from,
      keys: await readKeys(options.keyFile ?? []),
      report,
      isDryRun,
      concurrency: options.concurrency,
    });
  } finally {
    printReport(cli, report, isDryRun);
  }
  if (report.failures.length > 0) process.exitCode = EXIT.failed;
};

/** The options that all sources have in common. */
const addSource = (command: Command, variable: string, atOnce: string): Command =>
  command
    .option('--token-file <file>', `file with the token of the source, in place of ${variable}`)
    .option('--source-ca-cert <file>', 'PEM file of the CA of the source')
    .option(
      '--concurrency <number>',
      `${atOnce} at the same time, at most ${MOST_AT_ONCE}`,
      toConcurrency,
      4,
    )
    .option('--dry-run', 'only say what would be taken over');

export const addImportCommands = (program: Command, cli: Cli): void => {
  const command = program.command('import').description('Take over what other products keep.');
  addSource(
    command
      .command('tfe')
      .description(
        'Take over organizations with their workspaces and states from a server of the API of Terraform Enterprise; run again, it adds what is new.',
      )
      .argument('<address>', 'address of the source, as https://app.terraform.io')
      .option('--organization <name...>', 'only these; all that the token may see unless given')
      .addOption(
        command
          .createOption('--states <which>', 'state versions of every workspace')
          .choices(STATES)
          .default('current'),
      ),
    'TFE_TOKEN',
    'workspaces',
  ).action((address: string, options: TfeOptions) => importTfe(cli, address, options));
  addSource(
    command
      .command('vault-pki')
      .description(
        'Take over a mount of certificates from Vault or OpenBao: issuers, roles, URLs and revocations; run again, it adds what is new.',
      )
      .argument('<address>', 'address of the source, as https://vault.example.com:8200')
      .option('--mount <path>', 'mount at the source', 'pki')
      .option('--to <path>', 'mount here; the same path unless given')
      .option('--namespace <path>', 'namespace at the source')
      .option('--key-file <file...>', 'PEM files with the private keys of issuers'),
    'VAULT_TOKEN',
    'roles or certificates',
  ).action((address: string, options: PkiOptions) => importVaultPki(cli, address, options));
};
