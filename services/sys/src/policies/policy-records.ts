/** Policies, stored as the text that was written, in HCL or JSON. */

import { collection } from '@keelson/storage';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { OF_NAMESPACE } from '../owners/record-owners.ts';

export const policyRecordShape = Type.Object({ text: Type.String() });
export type PolicyRecord = Shaped<typeof policyRecordShape>;

/** Keys are `<namespace id>/<name>`. */
export const policyRecords = collection('policies', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: policyRecordShape,
  owner: OF_NAMESPACE,
});

export const policyKey = (namespaceId: string, name: string): string => `${namespaceId}/${name}`;
