/** Roles and mappings by name, which methods have in common: listed, read, changed part by part, deleted. */
import type { Route } from '@keelson/edge';
import { NAME_FIELD, requireMount } from '@keelson/engine';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import {
  type Fields,
  type FieldValues,
  type JsonObject,
  secretsRoutes,
} from '@keelson/secrets-api';
import type { RecordCollection, Store } from '@keelson/storage';
import { nameListRoutes } from './name-list-routes.ts';
import { toRoleName } from './role-name-operations.ts';

export interface NamedParts<F extends Fields, R, Found> {
  /** Path of the list, such as "/jwt/role". */
  readonly path: string;
  readonly tag: string;
  /** Such as "role". */
  readonly noun: string;
  /** Consequences of its deletion for those who have signed in. */
  readonly deletion: string;
  readonly store: Store;
  readonly recordsAt: (mount: Mount) => RecordCollection<R>;
  readonly fields: F;
  /** The name under which it is stored; lower case unless the method says otherwise. */
  readonly keyAt?: (mount: Mount, given: string) => Promise<string>;
  /** Looks up what a change needs from elsewhere. */
  readonly find?: (mount: Mount, given: FieldValues<F>) => Promise<Found>;
  /**
   * The record after a change: a parameter that is not given stays as it was.
   * @param before undefined for a new one
   * @param found the result of `find`
   */
  readonly change: (before: R | undefined, given: FieldValues<F>, found: Found) => R;
  readonly document: (record: R) => JsonObject;
  readonly warningsAbout?: (record: R) => readonly string[];
}

export const namedRoutes = <const F extends Fields, R, Found = undefined>(
  parts: NamedParts<F, R, Found>,
): Route[] => {
  const { path, tag, noun, store, recordsAt } = parts;
  const keyAt = parts.keyAt ?? ((_: Mount, given: string) => Promise.resolve(toRoleName(given)));
  return [
    ...nameListRoutes({
      path,
      tag,
      summary: `List ${noun}s`,
      namesAt: (mount) => recordsAt(mount).keys(store),
    }),
    ...secretsRoutes({
      path: `${path}/:name`,
      tag,
      hasSettings: true,
      fields: { ...parts.fields, name: NAME_FIELD },
      operations: {
        read: {
          summary: `Read a ${noun}`,
          handle: async (request) => {
            const mount = requireMount(request);
            const key = await keyAt(mount, String(request.params['name']));
            const record = await recordsAt(mount).find(store, key);
            return record && { data: parts.document(record) };
          },
        },
        update: {
          summary: `Create a ${noun} or change it; parameters that are not given stay as they are`,
          handle: async (request) => {
            const mount = requireMount(request);
            const key = await keyAt(mount, String(request.params['name']));
            const records = recordsAt(mount);
            const given = request.fields as unknown as FieldValues<F>;
            const found = (await parts.find?.(mount, given)) as Found;
            const changed = await store.transact(async (tx) => {
              const after = parts.change(await records.find(tx, key), given, found);
              records.write(tx, [key], after);
              return after;
            });
            request.warnings.push(...(parts.warningsAbout?.(changed) ?? []));
            return undefined;
          },
        },
        delete: {
          summary: `Delete a ${noun}; ${parts.deletion}`,
          handle: async (request) => {
            const mount = requireMount(request);
            const key = await keyAt(mount, String(request.params['name']));
            await store.transact((tx) => {
              recordsAt(mount).delete(tx, key);
              return Promise.resolve();
            });
            return undefined;
          },
        },
      },
    }),
  ];
};
