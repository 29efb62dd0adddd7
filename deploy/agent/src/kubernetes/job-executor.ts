/**
 * Executes each phase in a Job of its own. Its pod has the phase and nothing of the agent: it sends log, plan and state
 * with the token of the run, and asks whether it was canceled. The agent waits for the end of the Job.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ControlPlane,
  isEgressLimited,
  type Phase,
  refusePhase,
  type Say,
} from '@keelson/agent';
import type { Execution, PhaseExecutor } from '../phase-executor.ts';
import { AUTHORITY_FILE, type JobTemplate, PHASE_FILE, toJob, toSecret } from './job-manifest.ts';
import type { JobStatus, KubernetesApi } from './kubernetes-api.ts';

export interface JobExecutorParts {
  readonly api: KubernetesApi;
  readonly template: JobTemplate;
  readonly controlPlane: ControlPlane;
  /** For the pods. */
  readonly settings: Readonly<Record<string, string>>;
  /** Authority of the control plane, PEM; undefined means those of the system. */
  readonly authority: string | undefined;
  readonly say: Say;
}

/** Pause before the API server is asked again. */
const RETRY_MS = 2000;

/** Undefined while it goes on; an empty text if its process has come to an end by itself. */
const endOf = ({ status }: JobStatus): string | undefined => {
  const ended = status?.conditions?.find(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );
  if (ended === undefined) return undefined;
  return ended.type === 'Complete' ? '' : `${ended.reason ?? 'Failed'}: ${ended.message ?? ''}`;
};
const GONE = 'it was deleted';

const watchOnce = async (api: KubernetesApi, name: string): Promise<string | undefined> => {
  const job = await api.findJob(name);
  if (job === undefined) return GONE;
  const known = endOf(job);
  if (known !== undefined) return known;
  for await (const { type, object } of api.watchJob(name, job.metadata.resourceVersion)) {
    if (type === 'DELETED') return GONE;
    // The version is too old: the Job is read again.
    if (type === 'ERROR') return undefined;
    const end = endOf(object);
    if (end !== undefined) return end;
  }
  return undefined;
};

const untilEnded = async ({ api, say }: JobExecutorParts, name: string): Promise<string> => {
  for (;;) {
    try {
      const end = await watchOnce(api, name);
      if (end !== undefined) return end;
    } catch (error) {
      say(String(error));
      await pause(RETRY_MS);
    }
  }
};

const perform = async (parts: JobExecutorParts, phase: Phase, name: string): Promise<void> => {
  const { api, template, controlPlane, settings, authority, say } = parts;
  const failed = (failure: string): Promise<void> =>
    refusePhase(
      controlPlane,
      phase,
      `The Job of this ${phase.attributes.phase} failed: ${failure}`,
    );
  try {
    if (isEgressLimited(phase))
      throw new Error(
        'its agent pool limits what runs reach, which Jobs do not: policies of their namespace do',
      );
    const order = { name, runId: phase.runId, phase: phase.attributes.phase, settings };
    const job = await api.createJob(toJob(template, order));
    // Its pod waits for the Secret, which the Job owns.
    const files = {
      [PHASE_FILE]: JSON.stringify(phase),
      ...(authority !== undefined && { [AUTHORITY_FILE]: authority }),
    };
    await api.createSecret(toSecret(template, { name, uid: job.metadata.uid }, files));
    const failure = await untilEnded(parts, name);
    // The report of the pod counts: a phase that has ended takes no further one.
    if (failure !== '') await failed(failure);
  } catch (error) {
    await failed(String(error));
  } finally {
    // Kubernetes removes the Job with its Secret when its time is over, if they cannot be removed now.
    await api.deleteSecret(name).catch((error: unknown) => say(String(error)));
    await api.deleteJob(name).catch((error: unknown) => say(String(error)));
  }
};

export const executeInJobs = (parts: JobExecutorParts): PhaseExecutor => ({
  // A Job outlives its agent, and reports by itself.
  recover: async () => undefined,
  begin: (phase): Execution => {
    const name = `keelson-${phase.attributes.phase}-${randomBytes(8).toString('hex')}`;
    return {
      interrupt: () =>
        void parts.api.deleteJob(name).catch((error: unknown) => parts.say(String(error))),
      ended: perform(parts, phase, name),
    };
  },
});
