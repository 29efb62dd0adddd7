/** The worker that fetches one commit: git, its proxy and all that reads what a repository contains. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Ask, serveTask } from '@keelson/supervisor/worker';
import type { FetchQuestion, FetchResult, FetchTask } from './fetch-task.ts';
import { FetchedRepository } from './fetched-repository.ts';
import { findCommit } from './find-commit.ts';
import { archiveCommit } from './repository-archive.ts';
import { RepositoryFailure } from './repository-failure.ts';

const fetchCommit = async (
  { source, limits, request, archiveLimitBytes }: FetchTask,
  put: (question: FetchQuestion) => ReturnType<Ask>,
): Promise<void> => {
  const addresses = {
    addressesOf: (host: string) => put({ kind: 'addresses', host }) as Promise<readonly string[]>,
  };
  return FetchedRepository.use(source, limits, addresses, async (repository) => {
    const folder = await repository.create();
    const found = await findCommit(repository, folder, request);
    const wanted = (await put({ kind: 'found', found })) as readonly boolean[];
    const { sha = '' } = found.commit ?? {};
    for (const [index, withSubmodules] of wanted.entries()) {
      const file = `archive-${index}.tar.gz`;
      const options = { withSubmodules, limitBytes: archiveLimitBytes };
      const pieces = archiveCommit(repository, folder, sha, options);
      await pipeline(Readable.from(pieces), createWriteStream(join(process.cwd(), file)));
      await put({ kind: 'archive', withSubmodules, file });
    }
  });
};

await serveTask(async (task, ask): Promise<FetchResult> => {
  try {
    await fetchCommit(task as FetchTask, ask);
    return null;
  } catch (error) {
    if (!(error instanceof RepositoryFailure)) throw error;
    return { message: error.message, isFinal: error.isFinal };
  }
});
