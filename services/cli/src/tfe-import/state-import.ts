/** State versions: read from the source, checked, and uploaded under the lock of the target's workspace. */
import { createHash } from 'node:crypto';
import type { Document } from '../client/api-client.ts';
import { orNothing, RefusedRequest } from '../importing/paced-server.ts';
import type { ImportContext } from './import-context.ts';
import type { WorkspaceApi } from './workspace-api.ts';

/** A later import also recognizes the lock of an interrupted one by this text. */
const LOCK_REASON = 'keelson import tfe';
const CONFLICT = 409;

export interface SharedWorkspace {
  readonly organization: string;
  readonly name: string;
  readonly sourceId: string;
  /** undefined for a workspace that a dry run would create. */
  readonly targetId: string | undefined;
}

const findCurrent = async (api: WorkspaceApi, workspaceId: string): Promise<Document> =>
  (await api.find(`workspaces/${workspaceId}/current-state-version`))?.data;

/** Oldest first. Pending, discarded and intermediate versions are not part of the history. */
const listVersions = async (
  { source, states }: ImportContext,
  { organization, name, sourceId }: SharedWorkspace,
): Promise<readonly Document[]> => {
  if (states === 'none') return [];
  if (states === 'current') {
    const current = await findCurrent(source, sourceId);
    return current === undefined ? [] : [current];
  }
  const workspace = `filter[organization][name]=${encodeURIComponent(organization)}&filter[workspace][name]=${encodeURIComponent(name)}`;
  const found = await source.list(`state-versions?${workspace}`);
  return found
    .filter(
      ({ attributes: { status, intermediate } }) =>
        (status ?? 'finalized') === 'finalized' && intermediate !== true,
    )
    .sort((a, b) => a.attributes.serial - b.attributes.serial);
};

/** @throws RefusedRequest if another user or run holds the lock */
const lock = async ({ target }: ImportContext, id: string): Promise<void> => {
  try {
    await target.send('POST', `workspaces/${id}/actions/lock`, { reason: LOCK_REASON });
  } catch (error) {
    if (!(error instanceof RefusedRequest) || error.status !== CONFLICT) throw error;
    const { data } = await target.get(`workspaces/${id}`);
    if (data.attributes['locked-reason'] !== LOCK_REASON) throw error;
  }
};

const unlock = async (
  { target }: ImportContext,
  id: string,
  action: 'unlock' | 'force-unlock',
): Promise<void> => {
  await target.send('POST', `workspaces/${id}/actions/${action}`, {});
};

const copyVersion = async (
  { source, target, report }: ImportContext,
  subject: string,
  targetId: string,
  version: Document,
): Promise<void> => {
  const { serial } = version.attributes;
  const stateUrl = version.attributes['hosted-state-download-url'];
  if (!stateUrl) {
    report.leaveOut(subject, `state ${serial}: the source no longer has its content`);
    return;
  }
  const state = await source.download(stateUrl);
  const { lineage, serial: written } = JSON.parse(state.toString('utf8'));
  const jsonUrl = version.attributes['hosted-json-state-download-url'];
  // Optional: states that were pushed by hand have none, and the next run of terraform creates it.
  const jsonState = jsonUrl ? await source.download(jsonUrl).catch(orNothing) : undefined;
  const made = await target.send('POST', `workspaces/${targetId}/state-versions`, {
    data: {
      type: 'state-versions',
      attributes: { serial: written, lineage, md5: createHash('md5').update(state).digest('hex') },
    },
  });
  const urls = made?.data.attributes;
  // The version is final once its state is uploaded.
  if (jsonState !== undefined && jsonState.byteLength > 0)
    await target.upload(urls['hosted-json-state-upload-url'], jsonState).catch(orNothing);
  await target.upload(urls['hosted-state-upload-url'], state);
  report.countTakenOver('states');
};

/** Uploads the states with a higher serial than the current state of the target. */
export const importStates = async (
  context: ImportContext,
  workspace: SharedWorkspace,
): Promise<void> => {
  const { target, report, isDryRun } = context;
  const { targetId } = workspace;
  const subject = `${workspace.organization}/${workspace.name}`;
  const versions = await listVersions(context, workspace);
  if (versions.length === 0) return;
  const current = targetId && (await findCurrent(target, targetId));
  const serialThere: number = current ? current.attributes.serial : -1;
  const serialHere: number = versions.at(-1).attributes.serial;
  if (serialThere > serialHere)
    report.leaveOut(
      subject,
      `state ${serialHere}: the target has state ${serialThere}, which was written there since`,
    );
  const missing = versions.filter(({ attributes }) => attributes.serial > serialThere);
  for (let n = missing.length; n < versions.length; n += 1) report.countAlreadyThere('states');
  if (isDryRun || targetId === undefined) {
    for (const _ of missing) report.countTakenOver('states');
    return;
  }
  if (missing.length === 0) return;
  await lock(context, targetId);
  try {
    for (const version of missing) await copyVersion(context, subject, targetId, version);
  } catch (error) {
    // A version without its state prevents the ordinary unlock.
    await unlock(context, targetId, 'force-unlock').catch(() => undefined);
    throw error;
  }
  await unlock(context, targetId, 'unlock');
};
