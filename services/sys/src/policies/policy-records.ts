/** Policies, stored as the text that was written, in HCL or JSON. */
import { jsonRecords } from '@keelson/storage';

export interface PolicyRecord {
  readonly text: string;
}

/** Keys are `<namespace id>/<name>`. */
export const policyRecords = jsonRecords<PolicyRecord>('shared/policies/');

export const policyKey = (namespaceId: string, name: string): string => `${namespaceId}/${name}`;

export const namespacePolicyPrefix = (namespaceId: string): string =>
  policyRecords.path(`${namespaceId}/`);
