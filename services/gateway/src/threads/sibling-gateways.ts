/** The gateways of a process in which several threads serve clients. */

import { setTimeout as pause } from 'node:timers/promises';
import { bufferedBody, type EdgeRequest, type EdgeResponse, type EdgeService } from '@keelson/edge';
import { isSealed, KeelsonError } from '@keelson/errors';
import type { ThreadMetrics } from '@keelson/metrics';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { CLUSTER_QUESTION } from '../access/cluster-question.ts';
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
  areOpen(): Promise<readonly boolean[]>;
  faults(): Promise<readonly (readonly string[])[]>;
  metrics(): Promise<readonly ThreadMetrics[]>;
  recentRequests(): Promise<readonly (readonly RecentRequest[])[]>;
}

/** The answers of a gateway to its siblings. */
export interface SiblingAnswers {
  seal(request: SealRequest): Promise<SealAnswer>;
  /** Whether its seal is open. */
  isOpen(): Promise<boolean>;
  /** Faults of the gateway itself, for operators. */
  faults(): Promise<readonly string[]>;
  metrics(): Promise<ThreadMetrics>;
  recentRequests(): Promise<readonly RecentRequest[]>;
}

/** Time in which a thread adopts the keys that another one has replaced: 2 s in all. */
const TRIES = 40;
const TRY_EVERY_MS = 50;
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

/** Requests after which other threads may have to adopt keys. */
const mayReplaceKeys = ({ path, method }: EdgeRequest['head']): boolean =>
  method !== 'GET' && /^\/sys\/(?:storage|rotate|rekey|replication)\//.test(path);

/** Resolves when all threads are as open as this one, which has answered a request that may have replaced the keys. */
const awaitSiblings = async (access: Access, siblings: SiblingGateways): Promise<void> => {
  for (let tries = 1; tries < TRIES; tries += 1) {
    const own = await isOpen(access);
    if ((await siblings.areOpen()).every((other) => other === own)) return;
    await pause(TRY_EVERY_MS);
  }
};

/** sys, whose seal is closed and opened in all threads together. */
export const withSealOfProcess = (
  sys: EdgeService,
  access: Access,
  siblings: SiblingGateways | undefined,
): EdgeService =>
  siblings === undefined
    ? sys
    : {
        ...sys,
        handle: async (request) => {
          const { head } = request;
          if (!isAboutSeal(head)) {
            const answer = await sys.handle(request);
            if (mayReplaceKeys(head)) await awaitSiblings(access, siblings);
            return answer;
          }
          const body = await request.body.bytes(LONGEST_BODY_BYTES);
          const own = await sys.handle({ ...request, body: bufferedBody(body) });
          // A refused request changed no seal, and would be refused everywhere.
          if (own.head.status >= 400) return own;
          return everySysReplica.choose([own, ...(await siblings.seal({ head, body }))]);
        },
      };

/** Whether sys would decide about a request. */
export const isOpen = async (access: Access): Promise<boolean> => {
  try {
    await access.resolve(CLUSTER_QUESTION);
    return true;
  } catch (error) {
    if (isSealed(error)) return false;
    throw error;
  }
};

type Access = RpcService<typeof AccessDefinition>;

type Patience = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A thread is sealed for a moment after another one has replaced the keys, until it adopts them. As long as another
 * one is open, its requests wait for that, as other replicas answer them where there is a network in between.
 */
const createPatience =
  (siblings: SiblingGateways): Patience =>
  async (work) => {
    for (let tries = 1; ; tries += 1)
      try {
        return await work();
      } catch (error) {
        const mayPass = isSealed(error) && tries < TRIES;
        if (!mayPass || !(await siblings.areOpen()).includes(true)) throw error;
        await pause(TRY_EVERY_MS);
      }
  };

/** Access decisions and services whose requests wait while only this thread is sealed. */
export const withPatience = <S extends Readonly<Record<string, EdgeService>>>(
  given: { readonly access: Access; readonly services: S },
  siblings: SiblingGateways | undefined,
): { readonly access: Access; readonly services: S } => {
  if (siblings === undefined) return given;
  const patiently = createPatience(siblings);
  const patient = (service: EdgeService): EdgeService => ({
    ...service,
    handle: (request) =>
      // A body that is not in memory can be read once.
      request.body.buffered === undefined
        ? service.handle(request)
        : patiently(() => service.handle(request)),
  });
  const services = Object.entries(given.services).map(([name, one]) => [name, patient(one)]);
  return {
    access: {
      ...given.access,
      resolve: (...call) => patiently(() => given.access.resolve(...call)),
    },
    services: Object.fromEntries(services) as S,
  };
};
