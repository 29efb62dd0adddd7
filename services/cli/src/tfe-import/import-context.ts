/** The context of an import, and its common step: find a resource by name, or create it. */
import type { Document } from '../client/api-client.ts';
import { type Attempts, attempt } from '../importing/attempts.ts';
import type { WorkspaceApi } from './workspace-api.ts';

export type StatesToImport = 'all' | 'current' | 'none';

export interface ImportContext extends Attempts {
  readonly source: WorkspaceApi;
  readonly target: WorkspaceApi;
  /** A dry run: reads both servers and writes to neither. */
  readonly isDryRun: boolean;
  readonly states: StatesToImport;
}

/** Resources of the target by name. In a dry run, resources that would be created have no id. */
export type IdsByName = Map<string, string | undefined>;

export interface Wanted {
  /** Kind of resource, in the plural. */
  readonly kind: string;
  /** Subject in the report. */
  readonly subject: string;
  /** Path of the collection to which the document is posted. */
  readonly path: string;
  readonly type: string;
  readonly attributes: object;
  readonly relationships?: object;
}

/**
 * Creates a resource of the target, and reports the target's warnings, such as settings without effect
 * there.
 * @returns its id, undefined in a dry run
 */
export const create = async (
  { target, report, isDryRun }: ImportContext,
  { kind, subject, path, type, attributes, relationships }: Wanted,
): Promise<string | undefined> => {
  if (isDryRun) {
    report.countTakenOver(kind);
    return undefined;
  }
  const answer = await target.send('POST', path, {
    data: { type, attributes, ...(relationships && { relationships }) },
  });
  report.countTakenOver(kind);
  for (const warning of answer?.meta?.warnings ?? []) report.leaveOut(subject, warning);
  return answer?.data.id;
};

/** Creates the resource unless the target has one with this name, which is left unchanged. */
export const createMissing = async (
  context: ImportContext,
  there: IdsByName,
  name: string,
  wanted: () => Wanted,
): Promise<void> => {
  const { kind, subject } = wanted();
  if (there.has(name)) context.report.countAlreadyThere(kind);
  else
    await attempt(context, subject, async () => {
      there.set(name, await create(context, wanted()));
    });
};

/** The named attributes to which the source gives a value. */
export const copyAttributes = (from: Document, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.map((name) => [name, from.attributes[name]]).filter(([, value]) => value != null),
  );

export const idsByName = (resources: readonly Document[]): IdsByName =>
  new Map(resources.map(({ id, attributes }) => [attributes.name, id]));

/** A relationship with one resource. */
export const toOne = (type: string, id: string): object => ({ data: { type, id } });
