/** Where the certificate authority keeps records of a mount that are in no folder of the mount itself. */
import { type MountScope, OF_MOUNT, ofMount } from '@keelson/engine';
import { bytesRecords, collections, type RecordFormat, type RecordScope } from '@keelson/storage';
import type { TSchema } from 'typebox';

/** State of ACME clients of one kind. */
export const acmeRecords = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) =>
  ofMount(
    collections(`acme/*/${name}`, { scopes: ['local'], keys: 'paths', owner: OF_MOUNT, ...format }),
    (): RecordScope => 'local',
  );

/**
 * Kinds of records with millions of entries, or megabytes of data, have their own prefixes, so that a
 * projection reads only records of its kind.
 */
export const mountBytes = (name: string, scope: RecordScope) => {
  const { prefix } = bytesRecords(name, { scope, owner: OF_MOUNT });
  return { prefix, prefixOf: ({ uuid }: MountScope): string => `${prefix}${uuid}/` };
};

/** Names of the leases of one kind of work, one for each mount; the fences of these leases go with the mount. */
export const mountLeases = (work: string): ((mount: MountScope) => string) => {
  bytesRecords(`fences/pki/${work}`, { scope: 'node', owner: { ...OF_MOUNT, isKey: true } });
  return ({ uuid }) => `pki/${work}/${uuid}`;
};
