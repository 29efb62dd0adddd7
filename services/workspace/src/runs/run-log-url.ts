import type { ServiceContext } from '../service-context.ts';
import { loadUrlSigner } from '../signed-urls/signed-url-operations.ts';
import type { Run } from './domain/run.ts';
import { type RunPhase, toPhaseId } from './run-records.ts';

/** Where the log of a run's phase is read, absolute; the address is the credential. */
export type LogUrl = (run: Run, phase: RunPhase) => string;

/** @param baseUrl as the client reached the service */
export const loadLogUrl = async (context: ServiceContext, baseUrl: string): Promise<LogUrl> => {
  const sign = await loadUrlSigner(context, baseUrl);
  // Clients read it in pieces and put a query of their own in place of what is there.
  return (run, phase) => sign('GET', `/downloads/logs/${toPhaseId(run.id, phase)}`, 'path');
};
