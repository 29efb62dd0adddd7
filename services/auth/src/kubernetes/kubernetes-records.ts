import { sharedRecords, sharedSetting } from '@keelson/engine';
import { kubernetesConfigShape } from './domain/kubernetes-config.ts';
import { kubernetesRoleShape } from './domain/kubernetes-role.ts';

export const configSetting = sharedSetting('kubernetes', {
  version: 1,
  shape: kubernetesConfigShape,
});

/** By name, in lower case. */
export const roleRecords = sharedRecords('kubernetes/roles', {
  version: 1,
  shape: kubernetesRoleShape,
});
