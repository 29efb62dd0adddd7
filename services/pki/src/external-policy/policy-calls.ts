/** Calls to the policy services of all mounts, and their health as this replica observes it. */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import { type PolicyService, trustOf } from './domain/policy-service.ts';
import { askPolicyService } from './policy-connection.ts';

/** Health of the service since its configuration was last changed. */
export interface PolicyHealth {
  readonly lastSuccessMs: number | undefined;
  readonly lastFailureMs: number | undefined;
  /** "" if the last call succeeded. */
  readonly lastFailure: string;
}

const NOTHING_KNOWN: PolicyHealth = {
  lastSuccessMs: undefined,
  lastFailureMs: undefined,
  lastFailure: '',
};

/** Limit of concurrent calls, so that a slow service cannot block all requests of this replica. */
const MAX_UNDER_WAY = 64;

interface Observed {
  readonly revision: number;
  health: PolicyHealth;
}

const failureText = (error: unknown): string => {
  if (!(error instanceof KeelsonError)) return 'unexpected failure';
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
};

/** A refusal is an answer like any other. */
const isFailure = (error: unknown): boolean =>
  !(error instanceof KeelsonError) || error.code !== 'pki.policy_refused';

export class PolicyCalls {
  readonly #clock: Clock;
  readonly #observed = new Map<string, Observed>();
  readonly #underWay = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Observations of the service by this replica since its configuration was last changed. */
  healthOf({ uuid }: MountScope, { updatedAtMs }: PolicyService): PolicyHealth {
    const observed = this.#observed.get(uuid);
    return observed?.revision === updatedAtMs ? observed.health : NOTHING_KNOWN;
  }

  /**
   * Calls the service and parses its answer.
   * @throws KeelsonError `pki.policy_overloaded`, `pki.policy_unavailable`, `pki.policy_unusable`, and
   *   what `read` throws
   */
  async ask<T>(
    mount: MountScope,
    service: PolicyService,
    question: Uint8Array,
    read: (answer: Uint8Array) => T,
    signal: AbortSignal,
  ): Promise<T> {
    const { uuid } = mount;
    const underWay = this.#underWay.get(uuid) ?? 0;
    if (underWay >= MAX_UNDER_WAY) throw new KeelsonError('pki.policy_overloaded');
    this.#underWay.set(uuid, underWay + 1);
    try {
      const { url, timeoutSeconds } = service;
      const endpoint = { url, timeoutSeconds, trust: trustOf(service) };
      const answer = read(await askPolicyService(endpoint, question, signal));
      this.#observe(mount, service, undefined);
      return answer;
    } catch (error) {
      // A client that disconnected says nothing about the service.
      if (!signal.aborted) this.#observe(mount, service, isFailure(error) ? error : undefined);
      throw error;
    } finally {
      const left = (this.#underWay.get(uuid) ?? 1) - 1;
      if (left > 0) this.#underWay.set(uuid, left);
      else this.#underWay.delete(uuid);
    }
  }

  /** Forgets all observations. */
  clear(): void {
    this.#observed.clear();
  }

  #observe(mount: MountScope, service: PolicyService, failure: unknown): void {
    const nowMs = this.#clock.nowMs();
    const before = this.healthOf(mount, service);
    this.#observed.set(mount.uuid, {
      revision: service.updatedAtMs,
      health:
        failure === undefined
          ? { ...before, lastSuccessMs: nowMs, lastFailure: '' }
          : { ...before, lastFailureMs: nowMs, lastFailure: failureText(failure) },
    });
  }
}
