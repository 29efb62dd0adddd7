/** `backup`, `restore`: snapshots of the whole cluster in files. */
import { createWriteStream, existsSync, openAsBlob } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { backupTimeOf, toBackupName } from '@keelson/objects/backup-names';
import { syncFolder } from '@keelson/runtime/durable-files';
import type { Command } from 'commander';
import { CliFailure, EXIT } from '../client/failure.ts';
import type { Cli } from './cli.ts';
import { toCount } from './seal-commands.ts';
import { openStoredBackup } from './stored-backups.ts';

const SNAPSHOT = '/v1/sys/storage/raft/snapshot';

interface BackupOptions {
  readonly folder?: string;
  readonly keep?: number;
}

/** Flushed under another name first: a file with the wanted name is a whole snapshot. */
const save = async (cli: Cli, file: string): Promise<void> => {
  if (existsSync(file))
    throw new CliFailure(`${file} exists and is not overwritten: choose another name.`);
  const unfinished = `${file}.part`;
  const response = await cli.client.raw(SNAPSHOT);
  try {
    if (response.body === null) throw new CliFailure('The server sent nothing.');
    await pipeline(
      Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
      createWriteStream(unfinished, { mode: 0o600 }),
    );
    const handle = await open(unfinished, 'r');
    await handle.sync();
    await handle.close();
    await rename(unfinished, file);
    syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(`The snapshot was not saved: ${(error as Error).message}.`);
  }
};

/** Removes the oldest snapshots beyond the newest `count`, and no other file. */
const prune = async (folder: string, count: number): Promise<readonly string[]> => {
  const names = (await readdir(folder)).filter((name) => backupTimeOf(name) !== undefined).sort();
  const removed = names.slice(0, Math.max(0, names.length - count));
  for (const name of removed) await rm(join(folder, name));
  return removed;
};

const backup = async (
  cli: Cli,
  given: string | undefined,
  { folder, keep }: BackupOptions,
): Promise<void> => {
  if ((given === undefined) === (folder === undefined))
    throw new CliFailure('Name either a file or a --folder.', EXIT.usage);
  if (keep !== undefined && folder === undefined)
    throw new CliFailure('--keep needs a --folder.', EXIT.usage);
  const file = given ?? join(folder ?? '', toBackupName(Date.now()));
  await save(cli, file);
  await renewToken(cli);
  // Never the newest one.
  const removed = folder !== undefined && keep !== undefined ? await prune(folder, keep) : [];
  cli.print({ file, removed }, `Saved ${file}.`);
};

/**
 * Renews a periodic token, which a scheduled backup is given and nobody else uses. A failure is a warning only, because
 * the snapshot has been saved.
 */
const renewToken = async (cli: Cli): Promise<void> => {
  try {
    const { data } = await cli.client.v1('auth/token/lookup-self');
    if (Number(data.period ?? 0) > 0)
      await cli.client.v1('auth/token/renew-self', { method: 'POST', body: {} });
  } catch (error) {
    process.stderr.write(
      `The token that takes the snapshots was not renewed, so it will expire. ${(error as Error).message}\n`,
    );
  }
};

interface RestoreOptions {
  readonly force?: true;
  readonly objectStorage?: string;
}

/** Sends a snapshot from the object storage to the server while it is read. @returns its name */
const sendStored = async (
  cli: Cli,
  wanted: string,
  send: (body: ReadableStream) => Promise<unknown>,
): Promise<string> => {
  const { name, chunks, whyBroken, close } = await openStoredBackup(cli.environment, wanted);
  try {
    await send(ReadableStream.from(chunks));
    return name;
  } catch (error) {
    throw whyBroken() ?? error;
  } finally {
    await close();
  }
};

const restore = async (
  cli: Cli,
  file: string | undefined,
  { force, objectStorage }: RestoreOptions,
): Promise<void> => {
  if ((file === undefined) === (objectStorage === undefined))
    throw new CliFailure('Name either a file or a snapshot in the --object-storage.', EXIT.usage);
  if (file !== undefined && !existsSync(file)) throw new CliFailure(`${file} does not exist.`);
  const { client } = cli;
  const send = (body: Blob | ReadableStream): Promise<Response> =>
    client.raw(force === true ? `${SNAPSHOT}-force` : SNAPSHOT, { method: 'POST', body });
  let warnings: readonly string[] = [];
  const sendAndHear = async (body: Blob | ReadableStream): Promise<Response> => {
    const answer = await send(body);
    if (answer.status === 200) ({ warnings } = (await answer.json()) as { warnings: string[] });
    return answer;
  };
  let name = file ?? '';
  if (objectStorage === undefined) await sendAndHear(await openAsBlob(name));
  else name = await sendStored(cli, objectStorage, sendAndHear);
  const { sealed } = await client.v1('sys/seal-status', { isAnonymous: true });
  cli.print(
    { restored: true, name, sealed, ...(warnings.length > 0 && { warnings }) },
    [
      sealed === true
        ? `Restored ${name}. The server is sealed: give the key shares of the snapshot with \`keelson unseal\`.`
        : `Restored ${name}. The server serves again; the tokens are those of the snapshot.`,
      ...warnings,
    ].join('\n'),
  );
};

export const addBackupCommands = (program: Command, cli: Cli): void => {
  program
    .command('backup')
    .description('Save a snapshot of the running cluster, encrypted with the keys of the cluster.')
    .argument('[file]', 'new file')
    .option('--folder <folder>', 'folder for files that are named by the time, for a scheduler')
    .option('--keep <number>', 'snapshots to keep in the folder', toCount)
    .action((file: string | undefined, options: BackupOptions) => backup(cli, file, options));
  program
    .command('restore')
    .description('Replace everything on the server by a snapshot, which is verified first.')
    .argument('[file]')
    .option(
      '--object-storage <name>',
      'in place of a file: a scheduled snapshot in the storage that KEELSON_OBJECT_STORAGE_* name, or "latest"',
    )
    .option('--force', 'also a snapshot of a cluster with other keys')
    .action((file: string | undefined, options: RestoreOptions) => restore(cli, file, options));
};
