/** The state module: states, configurations and their retention. */
import type { Route } from '@keelson/edge';
import type { ResourceSchema } from '@keelson/jsonapi';
import type { Projection } from '@keelson/storage';
import type { WorkspaceContribution } from '../workspaces/seams/workspace-contributions.ts';
import { configurationTransferRoutes } from './configuration-versions/configuration-transfer-routes.ts';
import {
  CONFIGURATION_VERSION,
  INGRESS_ATTRIBUTES,
} from './configuration-versions/configuration-version-document.ts';
import { CONFIGURATION_VERSION_PROJECTIONS } from './configuration-versions/configuration-version-projections.ts';
import { configurationVersionRoutes } from './configuration-versions/configuration-version-routes.ts';
import {
  WORKSPACE_CONFIGURATION_CONTRIBUTION,
  WORKSPACE_README,
} from './configuration-versions/workspace-configuration-contribution.ts';
import { MANAGED_INSTANCE } from './managed-instances/managed-instance-document.ts';
import { managedInstanceRoutes } from './managed-instances/managed-instance-routes.ts';
import {
  RETENTION_DELETE_OLDER,
  RETENTION_DONT_DELETE,
} from './retention/retention-policy-document.ts';
import { retentionRoutes } from './retention/retention-routes.ts';
import type { StateContext } from './seams/state-context.ts';
import { outputRoutes } from './state-versions/output-routes.ts';
import { stateTransferRoutes } from './state-versions/state-transfer-routes.ts';
import {
  STATE_VERSION,
  STATE_VERSION_OUTPUT,
  WORKSPACE_OUTPUT,
} from './state-versions/state-version-document.ts';
import { STATE_VERSION_PROJECTIONS } from './state-versions/state-version-projections.ts';
import { stateVersionRoutes } from './state-versions/state-version-routes.ts';
import { WORKSPACE_STATE_CONTRIBUTION } from './state-versions/workspace-state-contribution.ts';

export const stateRoutes = (context: StateContext): readonly Route[] => [
  ...retentionRoutes(context),
  ...stateVersionRoutes(context),
  ...outputRoutes(context),
  ...managedInstanceRoutes(context),
  ...configurationVersionRoutes(context),
];

/** Routes authorized by a signed URL. */
export const stateSignedRoutes = (context: StateContext): readonly Route[] => [
  ...stateTransferRoutes(context),
  ...configurationTransferRoutes(context),
];

export const STATE_PROJECTIONS: readonly Projection[] = [
  ...STATE_VERSION_PROJECTIONS,
  ...CONFIGURATION_VERSION_PROJECTIONS,
];

export const STATE_WORKSPACE_CONTRIBUTIONS: readonly WorkspaceContribution[] = [
  WORKSPACE_STATE_CONTRIBUTION,
  WORKSPACE_CONFIGURATION_CONTRIBUTION,
];

/** The resources that these routes answer with. */
export const STATE_RESOURCES: readonly ResourceSchema[] = [
  STATE_VERSION,
  STATE_VERSION_OUTPUT,
  WORKSPACE_OUTPUT,
  MANAGED_INSTANCE,
  CONFIGURATION_VERSION,
  INGRESS_ATTRIBUTES,
  WORKSPACE_README,
  RETENTION_DELETE_OLDER,
  RETENTION_DONT_DELETE,
];
