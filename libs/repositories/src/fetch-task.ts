/** A commit is fetched by a worker: git, and whatever reads a stranger's repository, runs outside of this process. */
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AddressLookup } from '@keelson/outbound/egress-proxy';
import { Refusal, superviseTask, type Worker, type WorkerLimits } from '@keelson/supervisor';
import type { FetchLimits, FetchSource } from './fetched-repository.ts';
import type { CommitRequest, FoundCommit } from './find-commit.ts';
import { RepositoryFailure } from './repository-failure.ts';

export interface FetchTask {
  readonly source: FetchSource;
  readonly limits: FetchLimits;
  readonly request: CommitRequest;
  /** Largest archive. */
  readonly archiveLimitBytes: number;
}

/** The questions of the worker. */
export type FetchQuestion =
  | { readonly kind: 'addresses'; readonly host: string }
  /** Which archives of the commit are wanted. */
  | { readonly kind: 'found'; readonly found: FoundCommit }
  /** A file in the worker's folder. */
  | { readonly kind: 'archive'; readonly withSubmodules: boolean; readonly file: string };

/** Null if all was handed over. */
export type FetchResult = { readonly message: string; readonly isFinal: boolean } | null;

export interface FetchUse {
  readonly addresses: AddressLookup;
  /** @returns for each archive that is wanted, whether it contains the files of submodules */
  readonly choose: (found: FoundCommit) => Promise<readonly boolean[]> | readonly boolean[];
  /** Receives the archives, one after the other. @param file exists until this resolves */
  readonly take: (withSubmodules: boolean, file: string) => Promise<void>;
}

const WORKER = fileURLToPath(new URL('./fetch-worker.ts', import.meta.url));

/** Time beyond that of the fetch in which the archives are taken, and the worker reports. */
const OVERTIME_MS = 180_000;
/** Size of the index of a pack, which is not transferred. */
const INDEX_BYTES = 64 * 1024 * 1024;

const toWorkerLimits = ({ limits, archiveLimitBytes }: FetchTask): WorkerLimits => ({
  timeMs: limits.timeLimitMs + OVERTIME_MS,
  memoryBytes: 1024 * 1024 * 1024,
  processes: 32,
  // The paths of the files that a push has changed.
  outputBytes: 32 * 1024 * 1024,
  fileBytes: Math.max(2 * limits.limitBytes + INDEX_BYTES, archiveLimitBytes),
});

/** A file of the worker's folder, which no link leads out of. */
const findArchive = async (folder: string, name: string): Promise<string> => {
  const file = join(folder, basename(name));
  if ((await lstat(file)).isFile()) return file;
  throw new Error('the worker names something that is no file');
};

/**
 * Fetches one commit, and hands over the archives that are wanted of it.
 * @throws RepositoryFailure as its readers may see it
 * @throws WorkerDeath if the worker ended before it had a result
 */
export const fetchCommit = async (task: FetchTask, use: FetchUse): Promise<FoundCommit> => {
  let found: FoundCommit | undefined;
  const answer = async (asked: unknown, { folder }: Worker): Promise<unknown> => {
    const question = asked as FetchQuestion;
    switch (question.kind) {
      case 'addresses':
        return use.addresses.addressesOf(question.host).catch((error: unknown) => {
          throw new Refusal(toReason(error));
        });
      case 'found':
        found = question.found;
        return use.choose(question.found);
      case 'archive':
        await use.take(question.withSubmodules, await findArchive(folder, question.file));
        return null;
      default:
        throw new Error('the worker asks something unknown');
    }
  };
  const said = await superviseTask(WORKER, task, { limits: toWorkerLimits(task), answer });
  const failure = said as FetchResult;
  if (failure !== null) throw new RepositoryFailure(failure.message, failure);
  if (found === undefined) throw new Error('the worker has reported no commit');
  return found;
};

/** Why a host has no address, as whoever named it may read it. */
const toReason = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.message : 'unknown error';
};
