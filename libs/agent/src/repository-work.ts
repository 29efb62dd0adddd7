/** Work at repositories that only agents reach: commits are fetched and packed, and requests are sent. */
import { lookup } from 'node:dns/promises';
import { fetchCommit, RepositoryFailure } from '@keelson/repositories';
import { WorkerDeath } from '@keelson/supervisor';
import {
  type ControlPlane,
  type FetchOrder,
  isGone,
  type RepositoryWork,
  type RequestOrder,
  upload,
} from './control-plane.ts';
import { reasonOf } from './failure-reason.ts';
import type { Say } from './recovery.ts';

/** The operator decides what the agent reaches: every address of a host is permitted. */
const addressesOf = async (host: string): Promise<readonly string[]> =>
  (await lookup(host.replace(/^\[|\]$/g, ''), { all: true })).map(({ address }) => address);

const fetchAndReport = async (
  controlPlane: ControlPlane,
  workId: string,
  { attributes }: FetchOrder,
): Promise<void> => {
  const source = {
    cloneUrl: attributes['clone-url'],
    username: attributes.username,
    token: attributes.token,
    sshKey: attributes['ssh-private-key'],
  };
  const limits = {
    timeLimitMs: attributes['time-limit-seconds'] * 1000,
    limitBytes: attributes['limit-bytes'],
  };
  const request = {
    ref: attributes.ref,
    onlyIfDefaultBranch: attributes['only-if-default-branch'],
    baseSha: attributes['base-sha'],
  };
  const archiveLimitBytes = attributes['archive-limit-bytes'];
  const uploadUrls = new Map<boolean, string>();
  await fetchCommit(
    { source, limits, request, archiveLimitBytes },
    {
      addresses: { addressesOf },
      choose: async (found) => {
        for (const { withSubmodules, uploadUrl } of await controlPlane.reportCommit(workId, found))
          uploadUrls.set(withSubmodules, uploadUrl);
        return [...uploadUrls.keys()];
      },
      take: (withSubmodules, file) => upload(uploadUrls.get(withSubmodules) ?? '', file),
    },
  );
  await controlPlane.endRepositoryWork(workId, { status: 'finished' });
};

/** The beginning of an answer. */
const readBeginning = async (response: Response, limitBytes: number): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    sizeBytes += piece.byteLength;
    if (sizeBytes >= limitBytes) break;
  }
  return Buffer.concat(pieces).subarray(0, limitBytes).toString();
};

const sendRequest = async (
  controlPlane: ControlPlane,
  workId: string,
  { attributes }: RequestOrder,
): Promise<void> => {
  const { method, url, headers, body } = attributes;
  let answer: { readonly status: number; readonly text: string };
  try {
    const response = await fetch(url, {
      method,
      headers,
      // A redirect would receive the credentials.
      redirect: 'manual',
      signal: AbortSignal.timeout(attributes['time-limit-seconds'] * 1000),
      ...(body === null ? {} : { body }),
    });
    const text = await readBeginning(response, attributes['answer-limit-bytes']);
    answer = { status: response.status, text };
  } catch (error) {
    throw new RepositoryFailure(`${new URL(url).host} cannot be reached: ${reasonOf(error)}`);
  }
  await controlPlane.endRepositoryWork(workId, {
    status: 'finished',
    'answer-status': answer.status,
    'answer-body': answer.text,
  });
};

/** Does a piece of work and reports how it ended. */
export const performRepositoryWork = async (
  controlPlane: ControlPlane,
  { id, order }: RepositoryWork,
  say: Say,
): Promise<void> => {
  try {
    if (order.kind === 'fetch') await fetchAndReport(controlPlane, id, order);
    else await sendRequest(controlPlane, id, order);
    say(`${id} is over`);
  } catch (error) {
    // It took too long, and waits for another agent.
    if (isGone(error)) return;
    const workerDied = error instanceof WorkerDeath;
    const reason = error instanceof Error ? error.message : String(error);
    const message = workerDied ? `the worker that fetched the repository died: ${reason}` : reason;
    say(`${id} has failed: ${message}`);
    if (workerDied && error.errorOutput !== '') say(error.errorOutput);
    const end = {
      status: 'errored',
      'error-message': message,
      'is-final': error instanceof RepositoryFailure && error.isFinal,
      'worker-died': workerDied,
    } as const;
    await controlPlane.endRepositoryWork(id, end).catch((refusal: unknown) => {
      if (!isGone(refusal)) throw refusal;
    });
  }
};
