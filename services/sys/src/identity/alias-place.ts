import { KeelsonError } from '@keelson/errors';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { IdentityContext } from './identity-context.ts';

/** The mount of an alias. */
export type MountPlace = Pick<MountRecord, 'uuid' | 'accessor'>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * The mount with an accessor; undefined if none is given.
 * @throws KeelsonError `request.invalid` for an unknown accessor and for that of a local mount
 */
export const findAliasPlace = async (
  { mounts }: IdentityContext,
  namespaceId: string,
  accessor: string | undefined,
): Promise<MountPlace | undefined> => {
  if (accessor === undefined) return undefined;
  const mount =
    (await mounts()).of(namespaceId, 'auth').find((one) => one.accessor === accessor) ??
    refuse(`invalid mount accessor "${accessor}"`);
  return mount.local ? refuse(`mount accessor "${accessor}" is of a local mount`) : mount;
};
