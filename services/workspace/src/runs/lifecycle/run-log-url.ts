import type { ServiceContext } from '../../base/service-context.ts';
import { loadUrlSigner, type SignedFor } from '../../base/signed-urls/signed-url-operations.ts';
import type { Run } from '../model/domain/run.ts';
import { type RunPhase, toPhaseId } from '../model/run-records.ts';

/** Absolute URL of the log of a run's phase, which needs no other credential. */
export type LogUrl = (run: Run, phase: RunPhase) => string;

export const loadLogUrl = async (context: ServiceContext, caller: SignedFor): Promise<LogUrl> => {
  const sign = await loadUrlSigner(context, caller);
  // The signature is in the path, because clients read the log in pieces and replace the query with their
  // own.
  return (run, phase) => sign('GET', `/downloads/logs/${toPhaseId(run.id, phase)}`, 'path');
};
