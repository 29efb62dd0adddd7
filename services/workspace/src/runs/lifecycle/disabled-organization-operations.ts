/** Cancels the runs of organizations that are off. */
import type { TransactOptions } from '@keelson/storage';
import { unlessDamaged } from '@keelson/storage';
import type { Kysely } from 'kysely';
import {
  isOrganizationOff,
  listSwitchedOrganizations,
} from '../../identity/model/organization-switch-records.ts';
import { isExecuting } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { changeRun } from './run-changes.ts';
import type { RunTables } from './run-projections.ts';

const EXECUTING = ['planning', 'applying'] as const;

const cancelRun = (
  { store, clock }: RunsContext,
  runId: string,
  options: TransactOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const run = await runRecords.find(tx, runId);
    if (run === undefined || !isExecuting(run.status) || run.cancelRequestedAtMs !== null) return;
    if (!(await isOrganizationOff(tx, run.organizationId))) return;
    await changeRun(tx, runId, { kind: 'cancel', userId: undefined }, clock.nowMs());
  }, options);

/**
 * Asks the agents to cancel the phases under way, so that the state is stored. Runs that wait go on to do so, and
 * start when their organization is on again.
 */
export const cancelRunsOfDisabled = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<void> => {
  const { store } = context;
  const switched = await listSwitchedOrganizations(store);
  const off = [...switched].flatMap(([id, state]) => (state === 'off' ? [id] : []));
  for (const organizationId of off) {
    const rows = await store.select((tables: Kysely<RunTables>) =>
      tables
        .selectFrom('run')
        .where('status', 'in', EXECUTING)
        .where('organization_id', '=', organizationId)
        .select('id'),
    );
    for (const { id } of rows) await unlessDamaged(cancelRun(context, id, options));
  }
};
