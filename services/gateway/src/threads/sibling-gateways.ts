/** The gateways of a process in which several threads serve clients. */
import { bufferedBody, type EdgeRequest, type EdgeResponse, type EdgeService } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { ThreadMetrics } from '@keelson/metrics';
import { responseBytes } from '../answers/response-bytes.ts';
import type { RecentRequest } from '../audit/domain/recent-request.ts';
import type { Counting } from '../limits/rate-limit.ts';
import { everySysReplica } from '../v1/every-sys-replica.ts';

/** A request that each thread carries out on its own seal; can be posted to another thread. */
export interface SealRequest {
  readonly head: EdgeRequest['head'];
  readonly body: Uint8Array;
}

export interface SealAnswer {
  readonly head: EdgeResponse['head'];
  readonly body: Uint8Array;
}

/**
 * Gateways of other threads of the same process. They listen on the same ports, each with its part of the limits of
 * the settings, and together they answer for the process.
 */
export interface SiblingGateways {
  /** Number of gateways of the process, with the one that asks. */
  readonly gateways: number;
  /** Counts a rate for all of them. */
  readonly counting: Counting;
  seal(request: SealRequest): Promise<readonly SealAnswer[]>;
  metrics(): Promise<readonly ThreadMetrics[]>;
  recentRequests(): Promise<readonly (readonly RecentRequest[])[]>;
}

/** The answers of a gateway to its siblings. */
export interface SiblingAnswers {
  seal(request: SealRequest): Promise<SealAnswer>;
  metrics(): Promise<ThreadMetrics>;
  recentRequests(): Promise<readonly RecentRequest[]>;
}

const LONGEST_BODY_BYTES = 64 * 1024;

const isAboutSeal = ({ path, method }: EdgeRequest['head']): boolean =>
  (path === '/sys/seal' || path === '/sys/unseal') && method !== 'GET';

/** Carries a request of a sibling out on the seal of this thread. */
export const sealThread = async (
  sys: EdgeService,
  { head, body }: SealRequest,
): Promise<SealAnswer> => {
  if (!isAboutSeal(head)) throw new KeelsonError('request.invalid', { text: 'not about the seal' });
  const signal = new AbortController().signal;
  const answer = await sys.handle({ head, body: bufferedBody(body), signal });
  return { head: answer.head, body: await responseBytes(answer) };
};

/** sys, whose seal is closed and opened in all threads together. */
export const withSealOfProcess = (
  sys: EdgeService,
  siblings: SiblingGateways | undefined,
): EdgeService =>
  siblings === undefined
    ? sys
    : {
        ...sys,
        handle: async (request) => {
          const { head } = request;
          if (!isAboutSeal(head)) return sys.handle(request);
          const body = await request.body.bytes(LONGEST_BODY_BYTES);
          const own = await sys.handle({ ...request, body: bufferedBody(body) });
          // A refused request changed no seal, and would be refused everywhere.
          if (own.head.status >= 400) return own;
          return everySysReplica.choose([own, ...(await siblings.seal({ head, body }))]);
        },
      };
